"""What is wrong in a group: named, with its numbers, only where it was read."""

import pytest

from consumers.groups.detail import group_detail
from consumers.models import Client, ConsumerGroup, QueueSample
from consumers.vocabulary.states import UnknownReason
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


@pytest.fixture
def cluster():
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


@pytest.fixture
def group(cluster):
    group = a_group(cluster)
    a_total(group, 10)
    a_judged_group(group)
    return group


def found(group="billing"):
    return group_detail("prod", group, now=NOW).anomalies


@pytest.mark.parametrize(
    ("consumer", "broker", "least", "reason", "name", "sentence"),
    [
        (
            *(1_000, 40, 0, UnknownReason.CONSUMER_AHEAD, "consumer_ahead"),
            "the consumer offset is ahead of the broker offset, by up to 960 messages; the lag is undefined",
        ),
        (
            *(5, 40, 12, None, "expired_unread"),
            "7 messages were deleted by the broker before the group consumed them",
        ),
        (
            *(40, 40, 90, None, "min_above_broker_offset"),
            "the min offset is above the broker offset, by up to 50 messages",
        ),
        (
            *(7, None, None, UnknownReason.TOPIC_GONE, "topic_gone"),
            "the group has offsets there, but the broker has no such topic",
        ),
        (
            *(7, None, None, UnknownReason.QUEUE_GONE, "queue_gone"),
            "the group has offsets there, but the topic has fewer read queues, "
            "so the remaining messages are not consumed",
        ),
        (
            *(None, 40, 0, UnknownReason.NEVER_COMMITTED, "never_committed"),
            "the group has committed no offset; the start offset of a member is unknown: the broker was not asked yet",
        ),
    ],
)
def test_it_names_what_cannot_be_right_with_its_numbers(group, consumer, broker, least, reason, name, sentence):
    a_snapshot(group, a_queue(group.cluster, "Orders", 3), consumer, broker, min_offset=least, unknown_reason=reason)
    [anomaly] = found()
    assert (anomaly.name, anomaly.topic, anomaly.broker, anomaly.queue_ids) == (name, "Orders", "broker-a", (3,))
    assert anomaly.sentence == f"queue 3 of Orders on broker-a: {sentence}"
    assert anomaly.cure
    assert anomaly.since is None
    assert anomaly.unknown["since"] == "no evaluation saw it begin"


@pytest.mark.parametrize(("consumer", "broker", "least"), [(40, 40, 40), (0, 40, 0), (30, 40, None)])
def test_it_finds_nothing_wrong_with_what_is_right(group, consumer, broker, least):
    a_snapshot(group, a_queue(group.cluster), consumer, broker, min_offset=least)
    assert found() == []


def test_it_joins_the_queues_of_one_topic_and_broker(group, cluster):
    a_broker(cluster, "broker-b")
    for number in (0, 1, 2, 3, 6, 7):
        queue = a_queue(cluster, "Orders", number)
        a_snapshot(group, queue, 10, 100, min_offset=10 + number)
    a_snapshot(group, a_queue(cluster, "Orders", 0, broker="broker-b"), 10, 100, min_offset=11)
    first, second = found()
    assert first.sentence.startswith("5 queues of Orders on broker-a (1–3, 6, 7): 19 messages were deleted")
    assert second.sentence.startswith("queue 0 of Orders on broker-b: 1 message")


@pytest.mark.parametrize(
    ("state", "rule", "consumer", "broker", "reason", "name"),
    [
        ("RECREATED", "topic_recreated", 3, 40, None, "topic_created_anew"),
        ("UNKNOWN", "lag_unknown", 50, 40, UnknownReason.CONSUMER_AHEAD, "consumer_ahead"),
        ("LOSS", "messages_expired", 3, 40, None, "expired_unread"),
    ],
)
def test_it_says_since_when_where_a_judgement_saw_it(group, state, rule, consumer, broker, reason, name):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, consumer, broker, min_offset=10 if state == "LOSS" else 0, unknown_reason=reason)
    a_judged_queue(group, queue, state, rule=rule, since=ago(720))
    [anomaly] = found()
    assert (anomaly.name, anomaly.since, anomaly.unknown) == (name, ago(720), {})


def test_it_takes_no_other_state_for_its_beginning(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 5, 40, min_offset=12)
    a_judged_queue(group, queue, "REWIND", rule="offset_went_back", since=ago(720))
    assert found()[0].since is None


def test_it_tells_queues_apart_by_where_a_member_would_start(group, cluster):
    starts = [(90, "last offset: the end", None), (70, "last offset: the end", None), (None, "by it", "timed out")]
    for number, (offset, rule, error) in enumerate(starts):
        queue = a_queue(cluster, "Orders", number)
        a_snapshot(group, queue, None, 100, unknown_reason=UnknownReason.NEVER_COMMITTED)
        QueueSample.objects.create(
            group=group, queue=queue, start_offset=offset, start_rule=rule, start_error=error, asked_at=ago(60)
        )
    known, unknown = found()
    assert known.sentence.endswith("a member would start at 70 to 90: last offset: the end")
    assert unknown.sentence.endswith("the start offset of a member is unknown: timed out")


