"""Encryption and access control of a real broker."""

import asyncio
import json
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.codes import BrokerRefused, Credentials, ResponseCode
from consumers.rocketmq.wire.connection import ConnectionPool
from dashboard.demo.cluster import RocketMQ

pytestmark = pytest.mark.live

USER = {"username": "monitor", "password": "right-secret"}
PROVIDERS = "org.apache.rocketmq.auth.authentication.provider."


@pytest.fixture(scope="module")
def guarded(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker that wants every request signed (ACL 2.0), and takes TLS beside plain text."""
    config = {
        "authenticationEnabled": "true",
        "authenticationProvider": f"{PROVIDERS}DefaultAuthenticationProvider",
        "authenticationMetadataProvider": f"{PROVIDERS}LocalAuthenticationMetadataProvider",
        # The demo's cluster opens its broker for writing with a request (25) that it does not sign.
        "authenticationWhitelist": "25",
        "initAuthenticationUser": json.dumps(USER),
        "innerClientAuthenticationCredentials": json.dumps({"accessKey": "inner", "secretKey": "inner-secret"}),
    }
    flags = ["-Dtls.server.mode=permissive"]
    with RocketMQ(tmp_path_factory.mktemp("guarded"), rocketmq_jars, config=config, flags=flags) as cluster:
        yield cluster.brokers["broker-a"].address


def broker_name(address: str, *, credentials: Credentials | None = None, tls: ssl.SSLContext | None = None) -> str:
    async def main() -> str:
        async with ConnectionPool(credentials=credentials, tls=tls) as pool:
            return (await BrokerAdmin(pool, address).config())["brokerName"]

    return asyncio.run(main())


def test_it_speaks_tls(guarded: str) -> None:
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_mode = ssl.CERT_NONE
    assert broker_name(guarded, credentials=Credentials("monitor", "right-secret"), tls=trusting) == "broker-a"


def test_a_signed_request_is_answered(guarded: str) -> None:
    assert broker_name(guarded, credentials=Credentials("monitor", "right-secret")) == "broker-a"


@pytest.mark.parametrize(
    ("credentials", "remark"),
    [
        (None, "username cannot be null"),
        (Credentials("monitor", "wrong-secret"), "check signature failed"),
        (Credentials("stranger", "right-secret"), "User:stranger is not found"),
    ],
)
def test_any_other_request_is_refused(guarded: str, credentials: Credentials | None, remark: str) -> None:
    with pytest.raises(BrokerRefused, match=remark) as caught:
        broker_name(guarded, credentials=credentials)
    assert caught.value.code == ResponseCode.NO_PERMISSION
