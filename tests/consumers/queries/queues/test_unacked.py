"""Messages that were popped and not acknowledged, per queue; a lag of 0 says nothing of them."""

import pytest

from consumers.groups.detail import queue_list
from consumers.models import Client
from consumers.queries.queues.starts import NOBODY, NOT_REPORTED, PULLS, WITH_ITS_TOPIC
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster), 100, 100)
    return group


def member(group, pop_queues, name="one", **fields):
    values = {"address": "10.0.0.1:5000", "language": "JAVA", "seen_since": ago(600), "last_seen": ago(5)}
    Client.objects.create(group=group, client_id=name, pop_queues=pop_queues, **values | fields)


def popped(count, queue_id=0, topic="Orders", broker="broker-a"):
    return {"topic": topic, "broker": broker, "queue_id": queue_id, "wait_ack_count": count, "last_pop_at": None}


def shown(**filters):
    [row] = queue_list("prod", "billing", now=NOW, **filters)
    return row.unacked_messages, row.unknown.get("unacked_messages")


def test_counts_of_all_members_are_added(group):
    member(group, [popped(3), popped(5, queue_id=1)])
    member(group, [popped(4)], "two")
    assert shown() == (7, None)
    [row] = queue_list("prod", "billing", now=NOW)
    assert row.lag_messages == 0


def test_no_lag_and_nothing_popped_is_zero_because_it_was_said(group):
    member(group, [popped(0)])
    assert shown() == (0, None)


def test_what_is_popped_from_any_queue_is_no_queue_s(group):
    member(group, [popped(9, queue_id=-1)])
    assert shown() == (None, "9 of Orders on broker-a, in any of its queues")


def test_nothing_popped_from_any_queue_is_nothing_of_each(group):
    member(group, [popped(0, queue_id=-1)])
    assert shown() == (0, None)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([], NOBODY),
        ([None], NOT_REPORTED),
        ([[popped(3)], None], NOT_REPORTED),
        ([[]], PULLS),
        ([[popped(3, topic="Stock")]], "no member pops this queue"),
        ([[popped(3, broker="broker-b")]], "no member pops this queue"),
    ],
)
def test_what_was_not_said_is_null_with_its_reason(group, members, reason):
    for number, queues in enumerate(members):
        member(group, queues, f"member-{number}")
    assert shown() == (None, reason)


def test_a_member_that_does_not_answer_any_more_has_not_said_it(group):
    member(group, [popped(3)], running_info_error="timed out")
    assert shown() == (None, NOT_REPORTED)


def test_a_member_that_is_gone_counts_no_more(group):
    member(group, [popped(3)], gone_by=ago(5))
    assert shown() == (None, NOBODY)


def test_retries_are_counted_with_their_topic(group):
    member(group, [popped(3)])
    retry = a_queue(group.cluster, "%RETRY%billing_Orders", kind="retry")
    a_snapshot(group, retry, 0, 0)
    assert shown(topic="%RETRY%billing_Orders") == (None, WITH_ITS_TOPIC)
