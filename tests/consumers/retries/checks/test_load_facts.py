"""From rows to facts: what is too old says nothing."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.models import Assignment, ConsumerGroup, GroupBroker
from consumers.retries.checks.condition_rows import ConditionName
from consumers.retries.checks.failing import conditions_of
from consumers.retries.checks.observed import group_facts
from tests.world import NOW, a_broker, a_client, a_cluster, a_dead_broker, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db

OPEN = {"permission": 6, "config_at": ago(20), "routed_permission": 6, "routed_at": ago(20)}
RETRY = "%RETRY%billing"


@pytest.fixture
def cluster():
    return a_cluster()


def a_config(group, broker="broker-a", **more):
    values = {"configured": True, "consume_enable": True, "retry_queue_nums": 1, "changed_at": ago(3600)}
    values |= {"retry_permissions": {RETRY: 6}, "retry_read_queues": 1, "dlq_permission": 6}
    return GroupBroker.objects.create(group=group, broker=broker, **(values | more))


def a_world(cluster, **broker):
    a_broker(cluster, **(OPEN | broker))
    group = a_group(cluster, subscriptions=[{"topic": "Orders"}, {"topic": RETRY}])
    a_snapshot(group, a_queue(cluster), 5, 10)
    a_config(group)
    return group


def of_broker(name="broker-a"):
    [found] = [broker for broker in group_facts("prod", "billing", NOW).brokers if broker.name == name]
    return found


def test_it_brings_what_each_broker_says_of_the_group(cluster):
    a_world(cluster)
    broker = of_broker()
    assert (broker.holds, broker.has_master, broker.unread) == (True, True, None)
    assert (broker.permission.has(2), broker.routed.has(2)) == (True, True)
    assert (broker.group.retry_queue_nums, broker.group.retry_permission, broker.group.read_queues) == (1, 6, 1)


def test_a_broker_that_cannot_be_read_says_nothing(cluster):
    group = a_world(cluster)
    a_dead_broker(cluster)
    a_config(group, "broker-b")
    broker = of_broker("broker-b")
    assert broker.group is None
    assert "connection refused" in broker.unread
    assert (broker.permission.has(2), broker.has_master) == (None, None)


def test_a_broker_that_never_said_how_it_is_set_for_the_group_is_not_known(cluster):
    a_world(cluster)
    GroupBroker.objects.all().delete()
    assert "has not reported its configuration" in of_broker().unread


@pytest.mark.parametrize(
    ("sentence", "broker", "known"),
    [
        ("young", {"config_at": ago(100)}, True),
        ("too old", {"config_at": ago(200)}, None),
        ("never read", {"permission": None, "config_at": None}, None),
        ("refused lately, but young", {"config_error": "no permission", "config_at": ago(30)}, True),
    ],
)
def test_a_permission_counts_while_it_is_young(cluster, sentence, broker, known):
    a_world(cluster, **broker)
    assert of_broker().permission.has(2) is known
    assert (of_broker().permission.unknown is None) == (known is not None)


def test_a_slave_that_answers_proves_that_the_master_is_down(cluster):
    a_world(cluster, read_from="127.0.0.1:20911")
    assert of_broker().has_master is False


def test_an_online_group_needs_only_the_brokers_of_what_it_subscribes_to(cluster):
    group = a_world(cluster)
    a_broker(cluster, "broker-b", **OPEN)
    a_snapshot(group, a_queue(cluster, "Retired", broker="broker-b"), 5, 10)
    assert of_broker("broker-b").holds is False
    ConsumerGroup.objects.update(online=False)
    assert of_broker("broker-b").holds is True


@pytest.mark.parametrize(("dropped", "held"), [(False, 1), (None, 1), (True, 0)])
def test_a_queue_is_held_unless_its_member_says_that_it_dropped_it(cluster, dropped, held):
    group = a_world(cluster)
    a_client(group, running_info_at=ago(10), settings={"consumeTimeout": "15"}, orderly=False)
    times = {"seen_since": ago(60), "last_seen": ago(10), "head_since": ago(30)}
    Assignment.objects.create(
        group=group, queue=a_queue(cluster), client_id="c", cached_min=7, dropped=dropped, **times
    )
    assert len(group_facts("prod", "billing", NOW).held) == held


def test_it_brings_the_messages_that_members_hold(cluster):
    group = a_world(cluster)
    a_client(group, running_info_at=ago(10), settings={"consumeTimeout": "15"}, orderly=False)
    queue = a_queue(cluster)
    times = {"seen_since": ago(60), "last_seen": ago(10), "head_since": ago(30)}
    Assignment.objects.create(group=group, queue=queue, client_id="c", cached_min=7, dropped=False, **times)
    [held] = group_facts("prod", "billing", NOW).held
    assert (held.place, held.held_min, held.min_offset, held.head_since) == ("Orders/broker-a/0", 7, 0, ago(30))


def test_all_of_it_takes_the_same_queries_whatever_there_is(cluster):
    group = a_world(cluster)

    def queries():
        with CaptureQueriesContext(connection) as captured:
            conditions_of("prod", "billing", NOW)
        return len(captured)

    before = queries()
    for number in range(20):
        a_broker(cluster, f"broker-{number}", **OPEN)
        a_config(group, f"broker-{number}")
        a_client(group, f"c{number}")
        a_snapshot(group, a_queue(cluster, queue_id=number + 1), 5, 10)
    assert queries() == before <= 14


def test_a_healthy_group_has_nothing_that_fails(cluster):
    group = a_world(cluster)
    settings = {"consumeTimeout": "15", "consumeMessageBatchMaxSize": "1", "maxReconsumeTimes": "-1"}
    a_client(group, running_info_at=ago(10), settings=settings, orderly=False, pop_queues=[])
    assert {condition.ok for condition in conditions_of("prod", "billing", NOW)} == {True}


def test_a_group_that_does_not_exist_is_said_to_be_so(cluster):
    with pytest.raises(ConsumerGroup.DoesNotExist):
        conditions_of("prod", "nobody", NOW)


def test_silently_discarded_messages_come_first(cluster):
    a_world(cluster)
    GroupBroker.objects.update(retry_queue_nums=0)
    first = conditions_of("prod", "billing", NOW)[0]
    assert (first.name, first.brokers, first.as_of) == (ConditionName.KEPT, ["broker-a"], ago(5))


def test_members_that_were_listed_too_long_ago_are_unknown(cluster):
    group = a_world(cluster)
    a_client(group)
    assert group_facts("prod", "billing", NOW).membership_unknown is None
    ConsumerGroup.objects.update(membership_at=ago(4000))
    why = "not every broker has reported the group's members since 2026-03-14 01:53:20 UTC"
    assert group_facts("prod", "billing", NOW).membership_unknown == why
