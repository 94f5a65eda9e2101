"""A broker that was taken out of its cluster for good is down for ever, until somebody says that it is gone."""

import pytest

from consumers.alerts.measures.registry import measured
from consumers.groups.overlay import Overlay
from consumers.models import Broker, Cluster, DeadLetterLook, GroupBroker, Measure, PipelineRun, Queue, QueueSnapshot
from consumers.polling import poll
from consumers.polling.record.lost_offsets import BrokerStays, forget_broker
from tests.alert_rows import a_rule
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    """Its group has a queue on a broker that is read, and one on a broker that is gone."""
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster, "broker-b", since=ago(86400))
    group = a_group(cluster)
    for broker in ("broker-a", "broker-b"):
        a_snapshot(group, a_queue(cluster, broker=broker), 1, 5)
        GroupBroker.objects.create(group=group, broker=broker, configured=True, changed_at=ago(90000))
    DeadLetterLook.objects.create(group=group, broker="broker-b", queue_id=0, looked_at=ago(90000), error="timed out")
    a_total(group, 4)
    a_judged_group(group, time_lag_seconds=30.0)
    PipelineRun.objects.create(since=ago(60), until=ago(20), started_at=ago(20), finished_at=ago(10))
    return cluster


def test_its_groups_are_known_again_and_no_rule_looks_at_it_any_more(cluster: Cluster) -> None:
    rules = [a_rule(), a_rule("dead", measure=Measure.BROKER_UNREAD, threshold=120)]
    before = measured(NOW, rules)
    assert (before.groups.columns[Measure.TIME_LAG].values, len(before.brokers.subjects)) == ([None], 2)
    assert forget_broker(cluster, "broker-b") == 1
    after = measured(NOW, rules)
    assert after.groups.columns[Measure.TIME_LAG].values == [30.0]
    assert [subject.broker for subject in after.brokers.subjects] == ["broker-a"]
    assert Overlay.at(NOW).everything_is_read


def test_nothing_of_it_stays_and_all_of_the_others_does(cluster: Cluster) -> None:
    a_queue(another := a_cluster("staging"), broker="broker-b")
    a_dead_broker(another, "broker-b")
    forget_broker(cluster, "broker-b")
    assert list(Broker.objects.order_by("name").values_list("cluster__name", "name")) == [
        ("prod", "broker-a"),
        ("staging", "broker-b"),
    ]
    assert sorted(Queue.objects.values_list("topic__cluster__name", "broker")) == [
        ("prod", "broker-a"),
        ("staging", "broker-b"),
    ]
    assert list(QueueSnapshot.objects.values_list("queue__broker", flat=True)) == ["broker-a"]
    assert list(GroupBroker.objects.values_list("broker", flat=True)) == ["broker-a"]
    assert not DeadLetterLook.objects.exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("broker-a", "broker-a was read when it was asked last: only a broker that does not answer can be forgotten."),
        ("broker-z", "prod has no broker 'broker-z': it has broker-a, broker-b."),
    ],
)
def test_one_that_is_read_and_one_that_is_not_known_are_refused(cluster: Cluster, name: str, sentence: str) -> None:
    with pytest.raises(BrokerStays, match=f"^{sentence}$"):
        forget_broker(cluster, name)
    assert Broker.objects.count() == 2


def test_one_that_was_never_read_can_be_forgotten(cluster: Cluster) -> None:
    a_broker(cluster, "broker-c", last_read_at=None)
    forget_broker(cluster, "broker-c")
    assert Broker.objects.count() == 2


def test_a_process_that_polls_forgets_it_too(cluster: Cluster) -> None:
    try:
        first = poll.poller_of("prod")
        assert sorted(first.memory.brokers) == ["broker-a", "broker-b"]
        assert poll.poller_of("prod") is first
        forget_broker(cluster, "broker-b")
        second = poll.poller_of("prod")
        assert (second is first, sorted(second.memory.brokers)) == (False, ["broker-a"])
        assert second.recorder.stored.brokers.distinct() == ["broker-a"]
    finally:
        poll._pollers.pop("prod").close()
