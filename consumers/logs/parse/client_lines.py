"""Lines of clients that speak the remoting protocol: rocketmq_client.log."""

import re

from consumers.vocabulary.logs import LogCode

from .headers import (
    ADDRESS,
    CLIENT,
    GROUP,
    MESSAGE_QUEUE,
    PULL_REQUEST,
    TOPIC,
    Family,
    family_of_one,
    line,
    number,
    other_name,
)

# The beginning of a message in a list of messages, as MessageExt.toString writes it. Its queue stands at the end of
# the line, which may be cut.
_FIRST_MESSAGE = (
    rb"\[MessageExt \[brokerName=[^,\n]*, queueId=\d+, storeSize=\d+, queueOffset=(?P<offset>\d{1,18}),"
    rb"(?:[^\n]*? msgId=(?P<message_id>\w{1,64}),)?(?:[^\n]*? reconsumeTimes=(?P<reconsume_times>\d{1,9}),)?"
    rb"(?:[^\n]* MQ: " + MESSAGE_QUEUE + rb")?"
)

REBALANCES = (
    family_of_one(
        rb"(?:client |broker )?rebalanced result changed",
        LogCode.REBALANCED,
        rb"(?:(?P<assigned_by>client|broker) )?rebalanced result changed\. "
        rb"allocateMessageQueueStrategyName=(?P<strategy>[^,\s]{0,255}), group="
        + GROUP
        + rb", topic="
        + TOPIC
        + rb", clientId="
        + CLIENT
        + rb", (?:mqAllSize="
        + number("queues")
        + rb", cidAllSize="
        + number("members")
        + rb", rebalanceResultSize="
        + number("owned")
        + rb"|assignmentSet=)",
        "RebalanceImpl (4.9, 5.x)",
    ),
    family_of_one(
        rb"receive broker's notification",
        LogCode.REBALANCE_NOTIFIED,
        rb"receive broker's notification\[" + ADDRESS + rb"\], the consumer group: " + GROUP + rb" changed",
        "ClientRemotingProcessor (4.9, 5.x)",
    ),
    Family(
        rb"(?:\[BUG\])?doRebalance, ",
        (
            line(
                LogCode.QUEUE_ADDED,
                rb"doRebalance, " + GROUP + rb", add a new (?:pop )?mq, " + MESSAGE_QUEUE,
                "RebalanceImpl (4.9, 5.x)",
            ),
            line(
                LogCode.QUEUE_NOT_ADDED,
                rb"doRebalance, "
                + GROUP
                + rb", (?:add a? ?new mq failed|(?P<why>compute offset) failed), "
                + MESSAGE_QUEUE
                + rb"(?:, because (?P<because>lock) failed)?",
                "RebalanceImpl (4.9, 5.x)",
                merged=True,
            ),
            line(
                LogCode.QUEUE_REMOVED,
                rb"doRebalance, "
                + GROUP
                + rb", (?P<unsubscribed>truncateMessageQueueNotMyTopic )?remove unnecessary (?:pop )?mq, "
                + MESSAGE_QUEUE,
                "RebalanceImpl (4.9, 5.x)",
            ),
            line(
                LogCode.PULL_EXPIRED,
                rb"\[BUG\]doRebalance, "
                + GROUP
                + rb", (?:try )?remove unnecessary (?:pop )?mq, "
                + MESSAGE_QUEUE
                + rb", because (?:pull|pop) is pause",
                "RebalanceImpl (4.9, 5.x)",
            ),
        ),
        others=(
            re.compile(rb"doRebalance, [^,\n]+, mq (?:pop )?already exists, "),
            re.compile(rb"doRebalance, [^,\n]+, but the topic\["),
            re.compile(rb"doRebalance, [^,\n]+, get consumer id list failed"),
            re.compile(rb"doRebalance, [^,\n]+, add a new pull request "),
        ),
    ),
)

LOCKS = (
    family_of_one(
        rb"Fix Offset, ",
        LogCode.QUEUE_REMOVED,
        rb"Fix Offset, " + GROUP + rb", remove unnecessary mq, " + MESSAGE_QUEUE + rb" Droped: (?P<held>\w+)",
        "RebalanceImpl (4.9, 5.x), after a reset or an illegal offset",
    ),
    Family(
        rb"(?:run, |consumeMessage, )?(?:the )?message queue (?:lock|unlock|not )",
        (
            line(
                LogCode.LOCKED,
                rb"(?:the )?message queue (?:lock OK, |locked OK, Group: )" + GROUP + rb" " + MESSAGE_QUEUE,
                "RebalanceImpl (4.9, 5.x)",
            ),
            line(
                LogCode.LOCK_FAILED,
                rb"(?:the )?message queue (?:lock Failed, |locked Failed, Group: )" + GROUP + rb" " + MESSAGE_QUEUE,
                "RebalanceImpl (4.9, 5.x)",
                merged=True,
            ),
            line(
                LogCode.UNLOCKED,
                rb"the message queue unlock OK, Group: " + GROUP + rb" " + MESSAGE_QUEUE,
                "RebalanceImpl (4.9, 5.x)",
            ),
            line(
                LogCode.LOCK_LOST,
                rb"the message queue (?P<lock>not locked|lock expired), so consume later, " + MESSAGE_QUEUE,
                "ConsumeMessageOrderlyService (4.9, 5.x)",
                merged=True,
            ),
            line(
                LogCode.QUEUE_DROPPED,
                rb"(?:run, |consumeMessage, )?the message queue not be able to consume, because it's dropped\. "
                rb"(?:group=" + GROUP + rb" )?" + MESSAGE_QUEUE,
                "ConsumeMessageConcurrentlyService, ConsumeMessageOrderlyService (4.9, 5.x)",
                merged=True,
            ),
        ),
    ),
    family_of_one(
        rb"unlock messageQueue\.",
        LogCode.UNLOCKED,
        rb"unlock messageQueue\. group:" + GROUP + rb", clientId:" + CLIENT + rb", mq:" + MESSAGE_QUEUE,
        "RebalanceImpl (4.9, 5.x)",
    ),
)

