"""How old a reading or a judgement may be before it says nothing about now."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings

from consumers.polling.flags import KindLimits


@dataclass(frozen=True)
class Limits:
    """Ages in seconds: `late` makes a lag unknown, `unknown` a state, `judged` everything that was judged.

    `clock_error_seconds` is how far a broker's clock may be from this host's.
    """

    poll_seconds: float
    late_seconds: float
    unknown_seconds: float
    judged_seconds: float
    clock_error_seconds: float = 1.0
    kinds: KindLimits = field(default_factory=KindLimits)

    def read_since(self, now: datetime) -> datetime:
        """A broker whose last good reading is older is late: its queues have no lag."""
        return now - timedelta(seconds=self.late_seconds)

    def known_since(self, now: datetime) -> datetime:
        """A broker whose last good reading is older is silent: its queues have no state."""
        return now - timedelta(seconds=self.unknown_seconds)

    def judged_since(self, now: datetime) -> datetime:
        return now - timedelta(seconds=self.judged_seconds)


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
    )
