"""Why dead letters were not read, each in one sentence with what to do about it."""

from consumers.rocketmq.wire.codes import ResponseCode
from consumers.rocketmq.wire.errors import BrokerRefused, RocketMQError

# RocketMQ 5.4.0, PullMessageProcessor; the same words in 4.x.
TOPIC_NOT_READABLE = "pulling message is forbidden"
OF_TOPIC = "the topic["
# 5.4.0, AclAuthorizationHandler; 4.x, PlainPermissionManager.
NOT_ALLOWED = ("has no permission to access", "No default permission", "acl.common")


def reason_of(error: RocketMQError, topic: str) -> str:
    if not isinstance(error, BrokerRefused):
        return str(error)
    remark = error.remark or ""
    if error.code == ResponseCode.NO_PERMISSION and TOPIC_NOT_READABLE in remark:
        if OF_TOPIC in remark:
            return (
                f"{error.address}: {topic} can be written only, as brokers before 4.9.2 made such topics: make it "
                f"readable with mqadmin updateTopicPerm -b {error.address} -t '{topic}' -p 6."
            )
        return f"{error.address}: the broker lets nobody read: set its brokerPermission to 6."
    if any(words in remark for words in NOT_ALLOWED):
        return f"{error}. Allow the access key of this cluster to read (Sub and Get) {topic}."
    return str(error)
