"""Frames, both ways: whole, byte by byte and with bytes that follow."""

import struct

import pytest

from consumers.rocketmq.wire.codes import LocalProtocolError, RemoteProtocolError
from consumers.rocketmq.wire.frames import MAX_REQUEST, Command, FrameReader, encode


def framed(header: bytes, body: bytes = b"", kind: int = 0) -> bytes:
    return struct.pack(">II", 4 + len(header) + len(body), kind << 24 | len(header)) + header + body


CASES = [
    pytest.param(
        Command(43, 1),
        framed(b'{"code":43,"opaque":1,"flag":0,"language":"PYTHON","version":493}'),
        id="a request without fields",
    ),
    pytest.param(
        Command(202, 7, ext_fields={"topic": "Größe"}),
        framed(
            '{"code":202,"opaque":7,"flag":0,"language":"PYTHON","version":493,"extFields":{"topic":"Größe"}}'.encode()
        ),
        id="a request with a field that is not ASCII",
    ),
    pytest.param(
        Command(0, 9, flag=1, body=b"{0:1}", version=401, language="JAVA"),
        framed(b'{"code":0,"opaque":9,"flag":1,"language":"JAVA","version":401}', b"{0:1}"),
        id="an answer with a body",
    ),
    pytest.param(
        Command(1, 9, flag=1, remark='no "such" thing', version=None, language=None),
        framed(b'{"code":1,"opaque":9,"flag":1,"remark":"no \\"such\\" thing"}'),
        id="an answer with a remark, from a peer that names no version",
    ),
    pytest.param(
        Command(40, -5, flag=2, ext_fields={"consumerGroup": "g"}),
        framed(b'{"code":40,"opaque":-5,"flag":2,"language":"PYTHON","version":493,"extFields":{"consumerGroup":"g"}}'),
        id="a oneway command with a negative opaque",
    ),
]


@pytest.mark.parametrize(("command", "frame"), CASES)
def test_it_encodes(command: Command, frame: bytes) -> None:
    assert encode(command) == frame


@pytest.mark.parametrize(("command", "frame"), CASES)
def test_it_decodes_a_frame_that_comes_whole(command: Command, frame: bytes) -> None:
    reader = FrameReader()
    reader.receive(frame)
    assert reader.next_command() == command
    assert reader.next_command() is None
    assert not reader.is_mid_frame


@pytest.mark.parametrize(("command", "frame"), CASES)
def test_it_decodes_a_frame_that_comes_byte_by_byte(command: Command, frame: bytes) -> None:
    reader = FrameReader()
    for index in range(len(frame) - 1):
        reader.receive(frame[index : index + 1])
        assert reader.next_command() is None
        assert reader.is_mid_frame
    reader.receive(frame[-1:])
    assert reader.next_command() == command


@pytest.mark.parametrize(("command", "frame"), CASES)
def test_it_leaves_bytes_that_follow_to_the_next_command(command: Command, frame: bytes) -> None:
    reader = FrameReader()
    reader.receive(frame + frame + frame[:5])
    assert [reader.next_command(), reader.next_command(), reader.next_command()] == [command, command, None]
    reader.receive(frame[5:])
    assert reader.next_command() == command


@pytest.mark.parametrize(
    ("flag", "is_response", "is_oneway"), [(0, False, False), (1, True, False), (2, False, True), (3, True, True)]
)
def test_it_reads_the_flag_as_bits(flag: int, is_response: bool, is_oneway: bool) -> None:
    command = Command(0, 1, flag=flag)
    assert (command.is_response, command.is_oneway) == (is_response, is_oneway)


def test_it_takes_an_absent_flag_for_a_request() -> None:
    reader = FrameReader()
    reader.receive(framed(b'{"code":40,"opaque":1}'))
    command = reader.next_command()
    assert command is not None
    assert not command.is_response


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        pytest.param(b"\xff\xff\xff\xff", "is this a RocketMQ port", id="a negative length"),
        pytest.param((300 * 1024 * 1024).to_bytes(4, "big"), "is this a RocketMQ port", id="a length of 300 MB"),
        pytest.param(b"\x00\x00\x00\x03", "is this a RocketMQ port", id="a length too short for the header's"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n", "is this a RocketMQ port", id="another protocol"),
        pytest.param(struct.pack(">II", 10, 7), "a header of 7 bytes in a frame of 10", id="a header beyond the frame"),
        pytest.param(framed(b"{}", kind=2), "unknown header kind 2", id="an unknown kind of header"),
        pytest.param(framed(b"{"), "not JSON", id="a header cut short"),
        pytest.param(framed(b"[" * 100_000), "not JSON", id="a header nested without end"),
        pytest.param(framed(b'{"code":0,"opaque":1,"remark":"\xff"}'), "not JSON", id="a header that is not UTF-8"),
        pytest.param(framed(b"[]"), "not a JSON object", id="a header that is a list"),
        pytest.param(framed(b'{"opaque":1}'), "code", id="no code"),
        pytest.param(framed(b'{"code":0}'), "opaque", id="no opaque"),
        pytest.param(framed(b'{"code":true,"opaque":1}'), "code", id="a code that is true"),
        pytest.param(framed(b'{"code":0,"opaque":4294967296}'), "opaque", id="an opaque of 33 bits"),
        pytest.param(framed(b'{"code":0,"opaque":1,"flag":null}'), "flag", id="a flag that is null"),
        pytest.param(framed(b'{"code":0,"opaque":1,"version":"5"}'), "version", id="a version that is text"),
        pytest.param(framed(b'{"code":0,"opaque":1,"remark":5}'), "remark", id="a remark that is a number"),
        pytest.param(framed(b'{"code":0,"opaque":1,"extFields":[]}'), "extFields", id="fields that are a list"),
        pytest.param(framed(b'{"code":0,"opaque":1,"extFields":{"a":1}}'), "extFields", id="a field that is a number"),
    ],
)
def test_it_refuses(frame: bytes, why: str) -> None:
    reader = FrameReader()
    reader.receive(frame)
    with pytest.raises(RemoteProtocolError, match=why):
        reader.next_command()


def test_it_refuses_a_length_above_its_own_limit_before_the_rest_has_come() -> None:
    reader = FrameReader(max_frame=100)
    reader.receive((101).to_bytes(4, "big"))
    with pytest.raises(RemoteProtocolError, match="101"):
        reader.next_command()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        pytest.param(Command(1, 2**31), "opaque", id="an opaque of 33 bits"),
        pytest.param(Command(1, 1, ext_fields={"queueId": 1}), "queueId", id="a field that is a number"),  # type: ignore[dict-item]
        pytest.param(Command(1, 1, ext_fields={"topic": "\ud800"}), "not valid text", id="a field with half a letter"),
        pytest.param(Command(1, 1, body=bytes(MAX_REQUEST)), "longer", id="a body beyond what servers accept"),
        pytest.param(Command(1, 1, ext_fields={"topicList": "t" * MAX_REQUEST}), "longer", id="a field beyond that"),
    ],
)
def test_it_does_not_send(command: Command, why: str) -> None:
    with pytest.raises(LocalProtocolError, match=why):
        encode(command)


def test_what_is_no_text_in_a_header_is_replaced_and_the_answer_counts() -> None:
    reader = FrameReader()
    reader.receive(framed(rb'{"code":1,"opaque":2,"remark":"a\u0000b","extFields":{"k\ud800":"v\udfff"}}'))
    command = reader.next_command()
    assert command is not None
    assert (command.remark, command.ext_fields) == ("a\ufffdb", {"k\ufffd": "v\ufffd"})
