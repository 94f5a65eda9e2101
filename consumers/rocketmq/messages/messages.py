"""Stored messages as a pull gives them (5.4.0, MessageDecoder): fixed fields, then the body, topic and properties.

Big-endian; two magic numbers differ in the length of the topic's length. Bodies stay as they are stored, perhaps
compressed.
"""

import struct
from collections.abc import Iterator

from consumers.rocketmq.wire.codes import RequestCode, call_name
from consumers.rocketmq.wire.errors import RemoteProtocolError

from .message_values import StoredMessage

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
