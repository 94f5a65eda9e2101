"""Lines of brokers: broker.log, lock.log and dlq.log."""

import re

from consumers.vocabulary.logs import LogCode

from .headers import ADDRESS, CHANNEL, CLIENT, GROUP, MESSAGE_QUEUE, TOPIC, Family, line, number, other_name

MEMBERS = (
    Family(
        rb"new consumer connected, group: ",
        (
            line(
                LogCode.CONSUMER_CONNECTED,
                rb"new consumer connected, group: "
                + GROUP
                + rb" (?P<consume_type>\w+) (?P<message_model>\w+) channel: "
                + CHANNEL,
                "ConsumerGroupInfo (4.9, 5.x)",
            ),
        ),
    ),
    Family(
        rb"unregister a consumer\[",
        (
            line(
                LogCode.CONSUMER_UNREGISTERED,
                rb"unregister a consumer\[" + GROUP + rb"\] from consumerGroupInfo " + CHANNEL,
                "ConsumerGroupInfo (4.9, 5.x)",
            ),
        ),
    ),
    Family(
        rb"NETTY EVENT: remove not active channel\[ClientChannelInfo [^\n]*?ConsumerGroupInfo",
        (
            line(
                LogCode.CHANNEL_CLOSED,
                rb"NETTY EVENT: remove not active channel\["
                + CHANNEL
                + rb"[^\n]*\] from ConsumerGroupInfo groupChannelTable, consumer group: "
                + GROUP,
                "ConsumerGroupInfo (4.9, 5.x)",
            ),
        ),
    ),
    Family(
        rb"SCAN: remove expired channel from ConsumerManager",
        (
            line(
                LogCode.CHANNEL_EXPIRED,
                rb"SCAN: remove expired channel from ConsumerManager consumerTable\. channel="
                + ADDRESS
                + rb", consumerGroup="
                + GROUP,
                "ConsumerManager (4.9, 5.x)",
            ),
            line(
                LogCode.GROUP_EMPTY,
                rb"SCAN: remove expired channel from ConsumerManager consumerTable, all clear, consumerGroup=" + GROUP,
                "ConsumerManager (4.9, 5.x)",
            ),
        ),
    ),
    Family(
        rb"unregister consumer ok, no any connection",
        (
            line(
                LogCode.GROUP_EMPTY,
                rb"unregister consumer ok, no any connection, and remove consumer group, " + GROUP,
                "ConsumerManager (4.9, 5.x)",
            ),
        ),
    ),
    Family(
        rb"ConsumerGroupInfo: consumer channel exists in broker|\[BUG\] consumer channel exist in broker",
        (
            line(
                LogCode.CLIENT_ID_DIFFERS,
                rb"(?:ConsumerGroupInfo: consumer channel exists in broker, but clientId is not the same one, group="
                rb"|\[BUG\] consumer channel exist in broker, but clientId not equal\. GROUP: )" + GROUP,
                "ConsumerGroupInfo (4.9, 5.x)",
                merged=True,
            ),
        ),
    ),
    Family(
        rb"(?:heartBeatV2 )?(?:ClientManageProcessor: )?registerConsumer info changed",
        (
            line(
                LogCode.CONSUMER_REGISTERED,
                rb"(?:heartBeatV2 )?ClientManageProcessor: registerConsumer info changed, SDK address="
                + ADDRESS
                + rb", consumerData=ConsumerData \[groupName="
                + GROUP
                + rb", consumeType=(?P<consume_type>\w+), messageModel=(?P<message_model>\w+)",
                "ClientManageProcessor (5.x)",
            ),
            line(
                LogCode.CONSUMER_REGISTERED,
                rb"registerConsumer info changed ConsumerData \[groupName="
                + GROUP
                + rb", consumeType=(?P<consume_type>\w+), messageModel=(?P<message_model>\w+)",
                "ClientManageProcessor (4.9)",
            ),
        ),
    ),
)

