"""The queues of a group under the overlay of their brokers."""

import pytest

from consumers.groups.detail import queue_list
from consumers.models import Assignment, Client, Queue, State
from consumers.vocabulary.states import UnknownReason
from tests.world import (
    NOW,
    a_broker,
    a_client,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    ago,
    first_stored,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    cluster = a_cluster()
    a_broker(cluster)
    return a_group(cluster)


def the_row(**filters):
    [row] = queue_list("prod", "billing", now=NOW, **filters)
    return row


@pytest.mark.parametrize(
    ("consumer", "broker", "minimum", "pull", "expected"),
    [
        (90, 100, 0, None, {"lag_messages": 10, "in_flight": None, "ready": None, "expired_messages": 0}),
        (90, 100, 0, 96, {"lag_messages": 10, "in_flight": 6, "ready": 4, "expired_messages": 0}),
        (40, 100, 55, 60, {"lag_messages": 60, "in_flight": 20, "ready": 40, "expired_messages": 15}),
        (100, 100, 0, None, {"lag_messages": 0, "expired_messages": 0, "time_lag_seconds": 0.0}),
        (None, 100, 0, None, {"lag_messages": None, "expired_messages": None, "time_lag_seconds": None}),
        (90, None, 0, None, {"lag_messages": None, "ready": None, "expired_messages": 0}),
        (110, 100, 0, None, {"lag_messages": None, "time_lag_seconds": None, "expired_messages": None}),
        (90, 100, None, None, {"lag_messages": 10, "expired_messages": None}),
        (90, 100, 101, None, {"lag_messages": 10, "expired_messages": None}),
    ],
)
def test_it_counts_only_between_offsets_that_are_known(group, consumer, broker, minimum, pull, expected):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, consumer, broker, min_offset=minimum, pull_offset=pull)

    row = the_row()

    assert {name: getattr(row, name) for name in expected} == expected
    for name, value in expected.items():
        assert value is not None or row.unknown.get(name) or (name == "lag_messages" and row.unknown_reason)


def test_it_says_not_sampled_where_nobody_asked_a_member(group):
    a_snapshot(group, a_queue(group.cluster), 90, 100)
    assert the_row().unknown["pull_offset"] == "not sampled"
    assert the_row().unknown["owner"] == "not sampled"
    assert the_row().unknown["expected_owner"] == "no member is known"


def test_it_names_who_is_to_own_a_queue(group):
    queue = a_queue(group.cluster)
    Queue.objects.update(readable=True)
    a_snapshot(group, queue, 90, 100)
    said = {"strategy": "AllocateMessageQueueAveragely", "pop_queues": [], "running_info_at": ago(20)}
    subscribed = [{"topic": "Orders", "expression": "*", "expression_type": "TAG"}]
    a_client(group, "c1", connections={"broker-a": ["c1:1"]}, subscriptions=subscribed, **said)
    assert the_row().expected_owner == "c1"


def test_it_shows_no_offset_of_a_dead_broker(group):
    a_dead_broker(group.cluster)
    queue = a_queue(group.cluster, broker="broker-b")
    a_snapshot(group, queue, 0, 0, pull_offset=0)
    a_judged_group(group)
    a_judged_queue(group, queue)

    row = the_row()

    numbers = [row.min_offset, row.broker_offset, row.pull_offset, row.consumer_offset, row.lag_messages]
    numbers += [row.in_flight, row.ready, row.expired_messages, row.time_lag_seconds, row.time_lag_error_seconds]
    assert numbers == [None] * len(numbers)
    assert row.state == State.UNKNOWN
    assert row.taken_at == ago(300)
    assert set(row.unknown.values()) >= {"broker-b could not be read: connection refused"}


def test_it_keeps_the_state_of_a_queue_whose_broker_missed_one_reading(group):
    a_broker(group.cluster, "broker-b", last_read_at=ago(20), failing_since=ago(5), error="timed out")
    queue = a_queue(group.cluster, broker="broker-b")
    a_snapshot(group, queue, 90, 100)
    a_judged_group(group, "STALL")
    a_judged_queue(group, queue, "STALL", rule="blocked")

    assert (the_row().state, the_row().lag_messages) == (State.STALL, None)


