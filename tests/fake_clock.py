"""Clocks for tests: a worker's that only moves when it is read or told to, and that can kill who reads it; a machine's
that can be set; and rows of clocks that were watched.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from consumers.clock.watch import Machine, this_machine
from consumers.models import Doubt, MachineClock
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


DAY = 86_400.0


@dataclass
class SettableMachine(FakeClock):
    """Its uptime goes on by what passes by, whatever the clock is set to."""

    seconds_up: float = 1000.0

    def pass_by(self, seconds: float) -> None:
        super().pass_by(seconds)
        self.seconds_up += seconds

    def set_by(self, change: timedelta) -> None:
        self.at += change

    def machine(self, boot: str = "boot-1", name: str = "host-1") -> Machine:
        return Machine(boot, name, self, lambda: self.seconds_up)


def a_clock(
    boot: str = "boot-1", *, seen_at: datetime = NOW, steady_seconds: float = 2 * DAY, **fields: object
) -> MachineClock:
    values = {"name": "host-1", "uptime_seconds": 1000.0, "doubt": Doubt.NEW, "doubt_at": NOW - timedelta(days=2)}
    return MachineClock.objects.create(boot=boot, seen_at=seen_at, steady_seconds=steady_seconds, **(values | fields))


def a_trusted_clock() -> MachineClock:
    """Of the machine that the test runs on."""
    return a_clock(this_machine().boot)
