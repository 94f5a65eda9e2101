"""A machine whose clock can be set, and rows of clocks that were watched."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from consumers.clock.watch import Machine, this_machine
from consumers.models import Doubt, MachineClock
from tests.fake_clock import FakeClock
from tests.world import NOW

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
