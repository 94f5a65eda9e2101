"""A queue that was set back from 9,000 to 4,000, or forwards from 1,000 to 4,000, and what was read of it since."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from consumers.models import ResetMethod, ResetOutcome
from consumers.resets.applying.case import Present, Series, Timing, Written
from consumers.resets.applying.outcome import outcome_of
from consumers.resets.planning.gather import Membership
from consumers.words.reasons import stored_words
from tests.world import NOW

# Where a queue stood that was set back, and one that was set forwards; where both were set to.
AHEAD, BEHIND, TARGET = 9000, 1000, 4000
# [(seconds after the writing, offset or an error)]: so it was read from then on, each second, until the next.
Readings = Sequence[tuple[int, int | str | None]]
NOBODY: tuple[str, ...] = ()
ONE = ("m1",)
Value = TypeVar("Value")


def members(*names: str, consume_type: str = "CONSUME_PASSIVELY", language: str = "JAVA") -> Membership:
    return Membership(names, None, "CLUSTERING", consume_type, (language,) if names else ())


def outcome(
    readings: Readings,
    until: int,
    *,
    before: int | None = AHEAD,
    method: ResetMethod = ResetMethod.SERVER,
    answered: bool = True,
    then: tuple[str, ...] | None = NOBODY,
    seen: Sequence[tuple[int, Membership]] | None = None,
    commit_seconds: float = 5.0,
) -> tuple[ResetOutcome, str] | None:
    """What is said at the reading `until` seconds after the writing; `seen`: who was there from when on."""
    written = Written(method, answered, before, TARGET, NOW)
    timing = Timing(12.0, NOW + timedelta(seconds=60), commit_seconds, 10 + commit_seconds)
    series, present = Series(), Present.at_apply(then)
    looks = seen if seen is not None else [(0, members(*(then or ())))]
    for second in range(until + 1):
        at = NOW + timedelta(seconds=second)
        offset = _latest(readings, second)
        series = series.failed(offset) if isinstance(offset, str) else series.read(at, offset)
        present = present.look(at, _latest(looks, second))
    verdict = outcome_of(written, series, present, timing, at)
    return None if verdict is None else (verdict.outcome, stored_words(verdict.evidence))


def _latest(changes: Sequence[tuple[int, Value]], second: int) -> Value:
    return next(value for since, value in reversed(changes) if since <= second)