CONSUMPTION = (
    family_of_one(
        rb"processQueue is dropped without process consume result",
        LogCode.RESULT_DROPPED,
        rb"processQueue is dropped without process consume result\. messageQueue="
        + MESSAGE_QUEUE
        + rb"(?:, msgs=\[MessageExt \[[^\n]*?queueOffset=(?P<offset>\d{1,18}),)?",
        "ConsumeMessageConcurrentlyService (4.9, 5.x)",
        merged=True,
    ),
    Family(
        rb"consumeMessage (?:exception:|return null|Orderly return not OK)",
        (
            line(
                LogCode.CONSUME_THREW,
                rb"consumeMessage exception: (?P<exception>[\w.$]{0,255})[^\n]*? Group: "
                + GROUP
                + rb" Msgs: "
                + _FIRST_MESSAGE,
                "ConsumeMessageConcurrentlyService, ConsumeMessageOrderlyService (4.9, 5.x)",
                merged=True,
            ),
            line(
                LogCode.CONSUME_RETURNED_NULL,
                rb"consumeMessage return null, Group: " + GROUP + rb" Msgs: " + _FIRST_MESSAGE,
                "ConsumeMessageConcurrentlyService (4.9, 5.x)",
                merged=True,
            ),
            line(
                LogCode.CONSUME_NOT_OK,
                rb"consumeMessage Orderly return not OK, Group: " + GROUP + rb" Msgs: " + _FIRST_MESSAGE,
                "ConsumeMessageOrderlyService (4.9, 5.x)",
                merged=True,
            ),
        ),
    ),
    family_of_one(
        rb"send expire msg back",
        LogCode.CONSUME_TIMED_OUT,
        rb"send expire msg back\. topic="
        + TOPIC
        + rb", msgId=(?P<message_id>\w{1,64}), storeHost="
        + rb"(?P<store_host>[!-+\--Z^-~]{0,255}), queueId=(?P<queue>\d{1,9}), queueOffset="
        + number("offset"),
        "ProcessQueue (4.9, 5.x)",
    ),
    Family(
        rb"sendMessageBack [eE]xception|Failed to send message back|Message is not found in its process queue",
        (
            line(
                LogCode.SEND_BACK_FAILED,
                rb"sendMessageBack exception, group: " + GROUP + rb" msg: ",
                "ConsumeMessageConcurrentlyService, ConsumeMessageOrderlyService (4.9, 5.x)",
                merged=True,
            ),
            line(
                LogCode.SEND_BACK_FAILED,
                rb"sendMessageBack Exception, " + GROUP,
                "DefaultMQPushConsumerImpl (4.9)",
                merged=True,
            ),
            line(
                LogCode.SEND_BACK_FAILED,
                rb"Failed to send message back, consumerGroup="
                + GROUP
                + rb", brokerName=[^,\n]*, mq=(?:"
                + MESSAGE_QUEUE
                + rb")?",
                "DefaultMQPushConsumerImpl (5.x)",
                merged=True,
            ),
            line(
                LogCode.SEND_BACK_SKIPPED,
                rb"Message is not found in its process queue; skip send-back-procedure, topic="
                + TOPIC
                + rb", brokerName="
                + rb"(?P<broker>[^,\s]{1,255}), queueId=(?P<queue>\d{1,9}), queueOffset="
                + number("offset"),
                "ConsumeMessageConcurrentlyService (5.x)",
                merged=True,
            ),
        ),
    ),
)

