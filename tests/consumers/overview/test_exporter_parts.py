"""Sums by group, topic and broker: one queue that is not known makes its sum unknown, one without a lag does not."""

import pytest

from consumers.models import Cluster, ConsumerGroup
from consumers.overview.exporter import broker_ends, topic_parts
from consumers.vocabulary.states import UnknownReason
from tests.world import a_cluster, a_group, a_queue, a_snapshot

pytestmark = pytest.mark.django_db
READ = {"broker-a", "broker-b"}


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


def queue_of(
    group: ConsumerGroup, queue_id: int, *offsets: int | None, broker: str = "broker-a", **more: object
) -> None:
    a_snapshot(group, a_queue(group.cluster, queue_id=queue_id, broker=broker), *offsets, **more)  # type: ignore[arg-type]


def parts_of(
    cluster: Cluster, *groups: ConsumerGroup, read: set[str] = READ, exact: set[str] | None = None
) -> list[tuple[object, ...]]:
    parts = topic_parts(cluster.pk, [group.pk for group in groups], read, read if exact is None else exact)
    return [(part.topic, part.broker, part.consumer_offset, part.lag_messages, part.is_idle) for part in parts]


def test_the_queues_of_a_broker_are_summed(group: ConsumerGroup) -> None:
    queue_of(group, 0, 60, 100)
    queue_of(group, 1, 10, 15)
    queue_of(group, 0, 7, 7, broker="broker-b")
    assert parts_of(group.cluster, group) == [
        ("Orders", "broker-a", 70, 45, False),
        ("Orders", "broker-b", 7, 0, False),
    ]


@pytest.mark.parametrize(
    ("consumer", "reason", "consumed", "lag", "is_idle"),
    [
        (None, UnknownReason.NEVER_COMMITTED, 60, 40, False),
        (5, UnknownReason.TOPIC_GONE, 65, 40, False),
        (5, UnknownReason.QUEUE_GONE, 65, 40, False),
        (5, UnknownReason.CONSUMER_AHEAD, 65, None, False),
        (5, UnknownReason.NO_BROKER_OFFSET, 65, None, False),
        (5, UnknownReason.SLAVE_BEHIND, None, None, False),
        (5, UnknownReason.NOT_REPORTED, None, None, False),
        (None, None, None, None, False),
    ],
)
def test_a_queue_of_which_something_is_not_known_takes_the_sum_with_it(
    group: ConsumerGroup, consumer: int | None, reason: str | None, consumed: int | None, lag: int | None, is_idle: bool
) -> None:
    queue_of(group, 0, 60, 100)
    queue_of(group, 1, consumer, None, unknown_reason=reason)
    assert parts_of(group.cluster, group) == [("Orders", "broker-a", consumed, lag, is_idle)]


def test_where_nothing_was_ever_committed_there_is_no_offset(group: ConsumerGroup) -> None:
    queue_of(group, 0, None, 100, unknown_reason=UnknownReason.NEVER_COMMITTED)
    assert parts_of(group.cluster, group) == [("Orders", "broker-a", None, None, True)]


def test_of_a_broker_that_is_not_read_nothing_is_known(group: ConsumerGroup) -> None:
    queue_of(group, 0, 60, 100)
    assert parts_of(group.cluster, group, read={"broker-b"}) == [("Orders", "broker-a", None, None, False)]


def test_of_a_broker_whose_lags_are_lower_bounds_the_offset_is_known_alone(group: ConsumerGroup) -> None:
    queue_of(group, 0, 60, 100)
    assert parts_of(group.cluster, group, exact={"broker-b"}) == [("Orders", "broker-a", 60, None, False)]


def test_only_groups_that_are_asked_for_are_there(group: ConsumerGroup) -> None:
    queue_of(group, 0, 60, 100)
    queue_of(a_group(group.cluster, "audit"), 0, 60, 100)
    assert len(parts_of(group.cluster, group)) == 1


def ends_of(cluster: Cluster, read: set[str] = READ) -> dict[tuple[str, str], int | None]:
    return broker_ends(cluster.pk, {"Orders"}, read)


def test_a_queue_that_groups_share_is_counted_once(group: ConsumerGroup) -> None:
    for one in (group, a_group(group.cluster, "audit")):
        queue_of(one, 0, 60, 100)
        queue_of(one, 1, 3, 7)
    assert ends_of(group.cluster) == {("Orders", "broker-a"): 107}


def test_an_end_that_only_an_old_reading_told_is_not_known(group: ConsumerGroup) -> None:
    queue_of(group, 0, 60, 100)
    queue_of(group, 1, 60, 100, unknown_reason=UnknownReason.NOT_REPORTED)
    assert ends_of(group.cluster) == {("Orders", "broker-a"): None}


def test_a_queue_that_is_gone_has_no_end(group: ConsumerGroup) -> None:
    queue_of(group, 0, 60, 100)
    queue_of(group, 1, 60, None, unknown_reason=UnknownReason.QUEUE_GONE)
    assert ends_of(group.cluster) == {("Orders", "broker-a"): 100}


def test_a_queue_that_only_takes_messages_makes_the_end_unknown(group: ConsumerGroup) -> None:
    queue_of(group, 0, 60, 100)
    unseen = a_queue(group.cluster, queue_id=1)
    unseen.readable, unseen.writable = False, True
    unseen.save()
    assert ends_of(group.cluster) == {("Orders", "broker-a"): None}


def test_topics_that_nobody_asked_for_and_brokers_that_are_not_read_have_no_end(group: ConsumerGroup) -> None:
    queue_of(group, 0, 60, 100)
    a_snapshot(group, a_queue(group.cluster, "Other"), 1, 2)
    assert ends_of(group.cluster, read={"broker-b"}) == {("Orders", "broker-a"): None}
