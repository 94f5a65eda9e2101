"""A worker's clock that only moves when it is read or told to, and that can kill who reads it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.world import NOW


class Killed(BaseException):
    """A process that is gone: nothing after it is done."""


@dataclass
class FakeClock:
    """Each reading of it takes a millisecond, each pause `stretch` times as long as it is. `kill_at`: the reading that
    kills."""

    at: datetime = NOW
    kill_at: int | None = None
    readings: int = 0
    stretch: float = 1
    pauses: list[float] = field(default_factory=list)

    def __call__(self) -> datetime:
        self.readings += 1
        if self.readings == self.kill_at:
            raise Killed
        self.at += timedelta(milliseconds=1)
        return self.at

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.at += timedelta(seconds=seconds * self.stretch)

    def pass_by(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
