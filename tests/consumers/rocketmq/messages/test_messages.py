"""Stored messages: those of a real broker, other shapes built by hand, and bytes that are none."""

import struct

import pytest
from hypothesis import given, strategies as st

from consumers.rocketmq.messages.stored import stored_messages
from consumers.rocketmq.wire.codes import RemoteProtocolError
from tests.consumers.rocketmq.golden import golden


def message(
    *,
    magic: int = 0xDAA320A7,
    sys_flag: int = 0,
    body: bytes = b"hello",
    topic: bytes = b"orders",
    properties: bytes = b"TAGS\x01TagA\x02",
    wide_topic: bool = False,
) -> bytes:
    born_host = bytes(20 if sys_flag & 16 else 8)
    store_host = bytes(20 if sys_flag & 32 else 8)
    parts = [
        struct.pack(">IIiiqqiq", magic, 0, 3, 0, 41, 9000, sys_flag, 1700),
        born_host,
        struct.pack(">q", 1800),
        store_host,
        struct.pack(">iqi", 2, 0, len(body)),
        body,
        struct.pack(">H" if wide_topic else ">B", len(topic)),
        topic,
        struct.pack(">h", len(properties)),
        properties,
    ]
    content = b"".join(parts)
    return struct.pack(">i", len(content) + 4) + content


def test_it_reads_a_message_of_a_real_broker() -> None:
    (found,) = stored_messages(golden("pull_found_11").body)
    assert (found.topic, found.queue_id, found.queue_offset, found.reconsume_times) == ("orders", 0, 4, 0)
    assert (found.born_ms, found.stored_ms) == (1795267702207, 1795267702209)
    assert (found.body_bytes, found.physical_offset) == (20, 1054)
    assert (found.properties["TAGS"], found.properties["KEYS"]) == ("TagB", "key-0")


def test_a_message_is_known_by_the_address_of_its_broker_and_where_it_lies_there() -> None:
    (found,) = stored_messages(golden("pull_found_11").body)
    assert len(found.store_host) == 8
    assert found.store_host[:4] == bytes([127, 0, 0, 1])
    assert found.stored_id == (found.store_host + struct.pack(">q", 1054)).hex().upper()


def test_the_body_is_what_is_stored() -> None:
    (found,) = stored_messages(message(body=b"\x00body", sys_flag=48))
    assert found.stored_body == b"\x00body"
    assert len(found.store_host) == 20


def test_the_flag_is_the_producers() -> None:
    stored = bytearray(message())
    stored[16:20] = struct.pack(">i", -9)
    assert [found.flag for found in stored_messages(bytes(stored))] == [-9]


def test_it_reads_several_messages_in_their_order() -> None:
    assert [found.queue_offset for found in stored_messages(golden("pull_two_11").body)] == [4, 5]


def test_it_reads_every_message_of_a_body() -> None:
    sizes = [found.body_bytes for found in stored_messages(b"".join(message(body=b"x" * size) for size in range(5)))]
    assert sizes == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("sys_flag", [0, 16, 32, 48])
@pytest.mark.parametrize(("magic", "wide_topic"), [(0xDAA320A7, False), (0xDAA320AB, True)])
def test_it_reads_every_shape_of_a_message(sys_flag: int, magic: int, wide_topic: bool) -> None:
    (found,) = stored_messages(message(magic=magic, sys_flag=sys_flag, wide_topic=wide_topic))
    assert (found.topic, found.queue_id, found.queue_offset, found.physical_offset) == ("orders", 3, 41, 9000)
    assert (found.born_ms, found.stored_ms, found.reconsume_times) == (1700, 1800, 2)
    assert (found.sys_flag, found.body_bytes, found.properties) == (sys_flag, 5, {"TAGS": "TagA"})


@pytest.mark.parametrize("length", [0, 200, 60_000])
def test_the_length_of_a_body_moves_nothing(length: int) -> None:
    (found,) = stored_messages(message(body=b"x" * length))
    assert (found.body_bytes, found.topic) == (length, "orders")


@pytest.mark.parametrize(
    ("properties", "read"),
    [
        (b"", {}),
        (b"a\x01b", {"a": "b"}),
        (b"a\x01b\x02c\x01\x02", {"a": "b", "c": ""}),
        (b"no separator\x02a\x01b\x02", {"a": "b"}),
        (b"a\x01\xff\x02", {"a": "\ufffd"}),
        (b"a\x01b\x00c\x02", {"a": "b\ufffdc"}),
    ],
)
def test_properties_are_pairs(properties: bytes, read: dict[str, str]) -> None:
    (found,) = stored_messages(message(properties=properties))
    assert found.properties == read


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"\x00\x00\x00", "a message of 0 bytes where 3 are left"),
        (struct.pack(">i", -5) + bytes(200), "a message of -5 bytes"),
        (struct.pack(">i", 200) + bytes(100), "a message of 200 bytes where 104 are left"),
        (message(magic=0xDAA320A8), "the magic number 0xdaa320a8"),
        (message(topic=b"\xff\xfe"), "no text where its topic should be"),
        (message() + b"\x00", "from byte"),
    ],
)
def test_it_says_what_is_wrong_and_where(body: bytes, why: str) -> None:
    with pytest.raises(RemoteProtocolError, match=rf"PULL_MESSAGE \(11\) the body .*{why}"):
        list(stored_messages(body))


@pytest.mark.parametrize(("at", "value", "why"), [(84, 1 << 30, "a body of 1073741824"), (84, -1, "a body of -1")])
def test_a_body_that_reaches_past_the_message_is_an_error(at: int, value: int, why: str) -> None:
    broken = bytearray(message())
    broken[at : at + 4] = struct.pack(">i", value)
    with pytest.raises(RemoteProtocolError, match=why):
        list(stored_messages(bytes(broken)))


@given(st.data())
def test_a_damaged_message_is_an_error_or_a_message_and_nothing_else(data: st.DataObject) -> None:
    broken = bytearray(golden("pull_two_11").body)
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(broken)))
    try:
        found = list(stored_messages(bytes(broken[:cut])))
    except RemoteProtocolError:
        return
    assert len(found) <= 2


def test_a_message_at_an_offset_below_zero_has_an_id_as_java_makes_it() -> None:
    body = golden("pull_found_11").body
    message = next(stored_messages(body[:28] + b"\xff" * 8 + body[36:]))
    assert (message.physical_offset, message.stored_id[-16:]) == (-1, "F" * 16)


def test_it_refuses_a_topic_with_a_nul() -> None:
    body = golden("pull_found_11").body
    with pytest.raises(RemoteProtocolError, match="topic holds a NUL"):
        list(stored_messages(body.replace(b"\x06orders", b"\x06ord\0rs")))