LOCKS = (
    Family(
        rb"RebalanceLockManager#|tryLock(?:Batch)?, |unlockBatch, ",
        (
            line(
                LogCode.LOCK_GRANTED,
                rb"RebalanceLockManager#tryLock(?:Batch)?: lock a message (?:queue )?which has not been locked yet"
                rb", group=" + GROUP + rb", clientId=" + CLIENT + rb", mq=" + MESSAGE_QUEUE,
                "RebalanceLockManager (5.x)",
            ),
            line(
                LogCode.LOCK_GRANTED,
                rb"tryLock(?:Batch)?, message queue not locked, I got it\. Group: "
                + GROUP
                + rb" NewClientId: "
                + CLIENT
                + rb" "
                + MESSAGE_QUEUE,
                "RebalanceLockManager (4.9)",
            ),
            line(
                LogCode.LOCK_TAKEN_OVER,
                rb"RebalanceLockManager#tryLock(?:Batch)?: try to lock a expired message queue, group="
                + GROUP
                + rb", mq="
                + MESSAGE_QUEUE
                + rb", old client id="
                + other_name("old_client_id")
                + rb", new client id="
                + CLIENT,
                "RebalanceLockManager (5.x)",
            ),
            line(
                LogCode.LOCK_TAKEN_OVER,
                rb"tryLock(?:Batch)?, message queue lock expired, I got it\. Group: "
                + GROUP
                + rb" OldClientId: "
                + other_name("old_client_id")
                + rb" NewClientId: "
                + CLIENT
                + rb" "
                + MESSAGE_QUEUE,
                "RebalanceLockManager (4.9)",
            ),
            line(
                LogCode.LOCK_REFUSED,
                rb"RebalanceLockManager#tryLock(?:Batch)?: message queue has been locked by other client, group="
                + GROUP
                + rb", mq="
                + MESSAGE_QUEUE
                + rb", locked client id="
                + other_name("holder")
                + rb", current client id="
                + CLIENT,
                "RebalanceLockManager (5.x)",
                merged=True,
            ),
            line(
                LogCode.LOCK_REFUSED,
                rb"tryLock(?:Batch)?, message queue locked by other client\. Group: "
                + GROUP
                + rb" OtherClientId: "
                + other_name("holder")
                + rb" NewClientId: "
                + CLIENT
                + rb" "
                + MESSAGE_QUEUE,
                "RebalanceLockManager (4.9)",
                merged=True,
            ),
            line(
                LogCode.LOCK_RELEASED,
                rb"RebalanceLockManager#unlockBatch: unlock mq, group="
                + GROUP
                + rb", clientId="
                + CLIENT
                + rb", mqs="
                + MESSAGE_QUEUE,
                "RebalanceLockManager (5.x)",
            ),
            line(
                LogCode.LOCK_RELEASED,
                rb"unlockBatch, Group: " + GROUP + rb" " + MESSAGE_QUEUE + rb" " + CLIENT,
                "RebalanceLockManager (4.9)",
            ),
            line(
                LogCode.UNLOCK_REFUSED,
                rb"RebalanceLockManager#unlockBatch: mq locked by other client, group="
                + GROUP
                + rb", locked clientId="
                + other_name("holder")
                + rb", current clientId="
                + CLIENT
                + rb", mqs="
                + MESSAGE_QUEUE,
                "RebalanceLockManager (5.x)",
            ),
            line(
                LogCode.UNLOCK_REFUSED,
                rb"unlockBatch, but mq locked by other client: "
                + other_name("holder")
                + rb", Group: "
                + GROUP
                + rb" "
                + MESSAGE_QUEUE
                + rb" "
                + CLIENT,
                "RebalanceLockManager (4.9)",
            ),
        ),
        others=(
            re.compile(rb"RebalanceLockManager#unlockBatch: (?:mq not locked|group not exist)"),
            re.compile(rb"unlockBatch, (?:but mq not locked|group not exist)"),
            re.compile(rb"RebalanceLockManager#\w+: unexpected error"),
        ),
    ),
)

OFFSETS = (
    Family(
        rb"\[NOTIFYME\]update consumer offset less than store",
        (
            line(
                LogCode.OFFSET_WENT_BACK,
                rb"\[NOTIFYME\]update consumer offset less than store\. clientHost="
                + ADDRESS
                + rb", key=(?P<topic>[^@,\s]{1,255})@"
                + GROUP
                + rb", queueId=(?P<queue>-?\d{1,9}), requestOffset="
                + number("offset")
                + rb", storeOffset="
                + number("stored_offset"),
                "ConsumerOffsetManager (4.9, 5.x)",
            ),
        ),
    ),
    Family(
        rb"Update consumer offset is rejected",
        (
            line(
                LogCode.COMMIT_REFUSED,
                rb"Update consumer offset is rejected because of previous offset-reset\. Group="
                + GROUP
                + rb", Topic="
                + TOPIC
                + rb", QueueId=(?P<queue>-?\d{1,9}), Offset="
                + number("offset"),
                "ConsumerManageProcessor (5.x)",
                merged=True,
            ),
        ),
    ),
    Family(
        rb"the request offset too small",
        (
            line(
                LogCode.OFFSET_TOO_SMALL,
                rb"the request offset too small\. group="
                + GROUP
                + rb", topic="
                + TOPIC
                + rb", requestOffset="
                + number("offset")
                + rb", brokerMinOffset="
                + number("min_offset"),
                "PullMessageProcessor (4.9, 5.x)",
            ),
        ),
    ),
    Family(
        rb"\[reset-offset\] reset offset started by",
        (
            line(
                LogCode.RESET_STARTED,
                rb"\[reset-offset\] reset offset started by "
                + ADDRESS
                + rb"\. topic="
                + TOPIC
                + rb", group="
                + GROUP
                + rb", timestamp="
                + number("timestamp"),
                "AdminBrokerProcessor (4.9, 5.x)",
            ),
        ),
    ),
    Family(
        rb"send msg to DLQ ",
        (
            line(
                LogCode.DEAD_LETTERED,
                rb"send msg to DLQ [^,\n]+, owner=[^,\n]*, originalTopic=(?P<topic>[^,\n]{0,255}), consumerId="
                + GROUP
                + rb", msgUniqKey=(?P<unique_key>\w{0,64})",
                "AbstractSendMessageProcessor (5.x)",
            ),
        ),
    ),
)

FAMILIES: tuple[Family, ...] = (*MEMBERS, *LOCKS, *OFFSETS)
