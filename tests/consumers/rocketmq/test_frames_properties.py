"""Whatever is sent comes back the same, and whatever comes is a command or a refusal."""

import struct

from hypothesis import given, strategies as st

from consumers.rocketmq.wire.codes import RemoteProtocolError
from consumers.rocketmq.wire.frames import Command, FrameReader, encode

INT32 = st.integers(-(2**31), 2**31 - 1)
# A NUL is no text: what becomes of it has tests of its own.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
COMMANDS = st.builds(
    Command,
    code=INT32,
    opaque=INT32,
    flag=INT32,
    ext_fields=st.dictionaries(TEXT, TEXT, max_size=4),
    body=st.binary(max_size=60),
    remark=st.none() | TEXT,
    version=st.none() | INT32,
    language=st.none() | TEXT,
)


def feed(reader: FrameReader, received: bytes) -> list[Command]:
    reader.receive(received)
    return list(iter(reader.next_command, None))


@given(st.lists(COMMANDS, max_size=4), st.lists(st.integers(1, 80), max_size=20))
def test_it_gives_back_every_command_however_the_bytes_are_cut(commands: list[Command], cuts: list[int]) -> None:
    stream, reader, decoded = b"".join(map(encode, commands)), FrameReader(), []
    for cut in cuts:
        decoded += feed(reader, stream[:cut])
        stream = stream[cut:]
    assert decoded + feed(reader, stream) == commands


@given(COMMANDS, st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_a_damaged_frame_is_read_refused_or_waited_for(command: Command, at: int, damage: bytes) -> None:
    frame = bytearray(encode(command))
    at %= len(frame)
    frame[at : at + len(damage)] = damage
    try:
        commands = feed(FrameReader(), bytes(frame))
    except RemoteProtocolError:
        return
    assert all(isinstance(read, Command) for read in commands)


@given(st.binary(max_size=80))
def test_any_binary_header_is_read_or_refused(header: bytes) -> None:
    try:
        commands = feed(FrameReader(), struct.pack(">II", 4 + len(header), 1 << 24 | len(header)) + header)
    except RemoteProtocolError:
        return
    assert len(commands) == 1
