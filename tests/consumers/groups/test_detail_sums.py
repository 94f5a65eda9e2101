"""A group's page: its lag is the sum of the queues beside it, and each time says its own moment."""

from typing import Any

import pytest

from consumers.groups.detail import group_detail
from consumers.groups.rows import GroupDetail
from consumers.models import ConsumerGroup, GroupTotal, QueueSnapshot, QueueState
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
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    """Two queues and its retry queue: 30, 12 and 7 behind."""
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    for number, lag in ((0, 30), (1, 12)):
        queue = a_queue(cluster, "Orders", number)
        a_snapshot(group, queue, 100, 100 + lag)
        a_judged_queue(group, queue, time_lag_seconds=5.0 + number)
    a_snapshot(group, a_queue(cluster, "%RETRY%billing", kind="retry"), 0, 7)
    a_total(group, 49)
    a_judged_group(group, time_lag_seconds=6.0, drain_seconds=10.0)
    return group


def detail() -> GroupDetail:
    found = group_detail("prod", "billing", now=NOW)
    assert found is not None
    return found


def test_a_reading_that_is_half_recorded_leaves_the_parts_adding_up(group: ConsumerGroup) -> None:
    """Snapshots are written a moment before the total."""
    QueueSnapshot.objects.filter(queue__queue_id=1).update(broker_offset=392)
    found = detail()
    assert (found.lag_messages, found.lag_messages_at_least) == (329, 329)
    assert sum(topic.lag_messages or 0 for topic in found.topics) == 329
    assert sum(queue.lag_messages or 0 for queue in found.queue_rows) == 329


@pytest.mark.parametrize(
    ("total", "consumed", "expected"),
    [
        (0, 100, {"lag_messages": 49, "time_lag_seconds": None, "drain_seconds": None}),
        (49, None, {"lag_messages": 0, "time_lag_seconds": 0.0, "drain_seconds": None}),
    ],
    ids=["it has just begun to wait", "it has just caught up"],
)
def test_a_time_lag_is_zero_exactly_where_the_lag_is(
    group: ConsumerGroup, total: int, consumed: int | None, expected: dict[str, Any]
) -> None:
    GroupTotal.objects.update(lag_messages=total)
    if consumed is None:
        QueueSnapshot.objects.filter(broker_offset=130).update(consumer_offset=130)
        QueueSnapshot.objects.filter(broker_offset=112).update(consumer_offset=112)
        QueueSnapshot.objects.filter(broker_offset=7).update(consumer_offset=7)
    found = detail()
    assert {name: getattr(found, name) for name in expected} == expected


def test_a_total_that_is_not_known_stays_so(group: ConsumerGroup) -> None:
    GroupTotal.objects.update(lag_messages=None, unknown_reason="broker-b is silent")
    assert (detail().lag_messages, detail().unknown_reason) == (None, "broker-b is silent")


def test_a_time_lag_that_was_judged_is_of_the_judgement_and_zero_of_the_reading(group: ConsumerGroup) -> None:
    found = detail()
    assert (found.taken_at, found.time_lag_at) == (ago(5), ago(20))
    assert [topic.time_lag_at for topic in found.topics if topic.topic == "Orders"] == [ago(20)]
    QueueSnapshot.objects.filter(queue__queue_id=1).update(consumer_offset=112)
    at = {row.queue_id: row.time_lag_at for row in detail().queue_rows if row.topic == "Orders"}
    assert at == {0: ago(20), 1: ago(5)}


def test_what_consumes_faster_than_is_produced_is_not_said_to_drain_never(group: ConsumerGroup) -> None:
    group.judged.drain_seconds, group.judged.consume_rate = None, 13.0
    group.judged.save()
    assert detail().unknown["drain_seconds"] == "the lag is newer than the last evaluation"
    group.judged.consume_rate = 12.0
    group.judged.save()
    assert detail().unknown["drain_seconds"] == "messages are produced at least as fast as they are consumed"


@pytest.mark.parametrize("rule", ["caught_up", "within_threshold", "within_threshold_before"])
def test_a_group_that_keeps_up_has_nothing_to_drain(group: ConsumerGroup, rule: str) -> None:
    assert detail().drain_seconds == 10.0
    group.judged.rule = rule
    group.judged.save()
    found = detail()
    assert (found.drain_seconds, found.unknown["drain_seconds"]) == (None, "keeps up")


@pytest.mark.parametrize(
    ("forecast", "reason"),
    [
        ("none", "not expected: the time lag does not rise"),
        ("unknown", "the trend of the time lag, or the retention"),
        ("no_retention", "the message retention of a broker is unknown"),
        ("no_time_lag", "the time lag of a queue is unknown"),
        ("no_trend", "the trend of a queue's time lag is unknown"),
    ],
)
def test_without_a_time_to_expiry_it_says_whether_none_is_expected(
    group: ConsumerGroup, forecast: str, reason: str
) -> None:
    group.judged.expiry_forecast = forecast
    group.judged.save()
    found = detail()
    assert found.expires_unconsumed_seconds is None
    assert found.unknown["expires_unconsumed_seconds"].startswith(reason)


@pytest.mark.parametrize(("forecast", "is_at_most"), [("expected", False), ("at_most", True)])
def test_a_group_that_is_to_lose_messages_says_when_or_when_at_the_latest(
    group: ConsumerGroup, forecast: str, is_at_most: bool
) -> None:
    group.judged.expires_unconsumed_seconds, group.judged.expiry_forecast = 7200.0, forecast
    group.judged.save()
    found = detail()
    assert (found.expires_unconsumed_seconds, found.expires_unconsumed_at_most) == (7200.0, is_at_most)


@pytest.mark.parametrize("kind", ["at_least", "interpolated"])
def test_a_topic_s_time_lag_is_as_sure_as_the_least_sure_of_its_queues(group: ConsumerGroup, kind: str) -> None:
    orders = QueueState.objects.filter(group=group, queue__topic__name="Orders", time_lag_seconds__gt=0)
    orders.update(time_lag_kind="exact")
    QueueState.objects.filter(pk=orders.first().pk).update(time_lag_kind=kind)
    assert [topic.time_lag_kind for topic in detail().topics if topic.topic == "Orders"] == [kind]
