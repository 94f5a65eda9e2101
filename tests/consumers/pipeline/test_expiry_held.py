"""A clock that jumped forward by days deletes nothing."""

from datetime import timedelta
from pathlib import Path

import pytest

from consumers.clock.status import expiry_hold
from consumers.clock.watch import watch
from consumers.lake.store import Lake
from consumers.models import Reading
from consumers.pipeline.upkeep import keep_up
from tests.fake_clock import DAY, SettableMachine
from tests.world import NOW, a_cluster

pytestmark = pytest.mark.django_db


def watched_for(machine: SettableMachine, lake: Lake, hours: int) -> None:
    for _ in range(hours):
        machine.pass_by(3600)
        watch(machine.machine(), lake)


@pytest.mark.parametrize(("hours_after", "readings"), [(0, 1), (23, 1), (24, 0)])
def test_a_jump_by_three_days_deletes_nothing_before_a_day_of_even_work(
    tmp_path: Path, hours_after: int, readings: int
) -> None:
    lake, machine = Lake.at(str(tmp_path)), SettableMachine(NOW)
    watch(machine.machine(), lake)
    watched_for(machine, lake, 24)
    a_cluster(read_at=machine.at)
    machine.set_by(timedelta(days=3))
    watch(machine.machine(), lake)
    watched_for(machine, lake, hours_after)
    keep_up(lake, machine.at, may_expire=expiry_hold("boot-1") is None)
    assert Reading.objects.count() == readings


def test_a_pause_of_weeks_on_a_machine_that_slept_holds_nothing_up(tmp_path: Path) -> None:
    lake, machine = Lake.at(str(tmp_path)), SettableMachine(NOW)
    watch(machine.machine(), lake)
    watched_for(machine, lake, 24)
    machine.pass_by(21 * DAY)
    watch(machine.machine(), lake)
    assert expiry_hold("boot-1") is None
