"""What one reading of delay levels is given, and what a process remembers of them between two readings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from consumers.rocketmq.bodies.delay_levels import level_delays
from consumers.rocketmq.wire.errors import RemoteProtocolError
from consumers.rocketmq.wire.pool import ConnectionPool

from .answers import DelayLimits, LevelKey, NextDue

# What is refused now is refused a minute later too, and a broker without a timer wheel writes an error into its log
# whenever it is asked (5.4.0, AdminBrokerProcessor).
REFUSAL_HOLDS = timedelta(minutes=10)


@dataclass
class DelayMemory:
    """One per cluster and process. Losing it costs some calls."""

    dues: dict[LevelKey, NextDue] = field(default_factory=dict)
    sampled_at: dict[LevelKey, datetime] = field(default_factory=dict)
    sampled: datetime | None = None
    wheels_refused: dict[str, datetime] = field(default_factory=dict)
    pulls_refused: dict[str, datetime] = field(default_factory=dict)

    def samples_are_due(self, limits: DelayLimits, now: datetime) -> bool:
        return self.sampled is None or now - self.sampled >= timedelta(seconds=limits.sample_seconds)

    def wheel_is_due(self, broker: str, now: datetime) -> bool:
        return _is_over(self.wheels_refused.get(broker), now)

    def may_pull(self, broker: str, now: datetime) -> bool:
        return _is_over(self.pulls_refused.get(broker), now)

    def note_samples(self, asked: Sequence[LevelKey], waiting: Mapping[LevelKey, object], now: datetime) -> None:
        kept = {key: at for key, at in self.sampled_at.items() if key in waiting}
        self.sampled_at, self.sampled = kept | dict.fromkeys(asked, now), now


def _is_over(refused: datetime | None, now: datetime) -> bool:
    return refused is None or now - refused >= REFUSAL_HOLDS


@dataclass(frozen=True)
class DelayTurn:
    """`delays`: by broker, its messageDelayLevel where that is known. `group_of`: see sample_level."""

    pool: ConnectionPool
    limits: DelayLimits
    delays: Mapping[str, str | None]
    group_of: Callable[[str], str | None]
    now: datetime
    deadline_seconds: float

    def level_delays(self, broker: str) -> Sequence[int]:
        """Seconds by level; none where they are not known."""
        text = self.delays.get(broker)
        try:
            return level_delays(text) if text is not None else ()
        except RemoteProtocolError:
            return ()

    def level_delay(self, broker: str, level: int) -> int | None:
        delays = self.level_delays(broker)
        return delays[level - 1] if level <= len(delays) else None
