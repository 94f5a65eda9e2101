import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from consumers.models import ResetKind
from consumers.resets.reset_targets import value_of
from consumers.resets.target_values import ValueRefused, moment_of
from tests.world import NOW

QUEUE = {"topic": "Orders", "broker": "broker-a", "queue_id": 0, "offset": 7}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("kind", "said", "kept"),
    [
        (ResetKind.EARLIEST, None, None),
        (ResetKind.LATEST, "", None),
        (ResetKind.TIME, "2026-03-14T02:13:00Z", "2026-03-14T02:13:00+00:00"),
        (ResetKind.MOMENT, "2026-03-14T04:13:00+02:00", "2026-03-14T02:13:00+00:00"),
        (ResetKind.OFFSET, 0, 0),
        (ResetKind.OFFSET, " 41 ", 41),
        (ResetKind.SHIFT, -250, -250),
        (ResetKind.SHIFT, "+5", 5),
        (ResetKind.SKIP_OLDER, 90, 90.0),
        (ResetKind.SKIP_OLDER, "0.5", 0.5),
        (ResetKind.COPY, "billing", "billing"),
        (ResetKind.OFFSETS, [QUEUE | {"offset": "7"}], [QUEUE]),
    ],
)
def test_it_keeps_what_was_meant(kind: ResetKind, said: Any, kept: Any) -> None:
    assert value_of(kind, said, NOW) == kept


@pytest.mark.parametrize(
    ("kind", "said", "sentence"),
    [
        (ResetKind.EARLIEST, 5, "needs no value"),
        (ResetKind.TIME, None, "Nothing is not a time"),
        (ResetKind.TIME, "yesterday", "yesterday is not a time"),
        (ResetKind.TIME, "2026-03-14T02:13:00", "has no zone"),
        (ResetKind.TIME, "2026-03-14T03:00:01Z", "is in the future"),
        (ResetKind.TIME, "1969-12-31T00:00:00Z", "choose the earliest"),
        (ResetKind.TIME, "0001-01-01T00:00:00+14:00", "is not a time"),
        (ResetKind.OFFSET, -1, "-1 is not an offset"),
        (ResetKind.OFFSET, True, "True is not an offset"),
        (ResetKind.OFFSET, 2**63, "is not an offset"),
        (ResetKind.OFFSET, 1.0, "is not an offset"),
        (ResetKind.SHIFT, 0, "moves nothing"),
        (ResetKind.SHIFT, "a few", "is not a number of messages"),
        (ResetKind.SKIP_OLDER, 0, "is not an age"),
        (ResetKind.SKIP_OLDER, math.nan, "is not an age"),
        (ResetKind.SKIP_OLDER, True, "is not an age"),
        (ResetKind.SKIP_OLDER, 1e12, "is not an age"),
        (ResetKind.COPY, "", "Name the group"),
        (ResetKind.RESTORE, "first", "is not the id of a reset"),
        (ResetKind.OFFSETS, [], "at least one queue"),
        (ResetKind.OFFSETS, [QUEUE | {"clip": 1}], "Entry 1 must have"),
        (ResetKind.OFFSETS, [QUEUE | {"broker": ""}], "Entry 1 has no broker"),
        (ResetKind.OFFSETS, [QUEUE | {"queue_id": -1}], "Entry 1: -1 is not a queue ID"),
        (ResetKind.OFFSETS, [QUEUE | {"offset": None}], "Entry 1: None is not an offset"),
        (ResetKind.OFFSETS, [QUEUE, QUEUE | {"offset": 9}], "entries 1 and 2 name the same queue"),
    ],
)
def test_it_says_what_is_wrong_with_a_value(kind: ResetKind, said: Any, sentence: str) -> None:
    with pytest.raises(ValueRefused, match=sentence):
        value_of(kind, said, NOW)


def test_it_refuses_a_list_that_is_too_long(settings: Any) -> None:
    settings.RESET_QUEUES_MAX = 1
    with pytest.raises(ValueRefused, match="2 queues are listed, and at most 1"):
        value_of(ResetKind.OFFSETS, [QUEUE, QUEUE | {"queue_id": 1}], NOW)


@given(kind=st.sampled_from(ResetKind), said=JSON)
def test_whatever_is_said_is_kept_or_refused_and_what_is_kept_is_kept_again(kind: ResetKind, said: Any) -> None:
    try:
        kept = value_of(kind, said, NOW)
    except ValueRefused:
        return
    assert value_of(kind, kept, NOW) == kept


@given(at=st.datetimes(timezones=st.timezones()))
def test_a_time_that_is_kept_is_the_one_that_was_said(at: Any) -> None:
    try:
        kept = value_of(ResetKind.TIME, at.isoformat(), NOW)
    except ValueRefused:
        return
    assert abs((moment_of(kept) - at).total_seconds()) < 1