def test_it_does_not_show_a_zero_time_lag_from_before_the_lag(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 100)
    a_judged_group(group)
    a_judged_queue(group, queue, time_lag_seconds=0.0)

    assert the_row().time_lag_seconds is None
    assert the_row().unknown["time_lag_seconds"] == "the lag is newer than the last evaluation"


def test_a_lag_that_is_newer_than_the_evaluation_has_the_time_lag_that_polls_tell(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 100, **first_stored(12))
    a_judged_group(group)
    a_judged_queue(group, queue, time_lag_seconds=0.0)

    row = the_row()

    assert (row.time_lag_seconds, row.time_lag_kind, row.time_lag_error_seconds) == (7.0, "interpolated", 20.0)
    assert row.time_lag_at == row.taken_at == ago(5)


@pytest.mark.parametrize(
    ("judged", "stored", "seconds", "why"),
    [
        ({"time_lag_seconds": 33.0}, 12, 33.0, "it was evaluated"),
        ({"time_lag_seconds": None}, 12, None, "the evaluation looked further back"),
        ({"time_lag_seconds": 0.0}, 5, None, "a newer reading is being recorded"),
        ({"time_lag_seconds": 0.0}, 3, None, "a newer reading is being recorded"),
    ],
    ids=["evaluated", "evaluated as unknown", "stored when it was read", "stored later"],
)
def test_what_polls_tell_is_of_a_newer_lag_alone(group, judged, stored, seconds, why):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 100, **first_stored(stored))
    a_judged_group(group)
    a_judged_queue(group, queue, **judged)
    assert the_row().time_lag_seconds == seconds, why


def test_while_evaluations_are_late_polls_tell_a_lower_bound_alone(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 100, waiting_since=ago(9), **first_stored(12))
    a_judged_group(group, judged_at=ago(3600))
    a_judged_queue(group, queue, time_lag_seconds=0.0)
    assert (the_row().time_lag_seconds, the_row().time_lag_kind) == (9.0, "at_least")


def test_it_keeps_the_state_and_no_number_of_an_evaluation_that_is_too_old(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 100)
    a_judged_group(group, "STALL", judged_at=ago(3600))
    a_judged_queue(group, queue, "STALL", time_lag_seconds=60.0)

    row = the_row()

    assert (row.state, row.stale, row.judged_at) == (State.STALL, True, ago(3600))
    assert (row.time_lag_seconds, row.unknown["time_lag_seconds"]) == (
        None,
        "not evaluated since 2026-03-14 02:00:00 UTC",
    )


def test_it_judges_a_queue_by_its_groups_time_when_nothing_changed_for_it(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 100)
    a_judged_group(group, "STALL", judged_at=ago(10))
    a_judged_queue(group, queue, "STALL", judged_at=ago(7200))

    assert (the_row().state, the_row().judged_at) == (State.STALL, ago(10))


def test_it_has_no_state_and_no_lag_for_the_groups_own_dead_letters(group):
    a_snapshot(group, a_queue(group.cluster, "%DLQ%billing", kind="dlq"), 0, 5)
    assert (the_row().kind, the_row().state, the_row().lag_messages) == ("dlq", None, None)


def test_it_sees_the_dead_letters_of_others_as_a_normal_topic(group):
    a_snapshot(group, a_queue(group.cluster, "%DLQ%audit", kind="dlq"), 0, 5)
    assert (the_row().kind, the_row().lag_messages) == ("normal", 5)


def test_it_keeps_unknown_lag_among_the_queues_with_lag(group):
    for queue_id, consumer in enumerate((100, 90, None)):
        a_snapshot(group, a_queue(group.cluster, queue_id=queue_id), consumer, 100)

    assert [row.queue_id for row in queue_list("prod", "billing", with_lag=True, now=NOW)] == [1, 2]
    assert [row.queue_id for row in queue_list("prod", "billing", with_lag=False, now=NOW)] == [0]


def test_it_names_both_owners_of_a_queue_that_two_hold(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 100)
    for client in ("10.0.0.7@2", "10.0.0.7@1"):
        Assignment.objects.create(group=group, queue=queue, client_id=client, seen_since=ago(60), last_seen=ago(5))
    assert the_row().owner == "10.0.0.7@1, 10.0.0.7@2"


