"""How old a reading, an evaluation or any regular task may be before it says nothing about now."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from django.conf import settings

from consumers.polling.kind_limits import KindLimits

# Clocks of two machines may differ by so much, and NTP may set one by so much.
CLOCKS_DIFFER = timedelta(seconds=60)


class Freshness(StrEnum):
    """fresh · late: the newest is older than it should be · silent: nothing of now is known, of a part or the whole."""

    FRESH = "fresh"
    LATE = "late"
    SILENT = "silent"


@dataclass(frozen=True)
class Limits:
    """Ages in seconds: `late` makes a lag unknown, `unknown` a state, `judged` every number that was evaluated; a state
    that was evaluated longer ago stays, as stale, until what is polled contradicts it.

    `clock_error_seconds` is how far a broker's clock may be from this host's. `stop`, `stall`, `retry_stall` and
    `allowance` are those of the evaluation.
    """

    poll_seconds: float
    late_seconds: float
    unknown_seconds: float
    judged_seconds: float
    clock_error_seconds: float = 1.0
    kinds: KindLimits = field(default_factory=KindLimits)
    stop_seconds: float = 90.0
    stall_seconds: float = 180.0
    retry_stall_seconds: float = 300.0
    allowance_seconds: float = 60.0

    def read_since(self, now: datetime) -> datetime:
        """A broker whose last good reading is older is late: its queues have no lag."""
        return now - timedelta(seconds=self.late_seconds)

    def known_since(self, now: datetime) -> datetime:
        """A broker whose last good reading is older is silent: its queues have no state."""
        return now - timedelta(seconds=self.unknown_seconds)

    def judged_since(self, now: datetime) -> datetime:
        return now - timedelta(seconds=self.judged_seconds)

    def stands_since(self, now: datetime, *, is_retry: bool = False) -> datetime:
        """An offset with a lag that has not moved since then stands."""
        return now - timedelta(seconds=self.retry_stall_seconds if is_retry else self.stall_seconds)

    def allowed_since(self, now: datetime) -> datetime:
        """What waits since a later time is within the threshold."""
        return now - timedelta(seconds=self.allowance_seconds)


def limits() -> Limits:
    late = 3 * settings.CONSUMERSCOPE_POLL_SECONDS
    return Limits(
        poll_seconds=settings.CONSUMERSCOPE_POLL_SECONDS,
        late_seconds=late,
        # Where polls are rare, a healthy broker must not turn unknown between two of them.
        unknown_seconds=max(settings.JUDGE["unknown_after_seconds"], late),
        judged_seconds=3 * settings.CONSUMERSCOPE_AGGREGATE_SECONDS + settings.JUDGE["window_seconds"],
        clock_error_seconds=settings.JUDGE["clock_error_seconds"],
        kinds=KindLimits.of(settings.JUDGE),
        **{f"{name}_seconds": settings.JUDGE[f"{name}_seconds"] for name in ("stall", "retry_stall", "allowance")},
        stop_seconds=settings.JUDGE["stop_without_members_seconds"],
    )


# How regularly something was done that is due every so many seconds.
def missed(
    times: Sequence[datetime], interval_seconds: float, until: datetime, *, since: datetime | None = None
) -> int:
    """How many were due between `since` and `until`, and not done at one of `times` (ascending).

    Without `since`: since the first of `times`. Half an interval of delay is forgiven each time.
    """
    gaps = pairwise([*([] if since is None else [since]), *times, until])
    return sum(max(0, int((after - before).total_seconds() / interval_seconds - 0.5)) for before, after in gaps)
