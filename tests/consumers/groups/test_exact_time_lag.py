"""The time lag of a queue whose first unconsumed message a broker gave the store time of."""

import pytest

from consumers.groups.detail import queue_list
from consumers.models import QueueSample, TimeLagKind
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    ago,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    """Read 5 s ago; judged 20 s ago as 30 s behind."""
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_judged_group(group)
    queue = a_queue(cluster)
    a_snapshot(group, queue, 90, 100)
    a_judged_queue(group, queue, time_lag_seconds=30.0, time_lag_kind="interpolated", time_lag_error_seconds=20.0)
    return group


def sampled(group, **fields):
    values = {"offset": 90, "first_stored_at": ago(125), "asked_at": ago(60)}
    QueueSample.objects.create(group=group, queue=a_queue(group.cluster), **values | fields)


def shown():
    [row] = queue_list("prod", "billing", now=NOW)
    return row.time_lag_seconds, row.time_lag_kind, row.time_lag_error_seconds


JUDGED = (30.0, TimeLagKind.INTERPOLATED, 20.0)


def test_it_counts_from_the_store_time_to_the_reading(group):
    sampled(group)
    assert shown() == (120.0, TimeLagKind.EXACT, 1.0)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"offset": 89}, "the group has gone on"),
        ({"offset": 91}, "the group was set back"),
        ({"first_stored_at": None, "first_error": "expired"}, "there was no answer"),
        ({"first_stored_at": ago(5)}, "stored at the moment of the reading"),
        ({"first_stored_at": ago(1)}, "stored after the reading: two clocks"),
        ({"offset": None, "start_offset": 0}, "a sample of another kind"),
    ],
)
def test_without_an_answer_about_this_offset_the_judgement_stands(group, fields, why):
    sampled(group, **fields)
    assert shown() == JUDGED, why


def test_it_is_known_before_anything_was_judged(group):
    sampled(group)
    group.queue_states.all().delete()
    assert shown() == (120.0, TimeLagKind.EXACT, 1.0)


def test_no_lag_is_no_time_lag_whatever_was_asked(group):
    sampled(group)
    group.snapshots.update(broker_offset=90)
    assert shown() == (0.0, TimeLagKind.EXACT, 0.0)


def test_it_is_unknown_with_its_broker(group):
    sampled(group)
    group.cluster.brokers.all().delete()
    a_dead_broker(group.cluster, "broker-a")
    assert shown() == (None, TimeLagKind.UNKNOWN, None)


def test_where_the_history_does_not_tell_either_the_broker_s_reason_stands_beside_it(group):
    sampled(group, first_stored_at=None, first_error="the message at 90 has expired")
    group.queue_states.update(time_lag_seconds=None, time_lag_kind="unknown")
    [row] = queue_list("prod", "billing", now=NOW)
    reason = "the evaluated range does not contain the answer; the message at 90 has expired"
    assert (row.time_lag_seconds, row.unknown["time_lag_seconds"]) == (None, reason)
