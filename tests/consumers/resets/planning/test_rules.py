"""The rules of a plan, over numbers alone."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, strategies as st

from consumers.models import ResetKind, ResetMethod
from consumers.resets.planning.queue_plan import (
    Aim,
    Amounts,
    Planned,
    QueueOffsets,
    aim,
    amounts_of,
    left_out_row,
    of_amounts,
    of_gaps,
    planned_row,
    totals_of,
    why_not_clipped,
)
from consumers.resets.reset_targets import TARGETS, target_of
from consumers.resets.target_values import QueueKey
from consumers.words.reasons import stored_words
from tests.world import NOW

KEY = QueueKey("Orders", "broker-a", 0)
RESET = UUID(int=1)
OFFSETS = st.integers(0, 2**40)
PLAN_FIELDS = (
    "min_offset",
    "max_offset",
    "now_offset",
    "wanted",
    "target",
    "target_time",
    "replayed_messages",
    "skipped_messages",
    "method",
)


@st.composite
def queues(draw: Any) -> QueueOffsets:
    """The consumer offset may be anywhere: expired, ahead of the queue, or missing."""
    least, most = sorted((draw(OFFSETS), draw(OFFSETS)))
    return QueueOffsets(KEY, least, most, draw(st.none() | OFFSETS))


@given(queue=queues(), wanted=st.integers(-(2**41), 2**41))
def test_a_target_lies_within_its_queue_and_is_moved_no_farther_than_to_its_end(
    queue: QueueOffsets, wanted: int
) -> None:
    one = aim(queue, wanted)
    assert one.least <= one.target <= one.most
    assert one.clipped == (not one.least <= wanted <= one.most)
    assert one.target in (wanted, one.least, one.most)


@given(queue=queues(), wanted=st.integers(-(2**41), 2**41))
def test_amounts_are_never_guessed_never_below_zero_and_never_both(queue: QueueOffsets, wanted: int) -> None:
    one = aim(queue, wanted)
    amounts = amounts_of(one)
    if queue.now_offset is None:
        assert amounts == Amounts(None, None)
        return
    assert amounts.replayed is not None
    assert amounts.skipped is not None
    assert min(amounts.replayed, amounts.skipped) == 0 <= max(amounts.replayed, amounts.skipped)
    assert max(amounts.replayed, amounts.skipped) <= one.most - one.least


@pytest.mark.parametrize(
    ("now", "target", "amounts"),
    [
        (50, 20, Amounts(30, 0)),
        (50, 80, Amounts(0, 30)),
        (50, 50, Amounts(0, 0)),
        (2, 20, Amounts(0, 10)),  # 2 to 9 expired unread
        (120, 90, Amounts(10, 0)),  # the group is ahead of its queue
    ],
)
def test_only_messages_that_the_queue_holds_count(now: int, target: int, amounts: Amounts) -> None:
    assert amounts_of(Aim(KEY, now, 10, 100, target)) == amounts


@given(queue=queues(), found=OFFSETS)
def test_skipping_older_messages_moves_no_queue_back(queue: QueueOffsets, found: int) -> None:
    target = target_of(ResetKind.SKIP_OLDER, 60, queue, {KEY: found})
    assert isinstance(target, int)
    assert queue.now_offset is None or target >= queue.now_offset


def test_a_shift_of_nothing_has_no_target() -> None:
    target = target_of(ResetKind.SHIFT, -5, QueueOffsets(KEY, 0, 9, None), {})
    assert isinstance(target, str)
    assert "no committed offset" in stored_words(target)


@pytest.mark.parametrize("kind", [ResetKind.TIME, ResetKind.SKIP_OLDER, ResetKind.COPY])
def test_what_could_not_be_found_stays_a_sentence(kind: ResetKind) -> None:
    assert target_of(kind, 60, QueueOffsets(KEY, 0, 9, 5), {KEY: "it was silent"}) == "it was silent"


def test_a_queue_that_was_not_read_has_no_target() -> None:
    with pytest.raises(ValueError, match="was not read"):
        target_of(ResetKind.EARLIEST, None, QueueOffsets(KEY, None, None, None, "silent"), {})


@pytest.mark.parametrize(
    ("kind", "value", "at"),
    [
        (ResetKind.TIME, "2026-03-14T02:13:00+00:00", datetime(2026, 3, 14, 2, 13, tzinfo=UTC)),
        (ResetKind.SKIP_OLDER, 90.0, NOW - timedelta(seconds=90)),
        (ResetKind.OFFSET, 5, None),
    ],
)
def test_which_time_is_searched(kind: ResetKind, value: Any, at: datetime | None) -> None:
    assert TARGETS[kind].searched_time(value, NOW) == at


def test_the_farthest_of_the_targets_outside_is_named() -> None:
    near, far = Aim(KEY, 5, 10, 100, 101), Aim(QueueKey("Orders", "broker-b", 3), 5, 10, 100, -40)
    sentence = why_not_clipped([near, far, Aim(KEY, 5, 10, 100, 50)])
    assert sentence is not None
    assert "2 of 3" in stored_words(sentence)
    assert "-40 in Orders/broker-b/3, which has 10 to 100" in stored_words(sentence)


def test_targets_within_their_queues_need_no_clipping() -> None:
    assert why_not_clipped([Aim(KEY, 5, 10, 100, 10), Aim(KEY, 5, 10, 100, 100)]) is None


@given(queue=queues(), wanted=OFFSETS, at=st.sampled_from([NOW, "it was silent"]))
def test_every_null_of_a_planned_row_has_its_reason(queue: QueueOffsets, wanted: int, at: datetime | str) -> None:
    row = planned_row(RESET, Planned(aim(queue, wanted), ResetMethod.SERVER, at))
    assert {name for name in PLAN_FIELDS if getattr(row, name) is None} == set(row.unknown)
    assert row.restorable == (queue.now_offset is not None)


@given(queue=st.none() | queues() | st.just(QueueOffsets(KEY, None, None, None, "silent")), is_aimed=st.booleans())
def test_every_null_of_a_row_that_is_left_out_has_its_reason(queue: QueueOffsets | None, is_aimed: bool) -> None:
    one = aim(queue, 5) if is_aimed and queue is not None and queue.error is None else None
    row = left_out_row(RESET, KEY, "no.", queue, one)
    assert {name for name in PLAN_FIELDS if getattr(row, name) is None} == set(row.unknown)
    assert (stored_words(row.left_out), row.method, row.restorable) == ("no.", None, False)


def test_totals_tell_the_unknown_from_none() -> None:
    known = planned_row(RESET, Planned(Aim(KEY, 50, 10, 100, 20), ResetMethod.SERVER, NOW))
    never = planned_row(RESET, Planned(Aim(KEY, None, 10, 100, 20), ResetMethod.SERVER, "silent"))
    stands = planned_row(RESET, Planned(Aim(KEY, 20, 10, 100, 20), ResetMethod.NOTHING, NOW))
    left = left_out_row(RESET, KEY, "no.", None, None)
    totals = totals_of([known, never, stands, left])
    assert (totals.queues, totals.replayed, totals.replaying, totals.uncounted) == (2, 30, 1, 1)
    assert (totals.left_out, totals.not_restorable) == ([("no.", 1)], 1)
    assert (totals.earliest, dict(totals.methods)) == (NOW, {ResetMethod.SERVER: 2})


def test_warnings_name_what_comes_again_what_is_lost_and_what_cannot_be_undone() -> None:
    rows = [
        planned_row(RESET, Planned(Aim(KEY, 50, 10, 100, 20), ResetMethod.SERVER, NOW)),
        planned_row(RESET, Planned(Aim(KEY, 50, 10, 100, 130), ResetMethod.SERVER, NOW - timedelta(days=1))),
        planned_row(RESET, Planned(Aim(KEY, None, 10, 100, 20), ResetMethod.SERVER, NOW)),
        left_out_row(RESET, KEY, "Its broker is silent.", None, None),
    ]
    again, first, lost, uncounted = map(stored_words, of_amounts(totals_of(rows)))
    assert "Redelivered messages: 30, queues: 1" in again
    assert first == "The first redelivered message that was read is from 2026-03-14 03:00:00 UTC."
    assert "Skipped messages: 50, queues: 1" in lost
    assert "unknown numbers of redelivered and skipped messages: 1" in uncounted
    cannot, clipped, left = map(stored_words, of_gaps(totals_of(rows)))
    assert "cannot be rolled back: 1" in cannot
    assert "clipped to the range of their queues: 1" in clipped
    assert left == "Excluded queues: 1. Its broker is silent."
