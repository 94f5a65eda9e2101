"""Lines made of the log statements of clients and brokers, with what each tells: kinds that no recorded night has."""

from consumers.vocabulary.logs import LogCode, LogRole
from tests.consumers.logs.real_lines import NONE, Told

AT_5 = b"2026-11-23 22:13:24.640 WARN  [4920] [main] [o.a.r.c.i.c.RebalanceImpl#?:?] - "
AT_4 = b"2026-11-23 14:13:24,640 WARN RocketmqClient - "
AT_BROKER = b"2026-11-23 22:13:24 WARN AdminBrokerThread_1 - "
MQ = b"MessageQueue [topic=Orders, brokerName=broker-a, queueId=3]"
Q3 = ("Orders", "broker-a", 3)

# Headers are real, messages are the log statements with names filled in.
MADE: list[tuple[LogRole, bytes, Told]] = [
    (
        LogRole.CLIENT,
        AT_4 + b"the client factory [127.0.0.1@one] shutdown OK",
        (LogCode.CLIENT_STOPPED, None, "127.0.0.1@one", NONE, {}),
    ),
    (
        LogRole.CLIENT,
        AT_5 + b"doRebalance, g, truncateMessageQueueNotMyTopic remove unnecessary mq, " + MQ,
        (LogCode.QUEUE_REMOVED, "g", None, Q3, {"unsubscribed": "truncateMessageQueueNotMyTopic ", "process": 4920}),
    ),
    (
        LogRole.CLIENT,
        AT_4 + b"[BUG]doRebalance, g, remove unnecessary mq, " + MQ + b", because pull is pause, so try to fixed it",
        (LogCode.PULL_EXPIRED, "g", None, Q3, {}),
    ),
    (
        LogRole.CLIENT,
        AT_5
        + b"[BUG]doRebalance, g, try remove unnecessary mq, "
        + MQ
        + b", because pull is pause, so try to fixed it",
        (LogCode.PULL_EXPIRED, "g", None, Q3, {"process": 4920}),
    ),
    (
        LogRole.CLIENT,
        AT_5 + b"doRebalance, g, compute offset failed, " + MQ,
        (LogCode.QUEUE_NOT_ADDED, "g", None, Q3, {"why": "compute offset", "process": 4920}),
    ),
    (
        LogRole.CLIENT,
        AT_4 + b"the message queue locked Failed, Group: g " + MQ,
        (LogCode.LOCK_FAILED, "g", None, Q3, {}),
    ),
    (
        LogRole.CLIENT,
        AT_4 + b"the message queue unlock OK, Group: g " + MQ,
        (LogCode.UNLOCKED, "g", None, Q3, {}),
    ),
    (
        LogRole.CLIENT,
        AT_4 + b"the message queue not locked, so consume later, " + MQ,
        (LogCode.LOCK_LOST, None, None, Q3, {"lock": "not locked"}),
    ),
    (
        LogRole.CLIENT,
        b"2026-11-23 22:13:24.640 WARN  [1] [ConsumeMessageThread_g_2] [o.a.r.c.ConsumeMessageOrderlyService#?:?] - "
        b"the message queue lock expired, so consume later, " + MQ,
        (LogCode.LOCK_LOST, "g", None, Q3, {"lock": "lock expired", "process": 1}),
    ),
    (
        LogRole.CLIENT,
        AT_4 + b"the message queue not be able to consume, because it's dropped. group=g " + MQ,
        (LogCode.QUEUE_DROPPED, "g", None, Q3, {}),
    ),
    (
        LogRole.CLIENT,
        AT_4
        + b"processQueue is dropped without process consume result. messageQueue="
        + MQ
        + b", msgs=[MessageExt [brokerName=broker-a, queueId=3, storeSize=226, queueOffset=41, sysFlag=0]]",
        (LogCode.RESULT_DROPPED, None, None, Q3, {"offset": 41}),
    ),
    (
        LogRole.CLIENT,
        b"2026-11-23 22:13:24.640 INFO  [1] [CleanExpireMsgScheduledThread_g_1] [o.a.r.c.i.c.ProcessQueue#?:?] - "
        b"send expire msg back. topic=Orders, msgId=7F0001, storeHost=/127.0.0.1:10911, queueId=3, queueOffset=41",
        (
            LogCode.CONSUME_TIMED_OUT,
            "g",
            None,
            ("Orders", None, 3),
            {"message_id": "7F0001", "store_host": "/127.0.0.1:10911", "offset": 41, "process": 1},
        ),
    ),
    (
        LogRole.CLIENT,
        AT_4 + b"sendMessageBack exception, group: g msg: MessageExt [brokerName=broker-a",
        (LogCode.SEND_BACK_FAILED, "g", None, NONE, {}),
    ),
    (LogRole.CLIENT, AT_4 + b"sendMessageBack Exception, g", (LogCode.SEND_BACK_FAILED, "g", None, NONE, {})),
    (
        LogRole.CLIENT,
        AT_5
        + b"Failed to send message back, consumerGroup=g, brokerName=broker-a, mq="
        + MQ
        + b", message=MessageExt [",
        (LogCode.SEND_BACK_FAILED, "g", None, Q3, {"process": 4920}),
    ),
    (
        LogRole.CLIENT,
        AT_5 + b"Message is not found in its process queue; skip send-back-procedure, topic=Orders, "
        b"brokerName=broker-a, queueId=3, queueOffset=41",
        (LogCode.SEND_BACK_SKIPPED, None, None, Q3, {"offset": 41, "process": 4920}),
    ),
    (
        LogRole.CLIENT,
        AT_4 + b"updateConsumeOffsetToBroker exception, " + MQ,
        (LogCode.COMMIT_FAILED, None, None, Q3, {}),
    ),
    (
        LogRole.CLIENT,
        AT_4 + b"remove unused mq, " + MQ + b", g",
        (LogCode.OFFSET_FORGOTTEN, "g", None, Q3, {}),
    ),
    (
        LogRole.CLIENT,
        AT_4 + b"invoke reset offset operation from broker. brokerAddr=127.0.0.1:10911, topic=Orders, group=g, "
        b"timestamp=1795443204198",
        (
            LogCode.RESET_RECEIVED,
            "g",
            None,
            ("Orders", None, None),
            {"address": "127.0.0.1:10911", "timestamp": 1795443204198},
        ),
    ),
    (
        LogRole.BROKER,
        AT_BROKER + b"NETTY EVENT: remove not active channel[ClientChannelInfo [channel=[id: 0x1, L:/127.0.0.1:10911 ! "
        b"R:/127.0.0.1:5], clientId=127.0.0.1@one, language=JAVA, version=493, lastUpdateTimestamp=1]] from "
        b"ConsumerGroupInfo groupChannelTable, consumer group: g",
        (
            LogCode.CHANNEL_CLOSED,
            "g",
            "127.0.0.1@one",
            NONE,
            {"channel": "id: 0x1, L:/127.0.0.1:10911 ! R:/127.0.0.1:5"},
        ),
    ),
    (
        LogRole.BROKER,
        AT_BROKER + b"SCAN: remove expired channel from ConsumerManager consumerTable. channel=127.0.0.1:5, "
        b"consumerGroup=g",
        (LogCode.CHANNEL_EXPIRED, "g", None, NONE, {"address": "127.0.0.1:5"}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER + b"SCAN: remove expired channel from ConsumerManager consumerTable, all clear, consumerGroup=g",
        (LogCode.GROUP_EMPTY, "g", None, NONE, {}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER + b"ConsumerGroupInfo: consumer channel exists in broker, but clientId is not the same one, group=g, "
        b"old clientChannelInfo=ClientChannelInfo [",
        (LogCode.CLIENT_ID_DIFFERS, "g", None, NONE, {}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER
        + b"[BUG] consumer channel exist in broker, but clientId not equal. GROUP: g OLD: ClientChannelInfo [",
        (LogCode.CLIENT_ID_DIFFERS, "g", None, NONE, {}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER
        + b"RebalanceLockManager#tryLockBatch: message queue has been locked by other client, group=g, mq="
        + MQ
        + b", locked client id=a@1, current client id=b@2",
        (LogCode.LOCK_REFUSED, "g", "b@2", Q3, {"holder": "a@1"}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER
        + b"RebalanceLockManager#tryLock: try to lock a expired message queue, group=g, mq="
        + MQ
        + b", old client id=a@1, new client id=b@2",
        (LogCode.LOCK_TAKEN_OVER, "g", "b@2", Q3, {"old_client_id": "a@1"}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER
        + b"tryLockBatch, message queue lock expired, I got it. Group: g OldClientId: a@1 NewClientId: b@2 "
        + MQ,
        (LogCode.LOCK_TAKEN_OVER, "g", "b@2", Q3, {"old_client_id": "a@1"}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER + b"RebalanceLockManager#unlockBatch: mq locked by other client, group=g, locked clientId=a@1, "
        b"current clientId=b@2, mqs=" + MQ,
        (LogCode.UNLOCK_REFUSED, "g", "b@2", Q3, {"holder": "a@1"}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER + b"unlockBatch, but mq locked by other client: a@1, Group: g " + MQ + b" b@2",
        (LogCode.UNLOCK_REFUSED, "g", "b@2", Q3, {"holder": "a@1"}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER
        + b"[NOTIFYME]update consumer offset less than store. clientHost=127.0.0.1:5, key=Orders@g, queueId=3, "
        b"requestOffset=7, storeOffset=9",
        (
            LogCode.OFFSET_WENT_BACK,
            "g",
            None,
            ("Orders", None, 3),
            {"address": "127.0.0.1:5", "offset": 7, "stored_offset": 9},
        ),
    ),
    (
        LogRole.BROKER,
        AT_BROKER + b"the request offset too small. group=g, topic=Orders, requestOffset=7, brokerMinOffset=9, "
        b"clientIp=/127.0.0.1:5",
        (LogCode.OFFSET_TOO_SMALL, "g", None, ("Orders", None, None), {"offset": 7, "min_offset": 9}),
    ),
    (
        LogRole.BROKER,
        AT_BROKER + b"send msg to DLQ %DLQ%g, owner=Self_owner, originalTopic=Orders, consumerId=g, "
        b"msgUniqKey=7F0001, storeTimestamp=1795443204198",
        (LogCode.DEAD_LETTERED, "g", None, ("Orders", None, None), {"unique_key": "7F0001"}),
    ),
]
