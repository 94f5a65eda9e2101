"""What each broker says of each group: written where it differs, and nowhere else."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.models import Cluster, ConsumerGroup, GroupBroker
from consumers.polling.record.brokers import Configured, GroupBrokers, record_group_config
from consumers.polling.record.keyed_rows import EntityIds
from consumers.rocketmq.bodies.config_bodies import GroupConfig, RetryPolicy, TopicConfig
from tests.readings import T0, at, broker, reading

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster():
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    for name, kind in (("billing", "user"), ("audit", "user"), ("CID_RMQ_SYS_TRANS", "system")):
        ConsumerGroup.objects.create(cluster=cluster, name=name, kind=kind, first_seen_at=T0)
    return cluster


def config(name, **more):
    values = dict.fromkeys(GroupConfig.__dataclass_fields__) | {"consume_enable": True, "retry_queue_nums": 1}
    return GroupConfig(**(values | {"name": name} | more))


def topic(name, perm=6, queues=1):
    return TopicConfig(name, queues, queues, perm, order=False, attributes=None)


def part(name, groups, topics=(), **more):
    return replace(broker(name), groups=tuple(groups), topics=tuple(topics), **more)


def record(cluster, *readings):
    """Every reading is recorded by what the one before remembers."""
    remembered = GroupBrokers.of(cluster)
    for each in readings:
        remembered.record(cluster, EntityIds.of(cluster), each)


def row(group, broker_name="broker-a"):
    return GroupBroker.objects.get(group__name=group, broker=broker_name)


def test_it_keeps_what_the_broker_says_of_a_group(cluster):
    policy = RetryPolicy("CUSTOMIZED", (1000, 5000), None, None, None)
    said = config("billing", retry_max_times=3, orderly=False, consume_timeout_minutes=15, retry_policy=policy)
    record(cluster, reading(0, part("broker-a", [said])))
    billing = row("billing")
    assert (billing.configured, billing.consume_enable, billing.retry_max_times) == (True, True, 3)
    assert (billing.orderly, billing.consume_timeout_minutes, billing.broadcast_enable) == (False, 15, None)
    assert billing.retry_policy == {
        "kind": "CUSTOMIZED",
        "delays_ms": [1000, 5000],
        "initial_ms": None,
        "max_ms": None,
        "multiplier": None,
    }


def test_a_group_that_the_broker_does_not_know_has_a_row_that_says_so(cluster):
    record(cluster, reading(0, part("broker-a", [config("billing")])))
    audit = row("audit")
    assert (audit.configured, audit.retry_queue_nums, audit.consume_enable) == (False, None, None)


def test_a_group_that_the_broker_lost_is_no_longer_configured(cluster):
    record(cluster, reading(0, part("broker-a", [config("billing")])), reading(60, part("broker-a", [])))
    assert (row("billing").configured, row("billing").changed_at) == (False, at(60))


def test_system_groups_have_no_row(cluster):
    record(cluster, reading(0, part("broker-a", [config("CID_RMQ_SYS_TRANS")])))
    assert set(GroupBroker.objects.values_list("group__name", flat=True)) == {"billing", "audit"}


def test_a_reading_without_the_configuration_leaves_the_rows(cluster):
    unread = reading(15, broker("broker-a"))
    record(cluster, reading(0, part("broker-a", [config("billing")])), unread)
    assert row("billing").configured


def test_a_broker_that_failed_keeps_its_rows(cluster):
    failed = reading(15, broker("broker-a", error="connection refused"))
    record(cluster, reading(0, part("broker-a", [config("billing")])), failed)
    assert row("billing").configured


@pytest.mark.parametrize(("error", "brokers"), [(None, {"broker-a"}), ("no name server", {"broker-a", "broker-b"})])
def test_a_broker_that_is_gone_loses_its_rows_unless_the_list_of_brokers_was_not_read(cluster, error, brokers):
    both = reading(0, part("broker-a", [config("billing")]), part("broker-b", [config("billing")]))
    one = replace(reading(60, part("broker-a", [config("billing")])), error=error)
    record(cluster, both, one)
    assert set(GroupBroker.objects.values_list("broker", flat=True)) == brokers


def test_permissions_of_its_retry_topics_of_either_naming_and_of_its_dead_letters_are_kept(cluster):
    topics = [topic("Orders"), topic("%RETRY%billing", 6), topic("%RETRY%billing_Orders", 4), topic("%DLQ%billing", 2)]
    record(cluster, reading(0, part("broker-a", [config("billing")], [*topics, topic("%RETRY%billing+Orders", 7)])))
    assert row("billing").retry_permissions == {
        "%RETRY%billing": 6,
        "%RETRY%billing_Orders": 4,
        "%RETRY%billing+Orders": 6,
    }
    assert (row("billing").dlq_permission, row("audit").dlq_permission) == (2, None)


@pytest.mark.parametrize(
    ("sentence", "topics", "queues"),
    [
        ("it has two", [topic("%RETRY%billing", queues=2)], 2),
        ("it was made without any", [topic("%RETRY%billing", queues=0)], 0),
        (
            "there is none; that of a topic it pops does not count",
            [topic("Orders"), topic("%RETRY%billing_Orders")],
            None,
        ),
    ],
)
def test_it_keeps_how_many_queues_the_retry_topic_gives_messages_of(cluster, sentence, topics, queues):
    record(cluster, reading(0, part("broker-a", [config("billing")], topics)))
    assert row("billing").retry_read_queues == queues


def test_what_is_said_once_more_is_not_written(cluster):
    said = part("broker-a", [config("billing", retry_policy=RetryPolicy("CUSTOMIZED", (1000,), None, None, None))])
    record(cluster, reading(0, said))
    remembered, ids = GroupBrokers.of(cluster), EntityIds.of(cluster)
    with CaptureQueriesContext(connection) as captured:
        remembered.record(cluster, ids, reading(60, said))
    assert [query["sql"] for query in captured] == []
    assert row("billing").changed_at == at(0)


def test_one_changed_group_among_many_costs_one_statement(cluster):
    names = [f"group-{number}" for number in range(300)]
    ConsumerGroup.objects.bulk_create(
        ConsumerGroup(cluster=cluster, name=name, kind="user", first_seen_at=T0) for name in names
    )
    record(cluster, reading(0, part("broker-a", [config(name) for name in names])))
    remembered, ids = GroupBrokers.of(cluster), EntityIds.of(cluster)
    changed = [config(name, retry_queue_nums=0 if name == "group-7" else 1) for name in names]
    with CaptureQueriesContext(connection) as captured:
        remembered.record(cluster, ids, reading(60, part("broker-a", changed)))
    assert len([query for query in captured if query["sql"].startswith("INSERT")]) == 1
    assert list(GroupBroker.objects.filter(changed_at=at(60)).values_list("group__name", flat=True)) == ["group-7"]


def test_what_is_remembered_is_what_the_database_holds(cluster):
    said = reading(0, part("broker-a", [config("billing", retry_policy=RetryPolicy("EXPONENTIAL", None, 1, 2, 3))]))
    remembered = GroupBrokers.of(cluster)
    remembered.record(cluster, EntityIds.of(cluster), said)
    assert GroupBrokers.of(cluster) == remembered
    assert {type(one) for one in remembered.stored["broker-a"].values()} == {Configured}


@pytest.mark.parametrize(
    ("on_a", "on_b", "enabled"),
    [(False, False, False), (True, False, True), (False, True, True), (True, True, True)],
    ids=["paused", "on the last broker", "on the first", "nowhere"],
)
def test_a_group_is_paused_where_no_broker_lets_it_consume(cluster, on_a, on_b, enabled):
    first, last = (
        part(name, [config("billing", consume_enable=on)]) for name, on in (("broker-a", on_a), ("broker-b", on_b))
    )
    record(cluster, reading(0, first, last))
    # A broker that has a new topic is asked for its groups alone.
    for asked in (
        reading(0, first, last),
        reading(60, broker("broker-a"), last),
        reading(120, first, broker("broker-b")),
    ):
        record_group_config(cluster, asked)
        assert cluster.groups.get(name="billing").consume_enable is enabled
