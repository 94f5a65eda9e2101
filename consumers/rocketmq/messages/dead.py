"""Dead-letter messages: what they say of themselves, and how one is prepared to be resent."""

from dataclasses import dataclass
from datetime import datetime

from consumers.rocketmq.messages.stored import StoredMessage
from consumers.rocketmq.wire.codes import LocalProtocolError, RemoteProtocolError, time_of
from consumers.rocketmq.writes import Outgoing

# What a message of a dead-letter topic says of itself (RocketMQ 5.4.0, MessageConst, AbstractSendMessageProcessor).
# The broker names the first topic and message when it stores a message for another try; the second name of each is
# what other senders of dead letters use, and RocketMQ's proxy reads (5.4.0, GrpcConverter).
ORIGIN_TOPICS = ("RETRY_TOPIC", "DLQ_ORIGIN_TOPIC")

ORIGIN_MESSAGE_IDS = ("ORIGIN_MESSAGE_ID", "DLQ_ORIGIN_MESSAGE_ID")


@dataclass(frozen=True)
class DeadMessage:
    """Null is: the message does not say. `size` is of the stored body, in bytes; `keys` are separated by spaces."""

    queue_id: int
    offset: int
    stored_id: str
    message_id: str | None
    origin_topic: str | None
    origin_message_id: str | None
    keys: str | None
    tags: str | None
    reconsume_times: int
    born_at: datetime
    stored_at: datetime
    size: int


def dead_message(message: StoredMessage) -> DeadMessage:
    """Raises RemoteProtocolError where it bears a time that no calendar has: its producer sets one of them."""
    born_at, stored_at = time_of(message.born_ms), time_of(message.stored_ms)
    if born_at is None or stored_at is None:
        raise RemoteProtocolError(f"the message at {message.queue_offset} bears a time that no calendar has")
    properties = message.properties
    return DeadMessage(
        queue_id=message.queue_id,
        offset=message.queue_offset,
        stored_id=message.stored_id,
        message_id=properties.get("UNIQ_KEY"),
        origin_topic=next((properties[name] for name in ORIGIN_TOPICS if name in properties), None),
        origin_message_id=next((properties[name] for name in ORIGIN_MESSAGE_IDS if name in properties), None),
        keys=properties.get("KEYS"),
        tags=properties.get("TAGS"),
        reconsume_times=message.reconsume_times,
        born_at=born_at,
        stored_at=stored_at,
        size=message.body_bytes,
    )


# A dead letter made ready to be sent again: what its producer gave it stays, what brokers and clients noted goes.
# Our own mark, by which a message is found again after a send whose outcome is not known.
RESEND_PROPERTY = "consumerscope_resend"

# How the body is compressed, and with what (5.4.0, MessageSysFlag). Its other bits tell of transactions, hosts and
# batches; brokers set anew what they need.
COMPRESSION_BITS = 0x701

# The body holds several messages: it cannot be sent as one.
BATCH_BITS = 0x40 | 0x80

_NOT_SENT_AGAIN = frozenset(
    {
        # Delays and their way through the broker: with one left, it would wait again or be refused (HookUtils).
        "DELAY",
        "REAL_TOPIC",
        "REAL_QID",
        "TIMER_DELAY_LEVEL",
        "TIMER_DELAY_MS",
        "TIMER_DELAY_SEC",
        "TIMER_DELIVER_MS",
        "TIMER_DEL_UNIQKEY",
        "TIMER_DEQUEUE_MS",
        "TIMER_ENQUEUE_MS",
        "TIMER_OUT_MS",
        "TIMER_ROLL_TIMES",
        # Attempts: the message starts a whole ladder anew.
        "RECONSUME_TIME",
        "MAX_RECONSUME_TIMES",
        "CONSUME_START_TIME",
        "POP_CK",
        "POP_CK_OFFSET",
        "1ST_POP_TIME",
        "DLQ_ORIGIN_TOPIC",
        "DLQ_ORIGIN_MESSAGE_ID",
        # Transactions: with TRAN_MSG the broker would hold it back as one that is not yet committed.
        "TRAN_MSG",
        "TRAN_PREPARED_QUEUE_OFFSET",
        "TRANSACTION_CHECK_TIMES",
        "CHECK_IMMUNITY_TIME_IN_SECONDS",
        "__transactionId__",
        "PGROUP",
        # Set by a failed consumer's send-back: the broker would answer before the message is safe.
        "WAIT",
        # Where and by whom it was stored, and what a reading client adds.
        "MIN_OFFSET",
        "MAX_OFFSET",
        "MSG_REGION",
        "TRACE_ON",
        "CLUSTER",
        "INNER_NUM",
        "INNER_BASE",
        "INNER_MULTI_DISPATCH",
        "INNER_MULTI_QUEUE_OFFSET",
        "DUP_INFO",
        "EXTEND_UNIQ_INFO",
        "PROPERTY_FORWARD_QUEUE_ID",
        "REDIRECT",
        "__BORNHOST",
        "BORN_TIMESTAMP",
        "__CRC32#",
        RESEND_PROPERTY,
    }
)

# What a consumer is told through its retry topic. In the topic it came from a message is an original of its own: a
# later dead letter of it must name that one, for the old one may be gone by then.
_OF_RETRIES = frozenset({"RETRY_TOPIC", "ORIGIN_MESSAGE_ID"})


def resent(message: StoredMessage, mark: str, *, retry_of: str | None) -> Outgoing:
    """`retry_of`: the topic that the group knows the message from, where it goes through the group's retry topic, so
    that the client can name it (5.4.0, DefaultMQPushConsumerImpl.resetRetryAndNamespace); None for a plain topic.

    Raises LocalProtocolError where it cannot be sent as it is.
    """
    if message.sys_flag & BATCH_BITS:
        raise LocalProtocolError("it holds a batch of messages, which cannot be sent as one")
    properties = [pair for pair in _pairs(message) if pair[0] not in _NOT_SENT_AGAIN]
    if retry_of is None:
        properties = [pair for pair in properties if pair[0] not in _OF_RETRIES]
    else:
        properties = [pair for pair in properties if pair[0] != "RETRY_TOPIC"] + [("RETRY_TOPIC", retry_of)]
    properties.append((RESEND_PROPERTY, mark))
    return Outgoing(
        body=message.stored_body,
        properties="".join(f"{name}\x01{value}\x02" for name, value in properties),
        flag=message.flag,
        sys_flag=message.sys_flag & COMPRESSION_BITS,
        born_ms=message.born_ms,
    )


def _pairs(message: StoredMessage) -> list[tuple[str, str]]:
    try:
        text = message.raw_properties.decode()
    except UnicodeDecodeError:
        raise LocalProtocolError("its properties are not UTF-8, so they cannot be sent unchanged") from None
    pairs = (pair.partition("\x01") for pair in text.split("\x02"))
    return [(name, value) for name, separator, value in pairs if separator]
