"""Which heads are looked up in a reading, and how long a row of one lasts."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from consumers.models import Assignment, Cluster, ConsumerGroup, HeadMessage, Queue, QueueSnapshot, Topic
from consumers.polling.heads import (
    HeadAnswer,
    HeadLimits,
    HeadPoller,
    due_heads,
    forget_heads,
    groups_with_unfinished_heads,
    record_heads,
)
from tests.readings import T0, at, broker, reading

pytestmark = pytest.mark.django_db

NOW = at(600)
LIMITS = HeadLimits(seconds=45, calls=10)
FOUND = HeadAnswer("7F01", None, "order-7", None, 0, 2, T0, T0)
FAILED = HeadAnswer(error="timed out")


@pytest.fixture
def cluster():
    return Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)


@pytest.fixture
def hold(cluster):
    topic = Topic.objects.create(cluster=cluster, name="Stock", kind="normal", first_seen_at=T0)
    group = ConsumerGroup.objects.create(cluster=cluster, name="stock", kind="user", first_seen_at=T0)

    def hold(queue_id, since, *, offset=100, consumer_offset=100, told=590, **more):
        queue = Queue.objects.create(topic=topic, broker="broker-a", queue_id=queue_id, first_seen_at=T0)
        QueueSnapshot.objects.create(group=group, queue=queue, consumer_offset=consumer_offset, changed_at=T0)
        times = {"seen_since": T0, "last_seen": at(told), "head_since": at(since)}
        return Assignment.objects.create(
            group=group, queue=queue, client_id="c1", cached_min=offset, **{**times, **more}
        )

    return hold


def due(cluster, now=NOW, limits=LIMITS, brokers=("broker-a",)):
    return due_heads(cluster, brokers, limits, now)


def test_the_longest_standing_heads_are_looked_up_first(cluster, hold):
    for queue_id, since in enumerate([300, 100, 200]):
        hold(queue_id, since)
    assert [head.broker_queue for head in due(cluster)] == [1, 2, 0]


def test_each_costs_two_calls_of_the_budget(cluster, hold):
    for queue_id in range(3):
        hold(queue_id, 100)
    assert [len(due(cluster, limits=replace(LIMITS, calls=calls))) for calls in (0, 1, 2, 5, 6)] == [0, 0, 1, 2, 3]


@pytest.mark.parametrize(
    "held",
    [
        {"since": 556},
        {"since": 590},
        {"since": 100, "gone_by": at(590)},
        {"since": 100, "consumer_offset": 101},
    ],
    ids=["too young", "seen once", "gone", "finished since"],
)
def test_what_is_not_known_to_stand_is_left_alone(cluster, hold, held):
    hold(0, **held)
    assert due(cluster) == []


def test_a_broker_that_is_not_read_is_not_asked(cluster, hold):
    hold(0, 100)
    assert due(cluster, brokers=["broker-b"]) == due(cluster, brokers=[]) == []


@pytest.mark.parametrize(("answer", "later", "is_due"), [(FOUND, 3600, False), (FAILED, 59, False), (FAILED, 60, True)])
def test_a_head_is_looked_up_once_and_again_a_minute_after_a_failure(cluster, hold, answer, later, is_due):
    hold(0, 100)
    record_heads(due(cluster), [answer], NOW)
    assert bool(due(cluster, now=at(600 + later))) is is_due


def test_what_failed_comes_after_what_was_never_asked(cluster, hold):
    hold(0, 100)
    record_heads(due(cluster), [FAILED], NOW)
    hold(1, 200, told=650)
    assert [head.broker_queue for head in due(cluster, now=at(660))] == [1, 0]


def test_another_head_takes_the_row_of_the_last_one(cluster, hold):
    held = hold(0, 100)
    record_heads(due(cluster), [FOUND], NOW)
    Assignment.objects.filter(pk=held.pk).update(cached_min=101, head_since=at(500))
    QueueSnapshot.objects.update(consumer_offset=101)
    record_heads(due(cluster), [FAILED], at(610))
    row = HeadMessage.objects.get()
    assert (row.offset, row.since, row.keys, row.error) == (101, at(500), None, "timed out")


@pytest.mark.parametrize("change", [{"cached_min": 101}, {"cached_min": None}, {"gone_by": NOW}])
def test_a_row_goes_when_its_member_is_past_the_message(cluster, hold, change):
    hold(0, 100)
    record_heads(due(cluster), [FOUND], NOW)
    forget_heads(cluster)
    assert HeadMessage.objects.count() == 1
    Assignment.objects.update(**change)
    forget_heads(cluster)
    assert HeadMessage.objects.count() == 0


def test_groups_with_a_standing_head_are_asked_out_of_turn(cluster, hold):
    assert groups_with_unfinished_heads(cluster, 45, NOW) == frozenset()
    hold(0, 100)
    hold(1, 100)
    assert groups_with_unfinished_heads(cluster, 45, NOW) == {"stock"}
    other = Cluster.objects.create(name="other", namesrv="127.0.0.1:9876", created_at=T0)
    assert groups_with_unfinished_heads(other, 45, NOW) == frozenset()


class NoWire:
    """Where nothing is due, nobody is asked."""

    pool = SimpleNamespace(calls=7)

    def run(self, work):
        raise AssertionError("nobody was to be asked")


def test_a_reading_without_standing_heads_asks_nobody(cluster):
    poller = HeadPoller(cluster, LIMITS)
    assert poller.poll(NoWire(), reading(0, broker("broker-a")), NOW, 1.0) == {"looked_up": 0, "calls": 0}
