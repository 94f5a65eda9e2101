"""Body after body through one memory: always the table that the body alone gives."""

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from consumers.rocketmq.bodies.offsets import OffsetMemory, consumer_offsets_table
from consumers.rocketmq.wire.codes import RemoteProtocolError

HEAD = '{"dataVersion":{"counter":0},"offsetTable":{'


def body(table: dict[str, dict[int, int]]) -> bytes:
    keys = (
        f'"{key}":{{{",".join(f"{queue}:{offset}" for queue, offset in queues.items())}}}'
        for key, queues in table.items()
    )
    return f"{HEAD}{','.join(keys)}}}}}".encode()


def afresh(body: bytes) -> pa.Table | str:
    try:
        return consumer_offsets_table(body)
    except RemoteProtocolError as error:
        return str(error)


def remembered(memory: OffsetMemory, body: bytes) -> pa.Table | str:
    try:
        return memory(body)
    except RemoteProtocolError as error:
        return str(error)


KEYS = st.sampled_from(["T@g", "T@h", "U@g", "T@g@broadcast", "%RETRY%g@g"])
QUEUES = st.dictionaries(st.integers(0, 3), st.integers(-1, 12), max_size=3)
WELL_FORMED = st.dictionaries(KEYS, QUEUES, max_size=4).map(body)
DAMAGED = st.sampled_from(
    [
        b"",
        f'{HEAD}"T@g":{{0:1}}'.encode(),
        f'{HEAD}"T@g":{{0:1,}}}}}}'.encode(),
        f'{HEAD}"T@g":{{0:x}}}}}}'.encode(),
        f'{HEAD}"T@g":{{0:1}},"T@g":{{0:1}}}}}}'.encode(),
        f'{HEAD} "T@g": {{"0": 7}} }}}}'.encode(),
    ]
)


@given(st.lists(WELL_FORMED | DAMAGED, max_size=6))
def test_any_sequence_of_bodies_reads_as_each_of_them_alone(bodies: list[bytes]) -> None:
    memory = OffsetMemory()
    for one in bodies:
        assert remembered(memory, one) == afresh(one)


@pytest.mark.parametrize(
    ("sentence", "second"),
    [
        ("nothing changed", {"T@g": {0: 1, 1: 2}, "U@g": {0: 3}}),
        ("an offset moved", {"T@g": {0: 1, 1: 9}, "U@g": {0: 3}}),
        ("an offset grew longer", {"T@g": {0: 1000, 1: 2}, "U@g": {0: 3}}),
        ("a queue came", {"T@g": {0: 1, 1: 2, 2: 0}, "U@g": {0: 3}}),
        ("a queue went and another key gained one", {"T@g": {0: 1}, "U@g": {0: 3, 1: 4}}),
        ("another queue in its place", {"T@g": {0: 1, 7: 2}, "U@g": {0: 3}}),
        ("a key came", {"T@g": {0: 1, 1: 2}, "V@g": {0: 5}, "U@g": {0: 3}}),
        ("a key went", {"U@g": {0: 3}}),
        ("keys changed places", {"U@g": {0: 3}, "T@g": {0: 1, 1: 2}}),
        ("nothing is left", {}),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_the_second_body(sentence: str, second: dict[str, dict[int, int]]) -> None:
    memory = OffsetMemory()
    memory(body({"T@g": {0: 1, 1: 2}, "U@g": {0: 3}}))
    assert memory(body(second)) == consumer_offsets_table(body(second)), sentence


def test_a_table_that_was_given_away_does_not_change_afterwards() -> None:
    memory = OffsetMemory()
    first = memory(body({"T@g": {0: 1}}))
    memory(body({"T@g": {0: 2}}))
    assert first["consumer_offset"].to_pylist() == [1]


def test_an_unchanged_body_is_not_parsed_at_all() -> None:
    memory = OffsetMemory()
    assert memory(body({"T@g": {0: 1}})) is memory(body({"T@g": {0: 1}}))
