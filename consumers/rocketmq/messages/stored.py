"""Stored messages as a pull gives them (5.4.0, MessageDecoder): fields, body, topic and properties."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from consumers.rocketmq.wire.codes import RemoteProtocolError, RequestCode, call_name


# What pulls and looks into a consume queue give.
@dataclass(frozen=True)
class StoredMessage:
    """A message as it is stored. Times are milliseconds: stored by the broker's clock, born by the producer's.

    `body_bytes` is the length of the stored, perhaps compressed, body; `store_host` the address and port of the broker
    that stored it, as bytes. `flag` is the producer's own.
    """

    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    born_ms: int
    stored_ms: int
    reconsume_times: int
    sys_flag: int
    body_bytes: int
    stored_body: bytes = field(repr=False)
    store_host: bytes
    raw_properties: bytes
    flag: int = 0

    @property
    def stored_id(self) -> str:
        """Where it is stored: what RocketMQ calls its offset message id (5.4.0, MessageDecoder.createMessageId)."""
        return (self.store_host + self.physical_offset.to_bytes(8, "big", signed=True)).hex().upper()

    @cached_property
    def properties(self) -> dict[str, str]:
        """Decoded at the first access; most callers need the store time alone. U+FFFD stands for bytes that are no
        text, and for NUL, which PostgreSQL does not store."""
        text = self.raw_properties.decode(errors="replace").replace("\x00", "\ufffd")
        pairs = (pair.partition("\x01") for pair in text.split("\x02"))
        return {name: value for name, separator, value in pairs if separator}


class PullOutcome(StrEnum):
    FOUND = "found"
    # The offset is the queue's end.
    NO_MESSAGE_YET = "no message yet"
    # The broker has no message at this offset and names another one.
    MOVED = "moved"
    # What is at this offset cannot be read at present, for example as it is being removed.
    RETRY = "retry"


@dataclass(frozen=True)
class Pulled:
    """`next_offset` is the offset to go on from, as the broker says. The ends of the queue are null where the broker
    did not send them."""

    outcome: PullOutcome
    messages: tuple[StoredMessage, ...]
    next_offset: int
    min_offset: int | None
    max_offset: int | None


@dataclass(frozen=True)
class QueueEntry:
    """One entry of a consume queue. `tags_code` is Java's hash of the message's tags, 0 without any; None where the
    entry keeps an address of an extension in its place."""

    physical_offset: int
    size: int
    tags_code: int | None


@dataclass(frozen=True)
class QueueEntries:
    """The ends of the queue are null where it has no entry at the index."""

    entries: tuple[QueueEntry, ...]
    min_offset: int | None
    max_offset: int | None


# Big-endian; two magic numbers differ in the length of the topic's length. Bodies stay as they are stored, perhaps
# compressed.
MAGIC_V1 = 0xDAA320A7

MAGIC_V2 = 0xDAA320AB

BORN_HOST_V6 = 1 << 4

STORE_HOST_V6 = 1 << 5

# total size, magic, body's CRC, queue id, flag, queue offset, physical offset, system flags, born at
_HEAD = struct.Struct(">iIIiiqqiq")

_STORED_AT = struct.Struct(">q")

# reconsume times, offset of a prepared transaction, length of the body
_TAIL = struct.Struct(">iqi")

_PROPERTIES_LENGTH = struct.Struct(">h")


def stored_messages(body: bytes) -> Iterator[StoredMessage]:
    """The messages of a body, one after the other. Raises RemoteProtocolError where one is not what it should be."""
    at = 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "big", signed=True)
        if size < _HEAD.size or at + size > len(body):
            raise _wrong(at, f"has a message of {size} bytes where {len(body) - at} are left")
        try:
            yield _message(body[at : at + size], at)
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise _wrong(at, "has a message that is cut short or is no text where its topic should be") from error
        at += size


def _message(message: bytes, at: int) -> StoredMessage:
    _, magic, _, queue_id, flag, queue_offset, physical_offset, sys_flag, born_ms = _HEAD.unpack_from(message)
    if magic not in (MAGIC_V1, MAGIC_V2):
        raise _wrong(at, f"has the magic number {magic:#x}, which is not that of a message")
    place = _HEAD.size + _host_size(sys_flag & BORN_HOST_V6)
    (stored_ms,) = _STORED_AT.unpack_from(message, place)
    place += _STORED_AT.size
    store_host = message[place : place + _host_size(sys_flag & STORE_HOST_V6)]
    place += len(store_host)
    reconsume_times, _, body_bytes = _TAIL.unpack_from(message, place)
    body_from = place + _TAIL.size
    place = body_from + body_bytes
    if body_bytes < 0 or place > len(message):
        raise _wrong(at, f"has a message with a body of {body_bytes} bytes")
    topic, place = _topic(message, place, 1 if magic == MAGIC_V1 else 2)
    if "\0" in topic:
        raise _wrong(at, "has a message whose topic holds a NUL")
    (length,) = _PROPERTIES_LENGTH.unpack_from(message, place)
    place += _PROPERTIES_LENGTH.size
    if length < 0 or place + length > len(message):
        raise _wrong(at, f"has a message with {length} bytes of properties")
    return StoredMessage(
        topic=topic,
        queue_id=queue_id,
        queue_offset=queue_offset,
        physical_offset=physical_offset,
        born_ms=born_ms,
        stored_ms=stored_ms,
        reconsume_times=reconsume_times,
        sys_flag=sys_flag,
        flag=flag,
        body_bytes=body_bytes,
        stored_body=message[body_from : body_from + body_bytes],
        store_host=store_host,
        raw_properties=message[place : place + length],
    )


def _topic(message: bytes, place: int, width: int) -> tuple[str, int]:
    length = int.from_bytes(message[place : place + width], "big")
    start = place + width
    if start + length > len(message):
        raise IndexError
    return message[start : start + length].decode(), start + length


def _host_size(is_v6: int) -> int:
    """An address and a port of four bytes."""
    return 20 if is_v6 else 8


def _wrong(at: int, why: str) -> RemoteProtocolError:
    return RemoteProtocolError(
        f"in the answer to {call_name(RequestCode.PULL_MESSAGE)} the body {why}, from byte {at} on"
    )


# The names of properties that RocketMQ itself gives to messages: the others are the producer's own words.
# 5.4.0, MessageConst.STRING_HASH_SET, and a transaction's id, which it lacks.
SYSTEM_PROPERTIES = frozenset(
    {
        "1ST_POP_TIME",
        "ARRIVE_TIME",
        "BORN_TIMESTAMP",
        "BUYER_ID",
        "CLUSTER",
        "CONSUME_START_TIME",
        "CORRECTION_FLAG",
        "CORRELATION_ID",
        "DELAY",
        "DLQ_ORIGIN_MESSAGE_ID",
        "DLQ_ORIGIN_TOPIC",
        "DUP_INFO",
        "EXTEND_UNIQ_INFO",
        "INNER_MULTI_QUEUE_OFFSET",
        "INSTANCE_ID",
        "KEYS",
        "MAX_OFFSET",
        "MAX_RECONSUME_TIMES",
        "MIN_OFFSET",
        "MQ2_FLAG",
        "MSG_REGION",
        "MSG_TYPE",
        "ORIGIN_MESSAGE_ID",
        "PGROUP",
        "POP_CK",
        "POP_CK_OFFSET",
        "PUSH_REPLY_TIME",
        "REAL_QID",
        "REAL_TOPIC",
        "RECONSUME_TIME",
        "REPLY_TO_CLIENT",
        "RETRY_TOPIC",
        "TAGS",
        "TIMER_DELAY_LEVEL",
        "TIMER_DELAY_MS",
        "TIMER_DELAY_SEC",
        "TIMER_DELIVER_MS",
        "TIMER_DEL_UNIQKEY",
        "TIMER_DEQUEUE_MS",
        "TIMER_ENQUEUE_MS",
        "TIMER_OUT_MS",
        "TIMER_ROLL_TIMES",
        "TRACE_ON",
        "TRANSFER_FLAG",
        "TRAN_MSG",
        "TRAN_PREPARED_QUEUE_OFFSET",
        "TTL",
        "UNIQ_KEY",
        "WAIT",
        "__BORNHOST",
        "__CRC32#",
        "__transactionId__",
    }
)
