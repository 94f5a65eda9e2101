"""The ROCKETMQ header, field by field."""

import struct

import pytest

from consumers.rocketmq.wire.codes import RemoteProtocolError
from consumers.rocketmq.wire.frames import Command, FrameReader

HEADER = b"".join(
    [
        struct.pack(">h", 206),  # code
        b"\x00",  # language: JAVA
        struct.pack(">h", 493),  # version
        struct.pack(">i", 7),  # opaque
        struct.pack(">i", 1),  # flag: a response
        struct.pack(">i", 6) + b"absent",  # remark
        struct.pack(">i", 2 + 1 + 4 + 2 + 2 + 5 + 4),  # extFields
        struct.pack(">h", 1) + b"k" + struct.pack(">i", 2) + "ü".encode(),
        struct.pack(">h", 5) + b"empty" + struct.pack(">i", 0),
    ]
)


def decode(header: bytes, body: bytes = b"") -> Command | None:
    reader = FrameReader()
    reader.receive(struct.pack(">II", 4 + len(header) + len(body), 1 << 24 | len(header)) + header + body)
    return reader.next_command()


def test_it_decodes_every_field() -> None:
    assert decode(HEADER, b"body") == Command(
        206, 7, flag=1, ext_fields={"k": "ü", "empty": ""}, body=b"body", remark="absent", version=493, language="JAVA"
    )


def test_it_decodes_a_header_without_remark_and_fields() -> None:
    header = struct.pack(">hBhiiii", 0, 3, 401, 9, 1, 0, 0)
    assert decode(header) == Command(0, 9, flag=1, version=401, language="PYTHON")


def test_it_knows_no_name_for_a_language_that_RocketMQ_does_not_list() -> None:
    command = decode(struct.pack(">hBhiiii", 0, 99, 401, 9, 1, 0, 0))
    assert command is not None
    assert command.language is None


@pytest.mark.parametrize("length", range(len(HEADER)))
def test_it_refuses_a_header_that_ends_early(length: int) -> None:
    with pytest.raises(RemoteProtocolError):
        decode(HEADER[:length])


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(HEADER + b"\x00", id="a byte after the fields"),
        pytest.param(struct.pack(">hBhiiiihihi", 0, 0, 493, 7, 1, 0, 0, 0, 0, 0, 0), id="fields beyond their length"),
        pytest.param(struct.pack(">hBhiiii", 0, 0, 493, 7, 1, -1, 0), id="a negative length of the remark"),
        pytest.param(struct.pack(">hBhiiii", 0, 0, 493, 7, 1, 0, -1), id="a negative length of the fields"),
        pytest.param(struct.pack(">hBhiiii", 0, 0, 493, 7, 1, 2**31 - 1, 0), id="a remark of 2 GiB"),
        pytest.param(struct.pack(">hBhiiih", 0, 0, 493, 7, 1, 2, -1) + bytes(4), id="a remark that is not UTF-8"),
        pytest.param(struct.pack(">hBhiiiihi", 0, 0, 493, 7, 1, 0, 6, -1, 0), id="a negative length of a key"),
    ],
)
def test_it_refuses(header: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        decode(header)


def test_what_is_no_text_in_a_remark_is_replaced_and_the_answer_counts() -> None:
    command = decode(HEADER.replace(b"absent", b"a\0sent"))
    assert command is not None
    assert command.remark == "a\ufffdsent"
