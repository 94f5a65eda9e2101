"""When a broker is left alone: while it says that it is busy, and after failures in a row.

A broker that came back is read again at most `open_seconds` and one poll later; a busy one, `busy_limit_seconds`.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from consumers.rocketmq.wire.codes import ResponseCode
from consumers.rocketmq.wire.errors import BrokerRefused, RocketMQError


@dataclass(frozen=True)
class Patience:
    """`failures` in a row open a circuit; `busy_seconds` is the first pause of a busy broker, doubled each time."""

    failures: int = 5
    open_seconds: float = 30.0
    busy_seconds: float = 10.0
    busy_limit_seconds: float = 120.0


@dataclass
class Circuit:
    """One per address and process. Times are given to it; so is chance, between 0 and 1."""

    patience: Patience = field(default_factory=Patience)
    failures: int = 0
    refusals: int = 0
    asked_from: datetime | None = None
    reason: str | None = None

    def not_asked(self, now: datetime) -> str | None:
        """Why it is not asked; None when its turn has come."""
        return self.reason if self.asked_from is not None and now < self.asked_from else None

    @property
    def is_open(self) -> bool:
        """One small call comes before a whole reading."""
        return self.failures >= self.patience.failures

    def note(self, outcome: RocketMQError | None, now: datetime, chance: float) -> str | None:
        """Takes in how its turn went (None: well); returns the reason that the reading carries."""
        self.asked_from = self.reason = None
        if outcome is None or isinstance(outcome, BrokerRefused):
            # A refusal is an answer too: the broker lives.
            self.failures = 0
        if is_busy(outcome):
            self._wait(self._busy_pause(chance), now)
            self.refusals += 1
        else:
            self.refusals = 0
        if outcome is not None and not isinstance(outcome, BrokerRefused):
            self.failures += 1
            if self.is_open:
                self._wait(self.patience.open_seconds, now)
        if outcome is not None:
            self.reason = str(outcome) if self.asked_from is None else f"{outcome}; {self._pause()}"
        return self.reason

    def _busy_pause(self, chance: float) -> float:
        # Chance keeps the clusters of one busy machine from coming back at the same moment.
        longest = self.patience.busy_seconds * 2 ** min(self.refusals, 16)
        return min(longest, self.patience.busy_limit_seconds) * (0.5 + chance / 2)

    def _wait(self, seconds: float, now: datetime) -> None:
        self.asked_from = now + timedelta(seconds=seconds)

    def _pause(self) -> str:
        after = f"after {self.failures} failures in a row it is" if self.failures else "it is"
        return f"{after} not asked until {self.asked_from:%H:%M:%S} UTC"


def is_busy(outcome: object) -> bool:
    return isinstance(outcome, BrokerRefused) and outcome.code == ResponseCode.SYSTEM_BUSY
