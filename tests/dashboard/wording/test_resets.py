from typing import Any

import pytest

from consumers.models import ResetKind, ResetOutcome, ResetStatus
from dashboard.figures.time_bars import SHAPES
from dashboard.wording.resets import OUTCOME_LIKE, STATUS_LIKE, destination

CASES: dict[str, tuple[Any, str]] = {
    "earliest": (None, "earliest: the oldest retained message"),
    "latest": (None, "latest: skip the whole lag"),
    "time": ("2026-03-14T02:14:24+00:00", "first message stored at or after 2026-03-14 02:14:24 UTC"),
    "offset": (12_345, "to offset 12,345"),
    "shift": (-500, "shift by −500 messages"),
    "skip_older": (7200, "skip older than 2 h"),
    "copy": ("audit", "copy from group audit"),
    "moment": ("2026-03-14T04:14:24+02:00", "past position at 2026-03-14 02:14:24 UTC"),
    "offsets": ([{}, {}], "offset list of 2 queues"),
    "restore": ("6f1c1b7e", "rollback: offsets before an earlier reset"),
}


@pytest.mark.parametrize("kind", list(ResetKind))
def test_where_a_reset_goes_is_said_in_plain_words(kind: ResetKind) -> None:
    value, words = CASES[kind]
    assert destination(kind, value) == words


def test_a_shift_ahead_is_no_shift_back() -> None:
    assert destination(ResetKind.SHIFT, 500) == "shift by +500 messages"


def test_every_status_and_outcome_has_a_shape() -> None:
    assert set(STATUS_LIKE) == set(ResetStatus)
    assert set(OUTCOME_LIKE) == set(ResetOutcome)
    assert {*STATUS_LIKE.values(), *OUTCOME_LIKE.values()} <= set(SHAPES)
