"""Texts as fastjson writes them come back as the value they were made from; damaged ones are a value or a refusal."""

import json

from hypothesis import given, strategies as st

from consumers.rocketmq.bodies.fastjson import loads, loads_plain
from consumers.rocketmq.wire.codes import RemoteProtocolError

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10)
SCALARS = st.none() | st.booleans() | INT64 | st.floats(allow_nan=False, allow_infinity=False) | TEXT
OBJECT_KEYS = st.dictionaries(TEXT, SCALARS, max_size=3).map(lambda fields: tuple(sorted(fields.items())))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT | INT64 | OBJECT_KEYS, inner, max_size=4),
    max_leaves=20,
)


def written(value: object) -> str:
    """As fastjson writes it: keys that are not text stand without quotes."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{written_key(key)}:{written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def written_key(key: object) -> str:
    return written(dict(key)) if isinstance(key, tuple) else json.dumps(key)


@given(VALUES)
def test_it_reads_what_fastjson_writes(value: object) -> None:
    assert loads(written(value).encode()) == value


@given(VALUES)
def test_both_readers_agree_on_standard_json(value: object) -> None:
    body = json.dumps(json.loads(json.dumps(value, default=str, skipkeys=True))).encode()
    assert loads(body) == loads_plain(body)


@given(VALUES, st.integers(0, 10_000), st.binary(min_size=1, max_size=3), st.integers(0, 3))
def test_a_damaged_text_is_a_value_or_a_refusal(value: object, at: int, damage: bytes, removed: int) -> None:
    body = bytearray(written(value).encode())
    at %= len(body) + 1
    body[at : at + removed] = damage
    try:
        read = loads(bytes(body))
    except RemoteProtocolError:
        return
    assert loads(written(read).encode()) == read


@given(st.text(alphabet='{}[]:,"\\0129.-eE tfn\n', max_size=30))
def test_any_text_is_a_value_or_a_refusal(text: str) -> None:
    try:
        value = loads(text.encode())
    except RemoteProtocolError:
        return
    assert value == loads(written(value).encode())
