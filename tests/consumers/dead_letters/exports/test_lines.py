"""Lines of exports: a reader of CSV or JSON gets back what was written, and a spreadsheet runs nothing of it."""

import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from consumers.dead_letters.export_stream import CsvLines, JsonLines

COLUMNS = ("broker", "keys", "offset")


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: "\x00" not in text), min_size=2))
def test_any_text_comes_back_from_csv(texts: list[str]) -> None:
    lines = CsvLines([f"c{n}" for n in range(len(texts))])
    (found,) = cells(lines.line({f"c{n}": text for n, text in enumerate(texts)}))
    guarded = [f"'{text}" if text[:1] in "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20" and text else text for text in texts]
    assert found == guarded


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        ("", '""'),
        ("plain", "plain"),
        ("a,b", '"a,b"'),
        ('say "no"', '"say ""no"""'),
        ("two\r\nlines", '"two\r\nlines"'),
        (True, "true"),
        (False, "false"),
        (-41, "-41"),
        (datetime(2026, 3, 14, 3, tzinfo=UTC), "2026-03-14T03:00:00+00:00"),
        ({"a": "b"}, '"{""a"": ""b""}"'),
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("\n=1", '"\'\n=1"'),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", '"\'\r=1"'),
        ("a=1", "a=1"),
    ],
)
def test_a_cell_of_csv(value: Any, cell: str) -> None:
    assert CsvLines(["keys"]).line({"keys": value}) == f"{cell}\r\n"


def test_base64_stays_as_it_is() -> None:
    assert CsvLines(["body_base64"]).line({"body_base64": "+vf/"}) == "+vf/\r\n"


def test_csv_begins_with_its_columns() -> None:
    assert CsvLines(COLUMNS).head() == "broker,keys,offset\r\n"


def test_a_json_line_is_an_object_with_null_for_what_is_not_said() -> None:
    line = JsonLines(COLUMNS).line({"broker": "broker-a", "keys": None, "offset": 7, "other": "left out"})
    assert json.loads(line) == {"broker": "broker-a", "keys": None, "offset": 7}
    assert line.endswith("\n")
    assert JsonLines(COLUMNS).head() == ""


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_json_line_is_one_line(text: str) -> None:
    line = JsonLines(["keys"]).line({"keys": text})
    assert line.count("\n") == 1
    assert json.loads(line) == {"keys": text}


def test_what_is_not_whole_says_so_in_its_last_line() -> None:
    assert CsvLines(COLUMNS).incomplete("broker-a\nis gone", 41) == (
        "# incomplete: broker-a is gone (41 messages before)\r\n"
    )
    assert json.loads(JsonLines(COLUMNS).incomplete("gone", 41)) == {"error": "gone", "messages": 41}
