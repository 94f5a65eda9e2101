"""Beat goes on at once where the clock was set back."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from celery import Celery

from dashboard.beat import SteadyScheduler
from tests.world import NOW


class Sending(SteadyScheduler):
    def apply_entry(self, entry, producer=None) -> None:
        self.sent.append(entry.name)


@pytest.fixture
def beat(tmp_path: Path) -> Iterator[Sending]:
    app = Celery(set_as_current=False)
    app.conf.beat_schedule = {
        "alerts": {"task": "consumers.alerts_due", "schedule": 15.0},
        "polls": {"task": "consumers.poll_due", "schedule": 15.0},
    }
    app.conf.broker_url = "memory://"
    with time_machine.travel(NOW, tick=False):
        found = Sending(app=app, schedule_filename=str(tmp_path / "schedule"))
        found.sent = []
        yield found
        found.close()


def ticks(beat: Sending) -> set[str]:
    beat.sent.clear()
    for _ in range(4):
        beat.tick()
    return set(beat.sent)


def test_every_task_is_started_at_once_after_a_clock_was_set_back(beat: Sending) -> None:
    with time_machine.travel(NOW + timedelta(seconds=16), tick=False):
        assert ticks(beat) == {"alerts", "polls"}
    with time_machine.travel(NOW - timedelta(hours=1), tick=False):
        assert ticks(beat) == {"alerts", "polls"}


def test_after_that_each_is_started_in_its_turn(beat: Sending) -> None:
    with time_machine.travel(NOW + timedelta(seconds=16), tick=False):
        ticks(beat)
    with time_machine.travel(NOW - timedelta(hours=1), tick=False):
        ticks(beat)
        assert ticks(beat) == set()
    with time_machine.travel(NOW - timedelta(hours=1) + timedelta(seconds=16), tick=False):
        assert ticks(beat) == {"alerts", "polls"}


def test_the_site_runs_by_this_scheduler(settings) -> None:
    assert settings.CELERY_BEAT_SCHEDULER == "dashboard.beat:SteadyScheduler"
