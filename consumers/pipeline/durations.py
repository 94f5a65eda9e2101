"""Every threshold of the rules, in seconds unless the name says otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from consumers.polling.kind_limits import KindLimits


@dataclass(frozen=True)
class Durations:
    window_seconds: float = 180
    window_readings: float = 8
    provisional_readings: float = 4
    provisional_seconds: float = 45
    unknown_after_seconds: float = 45
    allowance_seconds: float = 60
    stop_without_members_seconds: float = 90
    unowned_seconds: float = 90
    stall_seconds: float = 180
    retry_stall_seconds: float = 300
    trend_seconds: float = 600
    # Seconds of time lag a second.
    warn_slope: float = 0.05
    warn_time_lag_seconds: float = 300
    warn_expiry_seconds: float = 24 * 3600
    warn_drain_seconds: float = 1800
    behind_seconds: float = 900
    behind_drain_seconds: float = 4 * 3600
    replay_after_move_seconds: float = 60
    commit_interval_seconds: float = 5
    clock_error_seconds: float = 1
    # Membership and ownership are asked for in turn, under a budget: how old an answer still counts.
    evidence_seconds: float = 900
    habit_wait_factor: float = 2
    rebalance_patience_seconds: float = 120
    rebalance_merge_seconds: float = 60
    rebalance_lookback_seconds: float = 1800
    rebalance_longest_seconds: float = 1800
    # Repeats with less than this between two are one event; messages come back from retries in larger steps.
    repeat_merge_seconds: float = 60
    repeat_retry_merge_seconds: float = 300
    repeat_longest_seconds: float = 3600
    # How far before its range a run evaluates offsets that went back again: members are asked in turn.
    repeat_again_seconds: float = 120
    # A message that was held for so long before its holder went was no ordinary one.
    repeat_held_seconds: float = 30
    poll_seconds: float = 15
    kinds: KindLimits = field(default_factory=KindLimits)

    @classmethod
    def of(cls, judge: Mapping[str, float], poll_seconds: float) -> "Durations":
        """From the settings; names that concern others are passed over."""
        known = {name: value for name, value in judge.items() if name in cls.__dataclass_fields__}
        return cls(**known, poll_seconds=poll_seconds, kinds=KindLimits.of(judge))

    @property
    def span_seconds(self) -> float:
        """The window: all readings of `window_seconds`, and where polls are rare at least `window_readings` of them."""
        return max(self.window_seconds, self.window_readings * self.poll_seconds)

    @property
    def trend_span_seconds(self) -> float:
        """The trend: long enough for `window_readings` where polls are rare."""
        return max(self.trend_seconds, self.window_readings * self.poll_seconds)

    @property
    def reach_seconds(self) -> float:
        """How long before a window a reading may lie that it is still counted from."""
        return 3 * self.poll_seconds

    @property
    def lookback_seconds(self) -> float:
        """A little more than the window: what is still for the whole window must be seen to have been still before."""
        return max(self.span_seconds, self.stall_seconds, self.retry_stall_seconds) + 3 * self.poll_seconds
