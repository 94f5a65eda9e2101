"""Times in which nobody saw what members did."""

import pytest

from consumers.models import PipelineRun
from consumers.rebalances.flapping import flapping_of
from consumers.rebalances.unwatched import unwatched_spans
from tests.rebalance_rows import a_rebalance, read_every, was_watched
from tests.world import NOW, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db
HOUR, DAY = 3600, 86400


@pytest.fixture
def billing():
    group = a_group(a_cluster())
    a_snapshot(group, a_queue(group.cluster), 1, 2)
    return group


def spans(group, seconds=HOUR):
    return unwatched_spans({group.pk}, ago(seconds), NOW).get(group.pk, [])


def test_a_group_that_was_always_read_and_evaluated_has_none(billing):
    was_watched(billing.cluster, HOUR)
    assert spans(billing) == []


def test_the_time_before_the_first_reading_is_one(billing):
    was_watched(billing.cluster, 300)
    assert spans(billing) == [(ago(HOUR), ago(300))]


def test_an_outage_of_readings_is_one(billing):
    was_watched(billing.cluster, HOUR)
    read_every(15, billing.cluster, 2400, 15, error="refused")
    assert spans(billing) == [(ago(2415), ago(5))]


def test_an_outage_of_a_broker_that_holds_queues_of_the_group_is_one(billing):
    was_watched(billing.cluster, HOUR)
    for seconds, until, is_read in ((HOUR, 2415, True), (2400, 615, False), (600, 0, True)):
        broker = {"name": "broker-a", "read": is_read, "error": None}
        read_every(15, billing.cluster, seconds, until, brokers=[broker])
    assert spans(billing) == [(ago(2415), ago(600))]
    stranger = a_group(billing.cluster, "stranger")
    assert spans(stranger) == []


def test_a_pause_of_evaluations_that_no_run_made_up_for_is_one(billing):
    was_watched(billing.cluster, DAY)
    PipelineRun.objects.all().delete()
    for since, until in ((DAY, 30000), (20000, 15)):
        times = {"started_at": ago(until), "finished_at": ago(until - 5)}
        PipelineRun.objects.create(since=ago(since), until=ago(until), **times)
    assert spans(billing, DAY) == [(ago(30000), ago(20000))]
    assert spans(billing) == []


@pytest.mark.parametrize("fields", [{"error": "failed"}, {"finished_at": None}], ids=["failed", "goes on"])
def test_a_run_that_did_not_succeed_evaluated_nothing(billing, fields):
    was_watched(billing.cluster, HOUR)
    PipelineRun.objects.update(**fields)
    assert spans(billing) == [(ago(HOUR), NOW)]


def test_counts_of_unstable_groups_are_lower_bounds_then(billing):
    was_watched(billing.cluster, 7200)
    a_rebalance(billing, ago(600))
    found = flapping_of("prod", "billing", NOW)
    assert (found.is_hour_partial, found.is_day_partial) == (False, True)