def test_a_queue_that_nothing_was_written_to_has_nothing_to_miss(group, cluster):
    a_snapshot(group, a_queue(cluster), None, 0, unknown_reason=UnknownReason.NEVER_COMMITTED)
    assert found() == []


def test_it_finds_queues_that_are_written_to_and_cannot_be_read(group, cluster):
    a_snapshot(group, a_queue(cluster, "Orders"), 40, 40)
    for number, (readable, writable) in enumerate([(False, True), (False, True), (False, False), (True, True)], 4):
        queue = a_queue(cluster, "Orders", number)
        queue.readable, queue.writable = readable, writable
        queue.save()
    [anomaly] = found()
    assert (anomaly.name, anomaly.queue_ids) == ("queue_unreadable", (4, 5))
    assert anomaly.sentence.startswith("2 queues of Orders on broker-a (4, 5): can be written but not read")


def test_it_finds_queues_that_are_read_and_take_no_message(group, cluster):
    a_snapshot(group, a_queue(cluster, "Orders"), 40, 40)
    for number, (readable, writable) in enumerate([(True, False), (True, False), (True, None), (True, True)], 4):
        queue = a_queue(cluster, "Orders", number)
        queue.readable, queue.writable = readable, writable
        queue.save()
    [anomaly] = found()
    assert (anomaly.name, anomaly.queue_ids) == ("queue_unwritable", (4, 5))
    assert anomaly.sentence.startswith("2 queues of Orders on broker-a (4, 5): can be read but not written")


@pytest.mark.parametrize("permission", ["permission", "routed_permission"])
def test_queues_of_a_broker_that_takes_no_message_take_none(group, cluster, permission):
    cluster.brokers.update(**{permission: 4})
    queue = a_queue(cluster, "Orders")
    queue.readable, queue.writable = True, True
    queue.save()
    a_snapshot(group, queue, 40, 40)
    [anomaly] = found()
    assert (anomaly.name, anomaly.queue_ids) == ("queue_unwritable", (0,))


def test_it_says_nothing_of_a_broker_that_is_not_read_and_says_so(group, cluster):
    a_dead_broker(cluster)
    queue = a_queue(cluster, "Orders", broker="broker-b")
    queue.readable, queue.writable = False, True
    queue.save()
    a_snapshot(group, queue, 5, 40, min_offset=12)
    detail = group_detail("prod", "billing", now=NOW)
    assert detail.anomalies == []
    reasons = {detail.unknown[name] for name in ("anomalies", "clients", "subscriptions")}
    assert reasons == {"broker-b could not be read: connection refused"}


def test_it_says_nothing_of_the_groups_own_dead_letters(group, cluster):
    a_snapshot(group, a_queue(cluster, "%DLQ%billing", kind="dlq"), 5, 40, min_offset=12)
    assert found() == []


def test_it_says_nothing_of_a_topic_that_no_member_subscribes_to_any_more(group, cluster):
    ConsumerGroup.objects.update(unsubscribed={"Orders": ago(7200).isoformat()})
    a_snapshot(group, a_queue(cluster), 5, 40, min_offset=12)
    assert found() == []


def a_left_group(cluster, **fields):
    group = a_group(cluster, "audit", **({"online": False, "members": 0} | fields))
    a_total(group, 60)
    a_snapshot(group, a_queue(cluster), 40, 100)
    return group


def test_a_group_that_lost_its_members_and_has_a_lag_is_named(cluster):
    group = a_left_group(cluster)
    times = {"seen_since": ago(9000), "last_seen": ago(4000)}
    for client_id, gone_by in (("10.0.0.7@1", ago(5000)), ("10.0.0.7@2", ago(3900))):
        Client.objects.create(
            group=group, client_id=client_id, address="a:1", language="JAVA", gone_by=gone_by, **times
        )
    [anomaly] = found("audit")
    assert (anomaly.name, anomaly.topic, anomaly.queue_ids, anomaly.since) == ("members_gone", None, (), ago(3900))
    assert anomaly.sentence == "every member has left, the last was 10.0.0.7@2; lag 60 messages"


def test_a_group_that_never_had_a_member_says_so_and_since_when_it_is_known(cluster):
    a_left_group(cluster, offline_since=ago(7200))
    [anomaly] = found("audit")
    assert (anomaly.sentence, anomaly.since) == ("no member was ever seen; lag 60 messages", ago(7200))


def test_what_waits_is_at_least_the_known_sum(cluster):
    group = a_left_group(cluster)
    a_snapshot(group, a_queue(cluster, "Orders", 1), 200, 100, unknown_reason=UnknownReason.CONSUMER_AHEAD)
    assert found("audit")[0].sentence == "no member was ever seen; lag at least 60 messages"


@pytest.mark.parametrize(
    "fields",
    [
        {"online": None, "members": None},
        {"online": True, "members": 1},
        {"consume_type": "CONSUME_ACTIVELY"},
        {"message_model": "BROADCASTING"},
    ],
)
def test_members_that_may_be_there_or_need_not_be_are_not_gone(cluster, fields):
    a_left_group(cluster, **fields)
    assert found("audit") == []


def test_a_group_without_lag_misses_no_member(cluster):
    group = a_group(cluster, "audit", online=False, members=0)
    a_total(group, 0)
    a_snapshot(group, a_queue(cluster), 100, 100)
    assert found("audit") == []
