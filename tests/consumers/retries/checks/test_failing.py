"""The retry conditions that do not hold over all groups: one row a cause, and queries that do not go by groups."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.models import ConsumerGroup, GroupBroker, QueueSnapshot
from consumers.retries.checks.condition_rows import ConditionName
from consumers.retries.checks.failing import MANY, failing_groups
from consumers.vocabulary.findings import FindingSeverity
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db

OPEN = {"permission": 6, "config_at": ago(20), "routed_permission": 6, "routed_at": ago(20)}
Name = ConditionName


def a_config(group, broker="broker-a", **more):
    values = {"configured": True, "consume_enable": True, "retry_queue_nums": 1, "changed_at": ago(3600)}
    values |= {"retry_permissions": {f"%RETRY%{group.name}": 6}, "retry_read_queues": 1, "dlq_permission": 6}
    return GroupBroker.objects.create(group=group, broker=broker, **(values | more))


def a_set_group(cluster, name="billing", *, brokers=("broker-a",), model="CLUSTERING", **config):
    group = a_group(cluster, name, message_model=model, subscriptions=[{"topic": "Orders"}])
    for broker in brokers:
        a_snapshot(group, a_queue(cluster, broker=broker), 5, 10)
        a_config(group, broker, **config)
    return group


@pytest.fixture
def cluster():
    cluster = a_cluster()
    a_broker(cluster, **OPEN)
    return cluster


def found(cluster=None):
    return [(row.group, row.name, row.severity) for row in failing_groups(cluster, NOW)]


def test_healthy_groups_have_none(cluster):
    a_set_group(cluster)
    assert found() == []


@pytest.mark.parametrize(
    ("sentence", "config", "expected"),
    [
        ("retries that are discarded", {"retry_queue_nums": 0}, [(Name.KEPT, FindingSeverity.CRITICAL)]),
        ("a retry topic that gives nothing", {"own": 2}, [(Name.RETRY_READABLE, FindingSeverity.CRITICAL)]),
        (
            "a retry topic that takes nothing",
            {"own": 4},
            [(Name.ACCEPTED, FindingSeverity.CRITICAL), (Name.RETRY_WRITABLE, FindingSeverity.WARNING)],
        ),
        ("dead letters that nobody can read", {"dlq_permission": 2}, [(Name.DLQ_READABLE, FindingSeverity.WARNING)]),
        ("fewer queues than retries", {"retry_queue_nums": 4}, [(Name.RETRY_QUEUES, FindingSeverity.CRITICAL)]),
        (
            "a group that the broker lost",
            {"configured": False},
            [(Name.ACCEPTED, FindingSeverity.CRITICAL), (Name.GROUP_EXISTS, FindingSeverity.CRITICAL)],
        ),
        ("all of it right", {}, []),
    ],
)
def test_it_finds(cluster, sentence, config, expected):
    config = dict(config)
    if "own" in config:
        config["retry_permissions"] = {"%RETRY%billing": config.pop("own"), "%RETRY%other": 6}
    a_set_group(cluster, **config)
    assert [(row.name, row.severity) for row in failing_groups(None, NOW)] == expected


def test_a_row_says_the_same_as_the_groups_own_conditions(cluster):
    a_set_group(cluster, retry_queue_nums=0)
    [row] = failing_groups(None, NOW)
    assert (row.cluster, row.group, row.broker, row.groups, row.since) == ("prod", "billing", "broker-a", 1, ago(3600))
    assert "silently discarded on broker-a" in row.detail
    assert "-b 127.0.0.1:10911 -g billing -q 1" in row.cure


@pytest.mark.parametrize(
    ("sentence", "fields"),
    [
        ("of a broadcasting group", {"message_model": "BROADCASTING"}),
        ("of a system group", {"kind": "system"}),
    ],
)
def test_what_needs_no_retries_has_no_row(cluster, sentence, fields):
    a_set_group(cluster, retry_queue_nums=0)
    ConsumerGroup.objects.update(**fields)
    assert found() == []


def test_what_a_broker_said_before_it_fell_silent_is_no_row(cluster):
    a_dead_broker(cluster)
    a_set_group(cluster, brokers=["broker-b"], retry_queue_nums=0)
    assert found() == []


def test_groups_that_are_set_alike_are_one_row(cluster):
    for number in range(MANY + 1):
        a_set_group(cluster, f"g{number:02}", retry_queue_nums=0)
    [row] = failing_groups(None, NOW)
    assert (row.group, row.broker, row.groups, row.name) == (None, "broker-a", MANY + 1, Name.KEPT)
    assert "g00, g01, g02 and 18 more" in row.detail


def test_a_broker_that_holds_nothing_of_many_groups_need_not_know_them(cluster):
    a_broker(cluster, "broker-b", **OPEN)
    for number in range(MANY + 1):
        a_config(a_set_group(cluster, f"g{number}"), "broker-b", configured=False, retry_queue_nums=None)
    assert found() == []


def test_of_one_cluster_only_its_own_are_found(cluster):
    a_set_group(cluster, retry_queue_nums=0)
    other = a_cluster("other")
    a_broker(other, **OPEN)
    a_set_group(other, "audit", retry_queue_nums=0)
    assert [group for group, *_ in found("other")] == ["audit"]
    assert [group for group, *_ in found()] == ["audit", "billing"]


def closed(**fields):
    ConsumerGroup.objects.get(name="billing").cluster.brokers.filter(name="broker-a").update(**fields)


def test_a_closed_broker_is_one_row_that_counts_its_groups(cluster):
    for number in range(3):
        a_set_group(cluster, f"g{number}")
    a_set_group(cluster)
    closed(permission=4, routed_permission=4)
    [row] = failing_groups(None, NOW)
    assert (row.group, row.broker, row.groups, row.severity) == (None, "broker-a", 4, FindingSeverity.CRITICAL)
    assert "its brokerPermission is 4" in row.detail
    assert "4 groups with queues there have no other broker that accepts failed messages" in row.detail


def test_beside_an_open_broker_it_is_a_note_that_names_where_failed_messages_go(cluster):
    a_broker(cluster, "broker-b", **OPEN)
    a_set_group(cluster, brokers=["broker-a", "broker-b"])
    closed(permission=4)
    [row] = failing_groups(None, NOW)
    assert (row.name, row.severity, row.groups) == (Name.TAKES_BACK, FindingSeverity.INFO, 1)
    assert "go to broker-b" in row.detail


def test_only_groups_whose_retry_topic_the_other_broker_takes_have_a_way_round(cluster):
    a_broker(cluster, "broker-b", **OPEN)
    a_set_group(cluster, brokers=["broker-a", "broker-b"])
    a_set_group(cluster, "alone")
    shut = a_set_group(cluster, "shut")
    a_config(shut, "broker-b", retry_permissions={"%RETRY%shut": 4})
    closed(permission=4)
    row = failing_groups(None, NOW)[0]
    assert (row.severity, row.groups) == (FindingSeverity.CRITICAL, 3)
    assert "2 groups with queues there" in row.detail


def test_a_broker_that_was_not_read_may_be_the_way_round(cluster):
    a_broker(cluster, "broker-b", permission=None)
    a_set_group(cluster, brokers=["broker-a", "broker-b"])
    closed(permission=4)
    [row] = failing_groups(None, NOW)
    assert (row.severity, "broker-b" in row.detail, "Unknown whether" in row.detail) == (
        FindingSeverity.WARNING,
        True,
        True,
    )


def test_that_nothing_takes_a_groups_retries_is_told_with_the_closed_broker_alone(cluster):
    a_set_group(cluster, retry_permissions={"%RETRY%billing": 4})
    closed(permission=4)
    assert found() == [
        (None, Name.ACCEPTED, FindingSeverity.CRITICAL),
        ("billing", Name.RETRY_WRITABLE, FindingSeverity.WARNING),
    ]


def closed_elsewhere(cluster):
    other = a_cluster("staging")
    a_broker(other, **OPEN | {"permission": 4})
    a_set_group(other, "mail")


def without_routed_writes(cluster):
    closed(routed_permission=4)


def of_many_that_discard(cluster):
    for number in range(MANY + 1):
        a_set_group(cluster, f"group-{number}", retry_queue_nums=0)


@pytest.mark.parametrize("also", [closed_elsewhere, without_routed_writes, of_many_that_discard])
def test_only_a_row_of_its_own_closed_broker_tells_that_nothing_takes_a_groups_retries(cluster, also):
    a_set_group(cluster, retry_permissions={"%RETRY%billing": 4})
    also(cluster)
    assert ("billing", Name.ACCEPTED, FindingSeverity.CRITICAL) in found()


def test_a_wiped_broker_is_a_note(cluster):
    a_set_group(cluster)
    closed(routed_permission=4)
    [row] = failing_groups(None, NOW)
    assert (row.name, row.severity, row.broker, row.groups) == (Name.ROUTED, FindingSeverity.INFO, "broker-a", 1)


def test_a_permission_that_is_too_old_is_no_row(cluster):
    a_set_group(cluster)
    closed(permission=4, config_at=ago(600))
    assert found() == []


def test_a_closed_broker_without_groups_is_no_row(cluster):
    a_broker(cluster, "broker-b", **OPEN | {"permission": 4})
    a_set_group(cluster)
    assert found() == []


def test_its_queries_do_not_go_by_groups(cluster):
    a_broker(cluster, "broker-b", **OPEN)
    queue = a_queue(cluster)

    def more(start, size):
        groups = ConsumerGroup.objects.bulk_create(
            ConsumerGroup(cluster=cluster, name=f"g{n}", kind="user", first_seen_at=ago(1), message_model="CLUSTERING")
            for n in range(start, start + size)
        )
        snapshots = [QueueSnapshot(group=group, queue=queue, changed_at=ago(5)) for group in groups]
        QueueSnapshot.objects.bulk_create(snapshots)
        for group in groups:
            a_config(group, retry_queue_nums=0)
            a_config(group, "broker-b", dlq_permission=2)

    def queries():
        with CaptureQueriesContext(connection) as captured:
            failing_groups(None, NOW)
        return len(captured)

    more(0, 3)
    before = queries()
    more(3, 12)
    assert queries() == before <= 24
    more(15, 300)
    assert queries() <= before
