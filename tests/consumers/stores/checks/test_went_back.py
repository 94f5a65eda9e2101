"""Offsets of a broker's file that went back, and why."""

from datetime import timedelta

import pyarrow as pa
import pytest

from consumers.stores.checks import MemoryOffsets, mark_went_back
from tests.consumers.stores.stored_samples import NOW, a_failed_file, a_file, a_row, names, said
from tests.store_rows import a_finding

BEFORE = NOW - timedelta(seconds=60)
MEMORY = pa.schema([("group", pa.string()), ("topic", pa.string()), ("queue_id", pa.int32()), ("offset", pa.int64())])


def memory(*offsets, taken_at=NOW):
    rows = [{"group": "g", "topic": "Orders", "queue_id": n, "offset": offset} for n, offset in enumerate(offsets)]
    return MemoryOffsets(taken_at, pa.Table.from_pylist(rows, MEMORY))


def file(*offsets, **fields):
    return a_file(*(a_row("g", "Orders", n, offset) for n, offset in enumerate(offsets)), **fields)


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        (memory(120), "it was edited or restored. The broker's memory holds 120 and will overwrite it."),
        (memory(130), "holds 130 and will overwrite it. 40 messages redelivered if the broker starts"),
        (memory(80), "the broker's memory went back too, as after a reset."),
        (memory(119), "the broker's memory went back too, as after a reset."),
        (memory(70), "the broker's memory went back too, as after a reset."),
        (None, "reset (the broker's memory is not known). 40 messages redelivered"),
        (memory(), "(the broker's memory is not known)"),
    ],
)
def test_an_offset_below_that_of_the_last_read_says_why(now, sentence):
    marked = mark_went_back(file(80), file(120, modified_at=BEFORE), now, None)
    assert said(marked)[0].startswith("80 is lower than 120, the earlier offset in this file: ")
    assert sentence in said(marked)[0]
    assert [(finding.name, finding.where) for finding in marked.findings] == [("went_back", "Orders@g queue 0")]


def test_a_backup_is_older_and_says_so():
    marked = mark_went_back(file(80, from_backup=True), file(120), memory(120), None)
    assert "it comes from the older backup. 40 messages" in said(marked)[0]


def test_only_the_rows_that_went_back_are_marked():
    marked = mark_went_back(file(7, 5, 9), file(7, 6, 8), None, None)
    assert [finding is not None for finding in said(marked)] == [False, True, False]


def test_offsets_beyond_the_precision_of_floats_are_compared():
    big = 2**60
    assert names(mark_went_back(file(big), file(big + 1), None, None)) == ["went_back"]


@pytest.mark.parametrize(
    ("written", "earlier", "now", "found"),
    [
        (BEFORE + timedelta(seconds=10), 120, 130, ["behind_memory"]),
        (BEFORE + timedelta(seconds=9), 120, 130, []),
        (BEFORE - timedelta(seconds=60), 120, 130, []),
        (NOW, 80, 130, []),
        (NOW, 120, 80, []),
        (NOW, 120, 79, []),
        (NOW, 120, 81, ["behind_memory"]),
    ],
    ids=["written since", "may be unwritten", "an old file", "not lower", "reset", "reset further", "below both"],
)
def test_an_offset_below_what_the_broker_must_have_written_is_marked(written, earlier, now, found):
    marked = mark_went_back(file(80, modified_at=written), None, memory(now), memory(earlier, taken_at=BEFORE))
    assert names(marked) == found


def test_the_sentence_about_the_memory_names_its_time():
    marked = mark_went_back(file(80), None, memory(130), memory(120, taken_at=BEFORE))
    assert "80 is lower than 120, which the broker's memory held at 2026-03-01 01:59:00 UTC" in said(marked)[0]


def test_a_row_is_marked_once_where_both_hold():
    marked = mark_went_back(file(80), file(90, modified_at=BEFORE), memory(130), memory(120, taken_at=BEFORE))
    assert names(marked) == ["went_back"]


def test_what_is_not_known_is_not_compared():
    old = file(120, modified_at=BEFORE)
    assert names(mark_went_back(file(None), old, memory(130), memory(125, taken_at=BEFORE))) == []
    assert names(mark_went_back(a_file(a_row(None, "Orders", 0, 80)), old, None, None)) == []
    assert names(mark_went_back(file(80), file(None), None, None)) == []


def test_other_files_and_failed_ones_are_left_alone():
    for other in (a_failed_file(), file(80, kind="consumer_file"), file(80, kind="delay_file")):
        assert mark_went_back(other, file(120), None, None) is other
    assert names(mark_went_back(file(80), a_failed_file(), None, None)) == []


def test_the_lowest_of_several_rows_before_counts():
    before = a_file(a_row("g", "Orders", 0, 90), a_row("g", "Orders", 0, 120))
    assert names(mark_went_back(file(95), before, None, None)) == []


def test_a_row_keeps_what_was_found_before():
    flawed = a_file(a_row("g", "Orders", 0, 80) | {"finding": a_finding("Odd.")})
    assert said(mark_went_back(flawed, file(120), None, None))[0].startswith("Odd. 80 is lower")


def test_what_its_broker_need_not_have_written_yet_is_not_behind():
    earlier = memory(120, taken_at=BEFORE)
    written = BEFORE + timedelta(seconds=60)
    judged = [
        names(mark_went_back(file(80, modified_at=written), None, memory(130), earlier, flush))
        for flush in (None, 5_000, 30_000, 31_000)
    ]
    assert judged == [["behind_memory"]] * 3 + [[]]
