"""A real broker with access control, told what to hold by requests that its first user signs."""

import asyncio
import json
import time

from consumers.rocketmq.wire.codes import Credentials, RequestCode, ResponseCode
from consumers.rocketmq.wire.connection import ConnectionPool

PROVIDERS = "org.apache.rocketmq.auth.{}.provider."
ADMIN = Credentials("admin", "admin-secret")
CREATE_USER, CREATE_ACL = 3001, 3006
CONFIG = {
    "authenticationEnabled": "true",
    "authenticationProvider": PROVIDERS.format("authentication") + "DefaultAuthenticationProvider",
    "authenticationMetadataProvider": PROVIDERS.format("authentication") + "LocalAuthenticationMetadataProvider",
    "authorizationEnabled": "true",
    "authorizationProvider": PROVIDERS.format("authorization") + "DefaultAuthorizationProvider",
    "authorizationMetadataProvider": PROVIDERS.format("authorization") + "LocalAuthorizationMetadataProvider",
    # The cluster of the tests opens its broker for writing with a request that it does not sign.
    "authenticationWhitelist": "25",
    "authorizationWhitelist": "25",
    "initAuthenticationUser": json.dumps({"username": ADMIN.access_key, "password": ADMIN.secret_key}),
    "innerClientAuthenticationCredentials": json.dumps({"accessKey": "inner", "secretKey": "inner-secret"}),
}


def tell(address: str, code: int, fields: dict[str, str], body: bytes = b"") -> None:
    async def main() -> None:
        async with ConnectionPool(credentials=ADMIN) as pool:
            answer = await pool.request(address, code, fields, body, deadline_seconds=10)
            assert answer.code == ResponseCode.SUCCESS, answer.remark

    asyncio.run(main())


def create_user(address: str, name: str, secret: str, resources: list[str]) -> None:
    """Who may Get and List these resources, and nothing else."""
    user = {"username": name, "password": secret, "userType": "Normal", "userStatus": "enable"}
    tell(address, CREATE_USER, {"username": name}, json.dumps(user).encode())
    entries = [{"resource": resource, "actions": ["Get", "List"], "decision": "Allow"} for resource in resources]
    acl = {"subject": f"User:{name}", "policies": [{"policyType": "Custom", "entries": entries}]}
    tell(address, CREATE_ACL, {"subject": f"User:{name}"}, json.dumps(acl).encode())


def fill(address: str, topic: str, group: str, *, messages: int, consumed: int) -> None:
    """One queue."""
    queues = {"readQueueNums": "1", "writeQueueNums": "1", "perm": "6"}
    more = {"defaultTopic": "TBW102", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false"}
    tell(address, RequestCode.UPDATE_AND_CREATE_TOPIC, {"topic": topic, **queues, **more})
    config = {"groupName": group, "consumeEnable": True, "retryQueueNums": 1, "retryMaxTimes": 16}
    tell(address, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, json.dumps(config).encode())
    # The one-letter names of SendMessageRequestHeaderV2.
    send = {"a": "tests", "b": topic, "c": "TBW102", "d": "1", "e": "0", "f": "0", "h": "0", "i": "", "j": "0"}
    for _ in range(messages):
        born = str(int(time.time() * 1000))
        tell(address, RequestCode.SEND_MESSAGE_V2, {**send, "g": born, "k": "false", "m": "false"}, b"x")
    offset = {"consumerGroup": group, "topic": topic, "queueId": "0", "commitOffset": str(consumed)}
    tell(address, RequestCode.UPDATE_CONSUMER_OFFSET, offset)
