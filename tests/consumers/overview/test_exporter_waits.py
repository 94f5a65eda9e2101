"""How long the first message waits, by group, topic and broker: the longest of what REST says of the queues."""

from datetime import datetime
from typing import Any

import pytest

from consumers.groups.detail import queue_list
from consumers.groups.gauges import group_gauges
from consumers.groups.overlay import Overlay
from consumers.models import ConsumerGroup, GroupState, QueueSample, QueueState
from consumers.overview.exporter import exporter_groups, part_waits, topic_parts
from consumers.vocabulary.states import UnknownReason
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
    first_stored,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_total(group, 40)
    a_judged_group(group)
    return group


def behind(
    group: ConsumerGroup, queue_id: int, seconds: float | None, *offsets: int, stored_at: datetime | None = None
) -> None:
    consumer, end = offsets or (60, 100)
    queue = a_queue(group.cluster, queue_id=queue_id)
    a_snapshot(group, queue, consumer, end)
    a_judged_queue(group, queue, time_lag_seconds=seconds)
    if stored_at is not None:
        QueueSample.objects.create(group=group, queue=queue, offset=60, first_stored_at=stored_at, asked_at=ago(5))


def wait_of(group: ConsumerGroup) -> float | None:
    wait = part_wait(group)
    shown: list[Any] = [queue.time_lag_seconds for queue in queue_list("prod", "billing", now=NOW)]
    assert wait == (None if None in shown or not shown else max(shown))
    return wait


def test_the_longest_of_the_queues_counts(group: ConsumerGroup) -> None:
    for queue_id, seconds in enumerate((5.0, 61.5, 30.0)):
        behind(group, queue_id, seconds)
    assert wait_of(group) == 61.5


def test_a_queue_without_lag_waits_for_nothing(group: ConsumerGroup) -> None:
    behind(group, 0, 99.0, 100, 100)
    assert wait_of(group) == 0


@pytest.mark.parametrize("seconds", [None, 0.0])
def test_a_lag_that_the_judgement_does_not_tell_makes_it_unknown(group: ConsumerGroup, seconds: float | None) -> None:
    behind(group, 0, 5.0)
    behind(group, 1, seconds)
    assert wait_of(group) is None


def test_a_lag_that_is_newer_than_the_judgement_waits_as_polls_tell(group: ConsumerGroup) -> None:
    behind(group, 0, 5.0)
    behind(group, 1, 0.0)
    group.snapshots.filter(queue__queue_id=1).update(**first_stored(12.5))
    assert wait_of(group) == 7.5


@pytest.mark.parametrize(("stored_at", "wait"), [(ago(125), 120.0), (ago(-5), 7.0)])
def test_a_store_time_that_the_broker_gave_goes_before_the_judgement(
    group: ConsumerGroup, stored_at: datetime, wait: float
) -> None:
    behind(group, 0, 7.0, stored_at=stored_at)
    assert wait_of(group) == wait


def test_a_store_time_of_another_offset_says_nothing(group: ConsumerGroup) -> None:
    behind(group, 0, 7.0, 61, 100, stored_at=ago(125))
    assert wait_of(group) == 7.0


def test_a_judgement_of_long_ago_says_nothing(group: ConsumerGroup) -> None:
    behind(group, 0, 7.0)
    for model in (GroupState, QueueState):
        model.objects.update(judged_at=ago(9000))
    assert wait_of(group) is None


def part_wait(group: ConsumerGroup) -> float | None:
    overlay, cluster = Overlay.at(NOW), group.cluster
    groups = exporter_groups(overlay, group_gauges(overlay, cluster.name))
    parts = topic_parts(cluster.pk, groups, {"broker-a"}, {"broker-a"})
    return part_waits(overlay, cluster.pk, groups, parts).get((group.pk, "Orders", "broker-a"))


def test_a_lower_bound_is_no_wait(group: ConsumerGroup) -> None:
    """The name of the exporter has no place for what a bound is."""
    behind(group, 0, 7.0)
    behind(group, 1, 5.0)
    QueueState.objects.filter(time_lag_seconds=5.0).update(time_lag_kind="at_least")
    assert part_wait(group) is None


def test_a_store_time_that_the_broker_gave_is_no_bound(group: ConsumerGroup) -> None:
    behind(group, 0, 7.0, stored_at=ago(125))
    QueueState.objects.update(time_lag_kind="at_least")
    assert part_wait(group) == 120.0


def test_a_queue_that_was_never_committed_is_no_wait(group: ConsumerGroup) -> None:
    a_snapshot(group, a_queue(group.cluster), None, 100, unknown_reason=UnknownReason.NEVER_COMMITTED)
    assert wait_of(group) is None
