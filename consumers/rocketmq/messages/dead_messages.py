"""What a message of a dead-letter topic says of itself (RocketMQ 5.4.0, MessageConst, AbstractSendMessageProcessor)."""

from dataclasses import dataclass
from datetime import datetime

from consumers.rocketmq.wire.errors import RemoteProtocolError
from consumers.rocketmq.wire.times import time_of

from .message_values import StoredMessage

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
    said = message.properties
    return DeadMessage(
        queue_id=message.queue_id,
        offset=message.queue_offset,
        stored_id=message.stored_id,
        message_id=said.get("UNIQ_KEY"),
        origin_topic=next((said[name] for name in ORIGIN_TOPICS if name in said), None),
        origin_message_id=next((said[name] for name in ORIGIN_MESSAGE_IDS if name in said), None),
        keys=said.get("KEYS"),
        tags=said.get("TAGS"),
        reconsume_times=message.reconsume_times,
        born_at=born_at,
        stored_at=stored_at,
        size=message.body_bytes,
    )
