"""What kind of thing a body is, and that no body is more than its limit."""

import json
import zlib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from consumers.rocketmq.messages.bodies import DEEPEST, BodyKind, decoded_body, is_json, laid_out


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"order": 41}', BodyKind.JSON),
        (b' \n[1, 2, {"a": null}]', BodyKind.JSON),
        (b"{}", BodyKind.JSON),
        (b"41", BodyKind.TEXT),
        (b'"text"', BodyKind.TEXT),
        (b"{order: 41}", BodyKind.TEXT),
        (b'{"a": NaN}', BodyKind.TEXT),
        (b"[" * 100_000, BodyKind.TEXT),
        (b'{"a": ' + b"1" * 10_000 + b"}", BodyKind.JSON),
        (b"", BodyKind.TEXT),
        (b"line one\r\n\tline two\n", BodyKind.TEXT),
        ("Bestellung für 北京".encode(), BodyKind.TEXT),
        (b"\xac\xed\x00\x05sr", BodyKind.BINARY),
        (b"with\x00nul", BodyKind.BINARY),
        (b"\xff\xfe", BodyKind.BINARY),
        (b"cut \xe4\xba", BodyKind.BINARY),
    ],
)
def test_it_tells_json_text_and_bytes_apart(body: bytes, kind: BodyKind) -> None:
    found = decoded_body(body, 0, 200_000)
    assert found.kind is kind
    assert (found.text, found.hex) == ((None, body.hex()) if kind is BodyKind.BINARY else (body.decode(), None))


def test_json_that_is_cut_is_text() -> None:
    found = decoded_body(b'{"order": 41}', 0, 5)
    assert (found.kind, found.text, found.truncated, found.size) == (BodyKind.TEXT, '{"ord', True, 13)


def test_a_character_that_the_limit_cuts_is_left_out() -> None:
    found = decoded_body("北京".encode(), 0, 4)
    assert (found.kind, found.text, found.shown_bytes, found.truncated) == (BodyKind.TEXT, "北", 3, True)


def test_a_damaged_body_has_its_error_and_no_kind() -> None:
    found = decoded_body(b"no zlib at all", 1, 100)
    assert (found.kind, found.text, found.hex, found.size) == (None, None, None, None)
    assert found.error is not None
    assert "zlib" in found.error


def test_what_came_out_before_the_damage_is_shown() -> None:
    found = decoded_body(zlib.compress(b"order 41, order 42, order 43")[:-6], 1, 100)
    assert found.text is not None
    assert found.text.startswith("order 41")
    assert (found.kind, found.size) == (BodyKind.TEXT, None)
    assert found.error is not None


@given(st.binary(max_size=300), st.integers(1, 200))
def test_it_shows_no_more_than_the_limit_of_any_body(body: bytes, limit: int) -> None:
    found = decoded_body(body, 0, limit)
    shown = bytes.fromhex(found.hex) if found.hex is not None else (found.text or "").encode()
    assert body[:limit].startswith(shown)
    assert found.shown_bytes == len(shown)
    assert len(body[:limit]) - len(shown) < 4


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_laying_out_changes_nothing_but_spaces(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert json.loads(laid_out(text)) == value
        assert laid_out(laid_out(text)) == laid_out(text)


def test_laying_out_keeps_numbers_and_repeated_names_as_they_were_written() -> None:
    assert laid_out('{"a":1.10,"a":[1e400,{}],"b":"{,\\":"}') == (
        '{\n  "a": 1.10,\n  "a": [\n    1e400,\n    {}\n  ],\n  "b": "{,\\":"\n}'
    )


def test_deep_json_does_not_grow_without_end() -> None:
    deep = "[" * 500 + ",".join("1" * 2000) + "]" * 500
    assert is_json(deep)
    assert len(laid_out(deep)) < len(deep) * (2 * DEEPEST + 3)