def test_who_has_not_reported_its_queues_for_long_is_not_said_to_own_them(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 100)
    a_client(group, "10.0.0.7@1", running_info_at=ago(7200), running_info_error="timed out")
    times = {"seen_since": ago(9000), "last_seen": ago(7200)}
    Assignment.objects.create(group=group, queue=queue, client_id="10.0.0.7@1", **times)
    why = "10.0.0.7@1 has not reported its queues since 2026-03-14 01:00:00 UTC"
    assert (the_row().owner, the_row().unknown["owner"]) == (None, why)


@pytest.mark.parametrize(("alive", "expected"), [(True, "10.0.0.7@1"), (False, None)])
def test_it_knows_owners_as_long_as_one_broker_is_read(alive, expected):
    cluster = a_cluster()
    a_dead_broker(cluster)
    if alive:
        a_broker(cluster)
    group = a_group(cluster)
    queue = a_queue(cluster, broker="broker-b")
    a_snapshot(group, queue, 90, 100)
    Assignment.objects.create(group=group, queue=queue, client_id="10.0.0.7@1", seen_since=ago(99), last_seen=ago(9))
    row = the_row()
    assert row.owner == expected
    assert row.unknown.get("owner") == (None if alive else "broker-b could not be read: connection refused")


def test_it_says_that_what_nobody_holds_has_nothing_in_flight(group):
    group.online, group.members = False, 0
    group.save()
    a_snapshot(group, a_queue(group.cluster), 90, 100)
    assert the_row().unknown["in_flight"] == "the group has no member"
    assert the_row().unknown["ready"] == "the group has no member"


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([True, True], "no member owns it"),
        ([True, False], "no member that answered owns it"),
        ([False, False], "not sampled"),
    ],
)
def test_it_says_why_a_queue_has_no_owner(group, answers, reason):
    a_snapshot(group, a_queue(group.cluster), 90, 100)
    for number, answered in enumerate(answers):
        Client.objects.create(
            group=group,
            client_id=f"10.0.0.7@{number}",
            address="10.0.0.7:50000",
            language="JAVA",
            seen_since=ago(60),
            last_seen=ago(5),
            running_info_at=ago(5) if answered else None,
        )
    assert (the_row().owner, the_row().unknown["owner"]) == (None, reason)


BEHIND = 64 * 2**20
WHY = "broker-a has stored 67 MB that it has not dispatched: its lags are lower bounds"


@pytest.mark.parametrize(("consumer", "at_least"), [(90, 10), (100, 0)])
def test_on_a_broker_that_is_behind_with_its_dispatch_a_lag_is_a_lower_bound(group, consumer, at_least):
    group.cluster.brokers.update(dispatch_behind_bytes=BEHIND)
    a_snapshot(group, a_queue(group.cluster), consumer, 100)
    row = the_row()
    assert (row.lag_messages, row.lag_messages_at_least, row.unknown_reason) == (None, at_least, WHY)
    assert row.unknown_reason_code == UnknownReason.DISPATCH_BEHIND


def test_a_time_lag_is_known_beside_a_lower_bound_as_consumers_can_get_that_message(group):
    group.cluster.brokers.update(dispatch_behind_bytes=BEHIND)
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 100)
    a_judged_group(group)
    a_judged_queue(group, queue, time_lag_seconds=30.0, time_lag_kind="interpolated")
    assert the_row().time_lag_seconds == 30.0


def test_no_time_lag_is_said_where_the_messages_that_wait_may_be_hidden(group):
    group.cluster.brokers.update(dispatch_behind_bytes=BEHIND)
    a_snapshot(group, a_queue(group.cluster), 100, 100)
    row = the_row()
    assert (row.time_lag_seconds, row.unknown["time_lag_seconds"]) == (None, WHY)


def test_a_broker_within_the_limit_leaves_lags_exact(group):
    group.cluster.brokers.update(dispatch_behind_bytes=4 * 2**20)
    a_snapshot(group, a_queue(group.cluster), 90, 100)
    row = the_row()
    assert (row.lag_messages, row.lag_messages_at_least, row.unknown_reason) == (10, 10, None)
