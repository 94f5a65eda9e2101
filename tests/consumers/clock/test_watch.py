"""A clock that is set is noticed by the uptime, or by what is recorded ahead of it; what it recorded is put right."""

from datetime import timedelta

import pytest

from consumers.clock.watch import watch
from consumers.lake.store import Lake
from consumers.models import AlertEngine, ClockChange, MachineClock, PipelineRun, Reading
from tests.fake_clock import DAY, SettableMachine, a_clock
from tests.world import NOW, a_cluster, a_reading

HOUR = timedelta(hours=1)

pytestmark = pytest.mark.django_db


@pytest.fixture
def lake(tmp_path) -> Lake:
    return Lake.at(str(tmp_path / "lake"))


@pytest.fixture
def watched(lake: Lake) -> SettableMachine:
    """A machine whose clock was watched for a day, up to now."""
    found = SettableMachine(NOW - timedelta(days=1))
    watch(found.machine(), lake)
    found.pass_by(DAY)
    watch(found.machine(), lake)
    return found


def row() -> MachineClock:
    return MachineClock.objects.get(boot="boot-1")


def test_a_clock_that_goes_as_the_uptime_does_has_not_changed(watched: SettableMachine) -> None:
    assert not ClockChange.objects.exists()
    assert row().steady_seconds == pytest.approx(DAY)


def test_a_watch_soon_after_another_writes_nothing(watched: SettableMachine, lake: Lake) -> None:
    watched.pass_by(5)
    watch(watched.machine(), lake)
    assert row().seen_at < watched.at - timedelta(seconds=4)


def test_a_clock_that_ntp_sets_by_some_seconds_has_not_changed(watched: SettableMachine, lake: Lake) -> None:
    watched.set_by(timedelta(seconds=-30))
    watched.pass_by(15)
    watch(watched.machine(), lake)
    assert not ClockChange.objects.exists()


def test_a_clock_that_was_ahead_by_an_hour_and_is_corrected_is_told_once(watched: SettableMachine, lake: Lake) -> None:
    watched.set_by(-HOUR)
    for _ in range(3):
        watched.pass_by(15)
        watch(watched.machine(), lake)
    change = ClockChange.objects.get()
    assert (change.machine, change.measured) == ("host-1", True)
    assert change.seconds == pytest.approx(-3600, abs=1)
    assert change.at == pytest.approx(NOW - HOUR + timedelta(seconds=15), abs=timedelta(seconds=1))


def test_rules_are_evaluated_at_once_after_the_correction(watched: SettableMachine, lake: Lake) -> None:
    AlertEngine.objects.create(pk=1, evaluated_at=NOW)
    watched.set_by(-HOUR)
    watch(watched.machine(), lake)
    assert AlertEngine.objects.get().evaluated_at is None


def test_readings_and_runs_of_times_that_have_yet_to_come_are_void(watched: SettableMachine, lake: Lake) -> None:
    cluster = a_cluster(read_at=NOW - 2 * HOUR, checked_at=None)
    a_reading(cluster, NOW)
    span = {"since": NOW - timedelta(minutes=1), "started_at": NOW, "finished_at": NOW}
    PipelineRun.objects.create(until=NOW, **span)
    watched.set_by(-HOUR)
    watch(watched.machine(), lake)
    assert Reading.objects.get().taken_at == NOW - 2 * HOUR
    assert not PipelineRun.objects.exists()
    assert ClockChange.objects.get().void == {"reading": 1, "pipelinerun": 1}


def test_a_clock_that_is_set_forward_by_three_days_changes_no_row(watched: SettableMachine, lake: Lake) -> None:
    AlertEngine.objects.create(pk=1, evaluated_at=NOW)
    watched.set_by(timedelta(days=3))
    watch(watched.machine(), lake)
    change = ClockChange.objects.get()
    assert (round(change.seconds), change.void) == (3 * 86_400, {})
    assert AlertEngine.objects.get().evaluated_at == NOW


def test_a_clock_that_was_changed_is_steady_for_no_time(watched: SettableMachine, lake: Lake) -> None:
    watched.set_by(timedelta(days=3))
    watch(watched.machine(), lake)
    assert (row().steady_seconds, row().doubt) == (0, "changed")


def test_a_machine_that_slept_has_not_changed_its_clock(watched: SettableMachine, lake: Lake) -> None:
    watched.pass_by(21 * DAY)
    watch(watched.machine(), lake)
    assert not ClockChange.objects.exists()
    assert row().steady_seconds == pytest.approx(22 * DAY)


def test_a_machine_that_is_started_again_within_a_day_is_trusted_as_before(lake: Lake) -> None:
    a_clock("boot-1", seen_at=NOW - timedelta(hours=14))
    watch(SettableMachine(NOW).machine("boot-2"), lake)
    assert MachineClock.objects.get(boot="boot-2").steady_seconds == 2 * DAY


def test_a_machine_that_was_off_for_weeks_is_watched_anew(lake: Lake) -> None:
    a_clock("boot-1", seen_at=NOW - timedelta(days=21))
    watch(SettableMachine(NOW).machine("boot-2"), lake)
    found = MachineClock.objects.get()
    assert (found.boot, found.steady_seconds, found.doubt) == ("boot-2", 0, "gap")


def test_what_was_recorded_ahead_before_a_restart_is_put_right_after_a_minute(lake: Lake) -> None:
    a_clock("boot-1", seen_at=NOW + HOUR)
    AlertEngine.objects.create(pk=1, evaluated_at=NOW + HOUR)
    found = SettableMachine(NOW)
    for _ in range(5):
        watch(found.machine("boot-2"), lake)
        assert AlertEngine.objects.get().evaluated_at == NOW + HOUR
        found.pass_by(15)
    watch(found.machine("boot-2"), lake)
    assert AlertEngine.objects.get().evaluated_at is None
    assert ClockChange.objects.get().measured is False


def test_what_another_machine_goes_on_recording_ahead_stays_and_the_clocks_are_in_doubt(lake: Lake) -> None:
    behind, ahead = SettableMachine(NOW), SettableMachine(NOW + HOUR)
    for _ in range(20):
        for one, boot in ((behind, "boot-1"), (ahead, "boot-2")):
            watch(one.machine(boot), lake)
            one.pass_by(15)
    assert not ClockChange.objects.exists()
    found = MachineClock.objects.get(boot="boot-2")
    assert (found.doubt, found.steady_seconds < 60) == ("differs", True)


def test_a_lake_that_is_away_keeps_no_rule_from_being_evaluated(
    watched: SettableMachine, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    AlertEngine.objects.create(pk=1, evaluated_at=NOW)

    def away(*_: object) -> int:
        raise OSError("the mount is gone")

    with monkeypatch.context() as gone:
        gone.setattr("consumers.clock.watch.set_future_aside", away)
        watched.set_by(-HOUR)
        watch(watched.machine(), lake)
    assert (AlertEngine.objects.get().evaluated_at, ClockChange.objects.get().files) == (None, None)
    watched.pass_by(15)
    watch(watched.machine(), lake)
    assert ClockChange.objects.get().files == 0
