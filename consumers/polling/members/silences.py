"""Clients that did not answer, and when each group was asked last: what planning remembers between two readings.

A client that hangs holds one of the broker's threads for 10 s (RocketMQ 5.4.0, Broker2Client). Losing this memory
costs a few calls, never a figure.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

# One silence may be the broker's; from the second in a row on a client is asked only so often.
PAUSE_SECONDS = 60.0
KEPT = timedelta(hours=1)

Whom = tuple[str, str]  # group, client id


@dataclass(frozen=True)
class Silence:
    times: int
    at: datetime
    error: str

    @property
    def until(self) -> datetime | None:
        return self.at + timedelta(seconds=PAUSE_SECONDS) if self.times > 1 else None


@dataclass
class Silences:
    """`asked_at`: when each group's members were last asked, whether or not one of them spoke."""

    silent: dict[Whom, Silence] = field(default_factory=dict)
    asked_at: dict[str, datetime] = field(default_factory=dict)

    def not_asked(self, whom: Whom, now: datetime) -> str | None:
        """Why the client is not asked; None when its turn has come."""
        silence = self.silent.get(whom)
        if silence is None or silence.until is None or now >= silence.until:
            return None
        return f"{silence.error}; asked at {silence.at:%H:%M:%S} and again from {silence.until:%H:%M:%S} UTC on"

    def fell_silent(self, whom: Whom) -> bool:
        return whom in self.silent

    def note(self, whom: Whom, error: str | None, now: datetime) -> None:
        """Takes in how it went (None: well)."""
        self.asked_at[whom[0]] = now
        if error is None:
            self.silent.pop(whom, None)
            return
        before = self.silent.get(whom)
        self.silent[whom] = Silence(before.times + 1 if before else 1, now, error)

    def forget_old(self, now: datetime) -> None:
        """Clients that left while they were silent."""
        self.silent = {whom: silence for whom, silence in self.silent.items() if now - silence.at < KEPT}
        self.asked_at = {group: at for group, at in self.asked_at.items() if now - at < KEPT}
