"""Nothing is deleted by age before the clock has gone evenly for a day of work, and whoever looks is told."""

from datetime import timedelta

import pytest
from django.test import Client

from consumers.clock.status import clock_status, expiry_hold, hold_words
from consumers.clusters.pipeline_runs import late_evaluation
from consumers.models import ClockChange, PipelineRun
from consumers.queries.limits import Freshness, broker_ages, evaluated, limits
from dashboard.health import readiness
from dashboard.metrics.families import clock_families
from tests.alert_rows import an_evaluation
from tests.fake_clock import a_clock
from tests.world import NOW, a_broker, a_cluster, ago

HOUR = timedelta(hours=1)
AHEAD = "The clock of host-1 was ahead by 1 h until 2026-03-14 04:00:00 UTC, and was set back."

pytestmark = pytest.mark.django_db


def a_change(**fields: object) -> ClockChange:
    values = {"at": NOW, "before": NOW + HOUR, "machine": "host-1", "seconds": -3600.0, "measured": True, "files": 3}
    return ClockChange.objects.create(**(values | {"void": {"reading": 4, "incident": 1}} | fields))


def test_a_clock_that_was_never_watched_deletes_nothing() -> None:
    assert expiry_hold("boot-1") is not None


def test_a_clock_that_was_set_deletes_nothing_for_a_day_of_work() -> None:
    a_clock(steady_seconds=3600, doubt="changed")
    hold = expiry_hold("boot-1")
    assert hold is not None
    assert (
        hold_words(hold)
        == "The clock of host-1 was set: nothing is deleted by age until Consumerscope has run for another 23 h."
    )


def test_a_clock_that_went_evenly_for_a_day_deletes_what_is_old() -> None:
    a_clock(steady_seconds=86_400, doubt="changed")
    assert expiry_hold("boot-1") is None


def test_a_clock_that_was_ahead_is_told_with_what_it_means(client: Client) -> None:
    a_change()
    part = readiness(NOW).parts["clock"]
    assert part.well
    assert part.detail.startswith(AHEAD)
    assert "Times that had yet to come are void (5 rows, 3 files of history)" in part.detail


def test_a_change_is_told_for_a_day() -> None:
    a_change(at=NOW - timedelta(hours=25))
    assert clock_status(NOW).changes == []


def families() -> dict[str, list[object]]:
    return {family.name: list(family.samples) for family in clock_families(NOW)}


def test_a_clock_that_nobody_watches_has_no_metrics() -> None:
    assert list(families().values()) == [[], []]


def test_metrics_count_changes_and_what_is_left_of_the_hold() -> None:
    a_change()
    a_clock(steady_seconds=0)
    found = families()
    assert found["consumerscope_clock_changes"] == [((), 1)]
    assert found["consumerscope_expiry_held_seconds"] == [((), 86_400.0)]


@pytest.mark.parametrize("path", ["/", "/clusters/"])
def test_pages_tell_that_a_clock_was_ahead(admin_client: Client, path: str, time_machine) -> None:
    time_machine.move_to(NOW, tick=False)
    a_cluster()
    a_change()
    assert AHEAD in admin_client.get(path).text


def test_the_clusters_page_tells_that_nothing_is_deleted(admin_client: Client, time_machine) -> None:
    time_machine.move_to(NOW, tick=False)
    a_cluster()
    a_clock(steady_seconds=0, doubt="gap")
    page = admin_client.get("/clusters/").text
    assert "The clock of host-1 was not watched for more than a day: nothing is deleted" in page


def test_an_evaluation_of_a_time_to_come_tells_nothing_of_now() -> None:
    an_evaluation(NOW + HOUR)
    found = evaluated(NOW)
    assert (found.freshness, found.firing) == (Freshness.SILENT, None)


def test_a_run_up_to_a_time_to_come_keeps_no_evaluation_from_being_late() -> None:
    a_cluster()
    for until in (ago(7200), NOW + HOUR):
        PipelineRun.objects.create(since=until, until=until, started_at=until, finished_at=until)
    late = late_evaluation(NOW)
    assert late is not None
    assert late.since == ago(7200)


def test_a_broker_that_was_read_at_a_time_to_come_is_not_known() -> None:
    cluster = a_cluster()
    a_broker(cluster, last_read_at=NOW + HOUR)
    broker = broker_ages()[cluster.pk].brokers[0]
    assert (broker.unread_reason(NOW, limits()) or "").startswith("broker-a was read at a time in the future")
    assert broker.is_silent(NOW, limits())


def test_a_reading_of_a_time_to_come_is_not_the_newest() -> None:
    a_cluster(read_at=NOW + HOUR)
    assert not readiness(NOW).readings["prod"].well
