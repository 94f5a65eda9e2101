"""What is said of one topic: its brokers and their permissions, its groups and their lag in it."""

from pathlib import Path
from typing import Any

import pytest

from consumers.models import Broker, ClientSubscription, Queue
from consumers.topics.queries import (
    QueueAccess,
    TopicBroker,
    TopicDetail,
    TopicGroup,
    access_of,
    find_topic,
    topic_detail,
)
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
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_lake(settings: Any, tmp_path: Path) -> None:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)


@pytest.fixture
def site() -> None:
    """Orders with two queues, which billing and mail consume; mail also consumes Parcels."""
    cluster = a_cluster()
    a_broker(cluster, permission=6)
    queues = [a_queue(cluster, "Orders", number) for number in (0, 1)]
    Queue.objects.update(readable=True, writable=True)
    for name, state in (("billing", "WARN"), ("mail", "OK")):
        group = a_group(cluster, name)
        a_total(group, 30)
        a_judged_group(group, state)
        for queue in queues:
            a_snapshot(group, queue, 85, 100)
            a_judged_queue(group, queue, state, time_lag_seconds=7.0)
        a_snapshot(group, a_queue(cluster, "Parcels", 0), 0, 900)


def orders() -> TopicDetail:
    topic = find_topic("prod", "Orders")
    assert topic is not None
    return topic_detail(topic, now=NOW)


def the_broker() -> TopicBroker:
    [broker] = orders().brokers
    return broker


def of(name: str) -> TopicGroup:
    return next(row for row in orders().groups if row.group == name)


@pytest.mark.usefixtures("site")
def test_the_lag_of_a_group_is_that_in_this_topic_alone() -> None:
    row = of("mail")
    assert (row.lag_messages, row.time_lag_seconds, row.queues) == (30, 7.0, 2)


@pytest.mark.usefixtures("site")
def test_the_worst_state_comes_first() -> None:
    assert [(row.group, row.state) for row in orders().groups] == [("billing", "WARN"), ("mail", "OK")]


@pytest.mark.usefixtures("site")
def test_a_queue_that_was_not_read_leaves_the_lag_unknown_with_what_is_known() -> None:
    cluster = Broker.objects.get().cluster
    a_dead_broker(cluster)
    billing = cluster.groups.get(name="billing")
    a_snapshot(billing, a_queue(cluster, "Orders", 0, broker="broker-b"), 1, 2)
    row = of("billing")
    assert (row.lag_messages, row.lag_messages_at_least) == (None, 30)
    assert "connection refused" in str(row.unknown_reason)


@pytest.mark.usefixtures("site")
def test_a_group_that_subscribes_and_has_no_offset_yet_is_listed() -> None:
    group = a_group(Broker.objects.get().cluster, "newcomer")
    seen = {"seen_since": ago(60), "last_seen": ago(5)}
    ClientSubscription.objects.create(group=group, client_id="c", topic="Orders", expression="paid || sent", **seen)
    row = of("newcomer")
    assert (row.queues, row.lag_messages, row.expressions) == (0, None, ["paid || sent"])
    assert row.unknown_reason == "the group has no offset in it yet"


@pytest.mark.usefixtures("site")
def test_subscriptions_that_nobody_reported_are_unknown() -> None:
    row = of("billing")
    assert (row.expressions, row.unknown["expressions"]) == (None, "no member has reported its subscriptions")


@pytest.mark.usefixtures("site")
def test_a_group_without_members_has_no_subscription() -> None:
    Broker.objects.get().cluster.groups.filter(name="billing").update(members=0, online=False)
    assert of("billing").expressions == ()


@pytest.mark.usefixtures("site")
def test_a_broker_tells_how_many_of_its_queues_are_readable_and_writable() -> None:
    Queue.objects.filter(queue_id=1).update(writable=False)
    broker = the_broker()
    assert (broker.queues, broker.readable_queues, broker.writable_queues) == (2, 2, 1)
    assert (broker.access, broker.broker_writable) == (QueueAccess.UNEVEN, True)


@pytest.mark.usefixtures("site")
def test_a_configuration_that_was_not_read_leaves_the_permission_unknown() -> None:
    Queue.objects.filter(queue_id=1).update(readable=None, writable=None)
    broker = the_broker()
    assert (broker.access, broker.readable_queues) == (QueueAccess.UNKNOWN, None)
    assert broker.unknown["readable_queues"] == "the topic's configuration on this broker was not read"


@pytest.mark.usefixtures("site")
def test_without_a_window_the_produce_rate_is_unknown() -> None:
    detail = orders()
    assert detail.produce_rate is None
    assert detail.unknown["produce_rate"] == "no minute of the last 10 is aggregated yet"


@pytest.mark.parametrize(
    ("queues", "access"),
    [
        ([(True, True), (True, True)], QueueAccess.READ_WRITE),
        ([(True, False)], QueueAccess.READ_ONLY),
        ([(False, True)], QueueAccess.WRITE_ONLY),
        ([(False, False)], QueueAccess.NONE),
        ([(True, True), (True, False)], QueueAccess.UNEVEN),
        ([(True, True), (None, None)], QueueAccess.UNKNOWN),
    ],
)
def test_the_access_is_that_of_all_queues(queues: list[tuple[bool | None, bool | None]], access: QueueAccess) -> None:
    assert access_of(queues) == access


@pytest.mark.usefixtures("site")
def test_more_groups_need_no_more_queries(django_assert_max_num_queries: Any) -> None:
    cluster = Broker.objects.get().cluster
    for number in range(20):
        group = a_group(cluster, f"more-{number}")
        a_total(group, 0)
        a_snapshot(group, a_queue(cluster, "Orders", 0), 100, 100)
    with django_assert_max_num_queries(32):
        assert len(orders().groups) == 22