OFFSETS = (
    Family(
        rb"\[persist(?:All)?\] Group: ",
        (
            line(
                LogCode.COMMITTED,
                rb"\[persistAll\] Group: "
                + GROUP
                + rb" ClientId: "
                + CLIENT
                + rb" updateConsumeOffsetToBroker "
                + MESSAGE_QUEUE
                + rb" "
                + number("offset"),
                "RemoteBrokerOffsetStore (4.9, 5.x)",
                merged=True,
                counts=True,
            ),
            line(
                LogCode.COMMITTED_LAST,
                rb"\[persist\] Group: "
                + GROUP
                + rb" ClientId: "
                + CLIENT
                + rb" updateConsumeOffsetToBroker "
                + MESSAGE_QUEUE
                + rb" "
                + number("offset"),
                "RemoteBrokerOffsetStore (4.9, 5.x)",
            ),
        ),
    ),
    family_of_one(
        rb"updateConsumeOffsetToBroker exception",
        LogCode.COMMIT_FAILED,
        rb"updateConsumeOffsetToBroker exception, " + MESSAGE_QUEUE,
        "RemoteBrokerOffsetStore (4.9, 5.x)",
        merged=True,
    ),
    Family(
        rb"remove un(?:necessary messageQueue offset|used mq, )",
        (
            line(
                LogCode.OFFSET_FORGOTTEN,
                rb"remove unnecessary messageQueue offset\. group=" + GROUP + rb", mq=" + MESSAGE_QUEUE,
                "RemoteBrokerOffsetStore, LocalFileOffsetStore (4.9, 5.x)",
            ),
            line(
                LogCode.OFFSET_FORGOTTEN,
                rb"remove unused mq, " + MESSAGE_QUEUE + rb", " + GROUP,
                "RemoteBrokerOffsetStore (4.9, 5.x)",
            ),
        ),
    ),
    Family(
        rb"(?:fix )?the pull request(?: offset|\[)",
        (
            line(
                LogCode.OFFSET_ILLEGAL,
                rb"the pull request offset illegal, "
                + PULL_REQUEST
                + rb" PullResult \[pullStatus=\w+, nextBeginOffset="
                + number("next_offset")
                + rb", minOffset="
                + number("min_offset")
                + rb", maxOffset="
                + number("max_offset"),
                "DefaultMQPushConsumerImpl (4.9, 5.x)",
            ),
            line(
                LogCode.OFFSET_CORRECTED,
                rb"fix the pull request offset, " + PULL_REQUEST,
                "DefaultMQPushConsumerImpl (4.9, 5.x)",
            ),
            line(
                LogCode.PULL_DROPPED,
                rb"the pull request\[" + PULL_REQUEST + rb"\] is dropped",
                "DefaultMQPushConsumerImpl (4.9, 5.x)",
            ),
        ),
    ),
    family_of_one(
        rb"the first time to pull message, so fix offset",
        LogCode.FIRST_PULL,
        rb"the first time to pull message, so fix offset from broker\. pullRequest: "
        + PULL_REQUEST
        + rb" NewOffset: "
        + number("next_offset"),
        "DefaultMQPushConsumerImpl (4.9, 5.x), orderly",
    ),
    family_of_one(
        rb"invoke reset offset operation from broker",
        LogCode.RESET_RECEIVED,
        rb"invoke reset offset operation from broker\. brokerAddr="
        + ADDRESS
        + rb", topic="
        + TOPIC
        + rb", group="
        + GROUP
        + rb", timestamp="
        + number("timestamp"),
        "ClientRemotingProcessor (4.9, 5.x)",
    ),
)

LIVES = (
    family_of_one(
        rb"Created a new client Instance, ",
        LogCode.CLIENT_CREATED,
        rb"Created a new client Instance, InstanceIndex:\s?\d+, ClientID:\s?" + CLIENT + rb", ",
        "MQClientInstance (4.9, 5.x)",
    ),
    Family(
        rb"the consumer \[",
        (
            line(
                LogCode.CONSUMER_STARTED,
                rb"the consumer \[" + GROUP + rb"\] start OK",
                "DefaultMQPushConsumerImpl (4.9, 5.x)",
            ),
            line(
                LogCode.CONSUMER_STOPPED,
                rb"the consumer \[" + GROUP + rb"\] shutdown OK",
                "DefaultMQPushConsumerImpl (4.9, 5.x)",
            ),
        ),
        others=(re.compile(rb"the consumer \[[^\]\n]+\] start beginning"),),
    ),
    Family(
        rb"the client factory \[",
        (
            line(
                LogCode.CLIENT_STOPPED,
                rb"the client factory \[" + CLIENT + rb"\] shutdown OK",
                "MQClientInstance (4.9, 5.x)",
            ),
        ),
        others=(re.compile(rb"the client factory \[[^\]\n]+\] start OK"),),
    ),
    Family(
        rb"unregister client\[",
        (
            line(
                LogCode.CLIENT_UNREGISTERED,
                rb"unregister client\[Producer: null Consumer: "
                + GROUP
                + rb"\] from broker\[(?P<broker>\S{1,255}) "
                + number("broker_id")
                + rb" "
                + other_name("broker_address")
                + rb"\] success",
                "MQClientInstance (4.9, 5.x)",
            ),
        ),
        others=(re.compile(rb"unregister client\[Producer: [^\]\n]+ Consumer: null\]"),),
    ),
)

FAMILIES: tuple[Family, ...] = (*REBALANCES, *LOCKS, *CONSUMPTION, *OFFSETS, *LIVES)
