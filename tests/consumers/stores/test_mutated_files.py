"""Real files, damaged at random: a result of one type, and no offset that the file does not hold."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from consumers.stores.files.stored_file import STORED, StoredFile
from tests.consumers.stores.stored_samples import DATA, in_words, read, rows, why, write

NAMES = {
    "consumerOffset.json": "consumerOffset.json",
    "delayOffset.json": "delayOffset.json",
    "offsets.json": "127.0.0.1@crowd-1/crowd/offsets.json",
}
BODIES = {name: (DATA / name).read_bytes() for name in NAMES}
names = st.sampled_from(sorted(BODIES))
JUNK = st.sampled_from(
    [
        b"{",
        b"}",
        b",",
        b":",
        b'"',
        b"\n",
        b"\0",
        b"\xff",
        b"-",
        b"@",
        b"null",
        b"1e9",
        b"// 5",
        b"0:0,",
        rb"\ud800",
        rb"\u0000",
    ]
)


@st.composite
def truncated(draw, body):
    return body[: draw(st.integers(0, len(body) - 1))]


@st.composite
def flipped(draw, body):
    at = draw(st.integers(0, len(body) - 1))
    return body[:at] + bytes([body[at] ^ (1 << draw(st.integers(0, 7)))]) + body[at + 1 :]


@st.composite
def without_a_line(draw, body):
    lines = body.splitlines(keepends=True)
    del lines[draw(st.integers(0, len(lines) - 1))]
    return b"".join(lines)


@st.composite
def swapped(draw, body):
    lines = body.splitlines(keepends=True)
    one, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


@st.composite
def with_junk(draw, body):
    at = draw(st.integers(0, len(body)))
    return body[:at] + draw(JUNK) + body[at:]


MUTATIONS = (truncated, flipped, without_a_line, swapped, with_junk)


def read_body(name, body) -> StoredFile:
    with tempfile.TemporaryDirectory() as folder:
        return read(write(Path(folder), body, NAMES[name]))


def keys_and_numbers(body: bytes) -> set[tuple[int, int]]:
    """Every `number: number` and `}: number` of the text, which is all that an offset can come from."""
    text = body.decode(errors="replace")
    pairs = {(int(key), int(value)) for key, value in re.findall(r'"?(-?\d+)"?\s*:\s*(-?\d+)(?!\d)', text)}
    ids = re.findall(r'"queueId"\s*:\s*(-?\d+)', text)
    return pairs | {(int(one), int(value)) for value in re.findall(r"\}\s*:\s*(-?\d+)", text) for one in ids}


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
@settings(deadline=None)
@given(name=names, data=st.data())
def test_a_damaged_file_gives_a_typed_result(mutate, name, data):
    file = read_body(name, data.draw(mutate(BODIES[name])))
    assert (file.error is None) == (file.rows is not None) == (file.modified_at is not None)
    assert file.table().schema == STORED
    assert file.error is None or file.error.name in {"empty", "cut_off", "malformed", "not_offsets"}
    said = "".join([why(file) or "", *(in_words(finding) for finding in file.findings)])
    # What a database or a page cannot take would cost more than this file.
    assert "\0" not in said.encode().decode()


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
@settings(deadline=None)
@given(name=names, data=st.data())
def test_no_offset_is_invented(mutate, name, data):
    body = data.draw(mutate(BODIES[name]))
    level = 1 if name == "delayOffset.json" else 0
    written = keys_and_numbers(body)
    for queue_id, offset in rows(read_body(name, body), "queue_id", "offset"):
        assert queue_id is None or offset is None or (queue_id + level, offset) in written


@pytest.mark.parametrize("mutate", [truncated, without_a_line, swapped], ids=lambda mutate: mutate.__name__)
@settings(deadline=None)
@given(name=st.sampled_from(["consumerOffset.json", "delayOffset.json"]), data=st.data())
def test_whole_lines_in_another_order_lose_rows_or_name_them(mutate, name, data):
    """A queue and its offset share a line there: a row without a finding stands in the original, under some key."""
    file = read_body(name, data.draw(mutate(BODIES[name])))
    original = read_body(name, BODIES[name])
    known = set(rows(original, "queue_id", "offset"))
    groups = {group for (group,) in rows(original, "group")}
    for group, queue_id, offset, finding in rows(file, "group", "queue_id", "offset", "finding"):
        assert finding or (group in groups and (queue_id, offset) in known)


@settings(deadline=None)
@given(name=names, length=st.integers(0, 400))
def test_a_file_that_is_cut_off_never_gives_part_of_its_rows(name, length):
    body = BODIES[name]
    file = read_body(name, body[: min(length, len(body) - 1)])
    assert (file.rows, file.error.name) == (None, "empty" if length == 0 else "cut_off")
