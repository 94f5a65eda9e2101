"""Offsets that are gone from a broker's file."""

import pyarrow as pa
import pytest

from consumers.stores.checks import MemoryOffsets, mark_vanished
from tests.consumers.stores.stored_samples import NOW, a_failed_file, a_file, a_row, in_words, names

TWO = a_file(a_row("g", "Orders", 0, 7), a_row("g", "Orders", 1, 9))
ONE = a_file(a_row("g", "Orders", 0, 7))


def memory(file):
    return MemoryOffsets(
        NOW,
        pa.table(
            [file.rows[name] for name in ("group", "topic", "queue_id", "offset")],
            names=["group", "topic", "queue_id", "offset"],
        ),
    )


@pytest.mark.parametrize(
    ("held", "sentence"),
    [
        (memory(TWO), "edited. The broker's memory still has it and will write it again."),
        (None, "edited, or deleted by the broker (its memory is not known)."),
    ],
)
def test_an_offset_that_is_gone_is_told(held, sentence):
    (finding,) = mark_vanished(ONE, TWO, held).findings
    assert (finding.name, finding.where) == ("vanished", "Orders@g queue 1")
    assert in_words(finding) == f"The offset of Orders@g queue 1, 9 before, is missing from the file: {sentence}"


def test_what_the_broker_deleted_itself_is_no_finding():
    assert names(mark_vanished(ONE, TWO, memory(ONE))) == []


def test_an_offset_that_was_emptied_is_gone_too():
    emptied = a_file(a_row("g", "Orders", 0, 7), a_row("g", "Orders", 1, None))
    assert names(mark_vanished(emptied, TWO, None)) == ["vanished"]


@pytest.mark.parametrize(
    ("file", "before"),
    [
        (TWO, ONE),
        (ONE, None),
        (ONE, a_failed_file()),
        (a_failed_file(), TWO),
        (ONE, a_file(a_row("g", "Orders", 0, 7), a_row("g", "Orders", 1, None))),
        (ONE, a_file(a_row("g", "Orders", 0, 7), a_row(None, "Orders", 1, 9))),
        (a_file(kind="delay_file"), TWO),
    ],
    ids=["more", "first read", "failed before", "failed", "empty before", "of no group", "delays"],
)
def test_nothing_is_missed_that_was_not_known(file, before):
    assert names(mark_vanished(file, before, None)) == []


def test_the_list_ends():
    before = a_file(*(a_row("g", "Orders", n, 7) for n in range(150)))
    findings = mark_vanished(a_file(), before, None).findings
    assert (len(findings), findings[-1].name) == (101, "more")
