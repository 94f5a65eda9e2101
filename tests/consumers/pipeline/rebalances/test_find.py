"""From rows of the lake and of the poll to the costs of a rebalance: which rows count for what."""

import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from consumers.lake.schemas import TABLES
from consumers.pipeline.durations import Durations
from consumers.pipeline.rebalances.find import earliest_us, find_costs, find_events, undecided_groups
from consumers.pipeline.rebalances.history import TopicQueue
from consumers.pipeline.rebalances.tables import GROUPS, LAST_OWNERS
from tests.pipeline_rows import at, rows, us
from tests.rebalance_histories import Seen, every, group_row, membership, of_group, ownership, queues, saying

ALONE = every(0, 60, a="0123")
JOINED = [*ALONE, *every(75, 120, a="01", b="23")]


def topics(history, readings=(), last_owners=(), **fields):
    """Of the group's rebalances the rows of their topics."""
    row = group_row("billing", history, **{"subscribed": ["Orders"], **fields})
    groups = pa.Table.from_pylist([row], GROUPS)
    lake = {
        "membership": pa.Table.from_pylist(membership("billing", history), TABLES["membership"]),
        "ownership": pa.Table.from_pylist(ownership("billing", history), TABLES["ownership"]),
    }
    events, _ = find_events(groups, **lake, durations=Durations())
    found = find_costs(
        events,
        groups,
        lake["ownership"],
        pa.Table.from_pylist(list(readings), TABLES["readings"]),
        pa.Table.from_pylist(list(last_owners), LAST_OWNERS),
        Durations(),
    )
    return found.to_pylist()


def topic(history, readings=(), **fields):
    (row,) = topics(history, readings, **fields)
    return row


def lags(offsets, **fields):
    return [row for queue_id in range(4) for row in rows(offsets, queue_id=queue_id, **fields)]


def test_queues_that_went_to_the_member_that_joined_have_moved():
    row = topic(JOINED)
    assert [(one["queue_id"], one["before"], one["after"]) for one in row["moves"]] == [
        (2, ["a"], ["b"]),
        (3, ["a"], ["b"]),
    ]


def test_a_queue_that_can_be_read_no_more_lacks_no_owner_from_then_on():
    gone = {**queues(5)[4], "readable": False, "readable_us": us(70)}
    row = topic(JOINED, queues=[*queues(4), gone])
    assert (row["queues"], row["unowned_queue_seconds"]) == (5, 0)


@pytest.mark.parametrize(
    ("fields", "span"),
    [
        ({"readable": True}, (None, None)),
        ({"readable": True, "first_seen_us": 5, "readable_us": 9}, (9, None)),
        ({"readable": None, "first_seen_us": 5}, (5, None)),
        ({"readable": False, "first_seen_us": 5, "readable_us": 9}, (5, 9)),
        ({"readable": False}, None),
        ({}, None),
    ],
    ids=["always", "since it is readable", "seen in offsets only", "until it was closed", "never", "nobody knows"],
)
def test_a_queue_should_be_held_while_it_is_known_to_be_readable(fields, span):
    unknown = {"first_seen_us": None, "readable": None, "readable_us": None}
    assert TopicQueue(topic="Orders", broker="broker-a", queue_id=0, **{**unknown, **fields}).wanted() == span


def test_a_client_that_brokers_do_not_list_owns_nothing():
    stray = {"cluster": "prod", "group": "billing", "client_id": "x", "taken_at": at(75)}
    history = [*ALONE, *every(75, 120, a="01", b="23")]
    row = group_row("billing", history, subscribed=["Orders"])
    held = {"topic": "Orders", "broker": "broker-a", "queue_id": 0, "dropped": False}
    told = [*ownership("billing", history), {**stray, **held}]
    groups, lake = pa.Table.from_pylist([row], GROUPS), pa.Table.from_pylist(told, TABLES["ownership"])
    members = pa.Table.from_pylist(membership("billing", history), TABLES["membership"])
    events, _ = find_events(groups, members, lake, Durations())
    none = TABLES["readings"].empty_table(), LAST_OWNERS.empty_table()
    (found,) = find_costs(events, groups, lake, *none, Durations()).to_pylist()
    assert found["doubly_owned_queues"] == 0


def test_queues_of_an_id_that_two_processes_share_are_doubly_owned_and_have_not_moved():
    shared = [*ALONE, *every(75, 120, a="01")]
    row = topic(saying(shared, a={"doubled_us": us(75)}))
    doubled = {one["queue_id"]: one["doubly_owned_seconds_low"] for one in row["moves"]}
    assert (row["doubly_owned_queues"], doubled) == (2, {0: 45, 1: 45, 2: 0, 3: 0})
    assert {one["queue_id"]: one["after"] for one in row["moves"]} == {0: ["a"], 1: ["a"], 2: [], 3: []}


def test_retry_topics_and_dropped_queues_are_no_queues_of_the_group():
    also = {"also": [{"topic": "%RETRY%billing"}, {"queue_id": 9, "dropped": True}]}
    orders = next(row for row in topics(saying(JOINED, a=also)) if row["topic"] == "Orders")
    assert orders["queues"] == 4


def test_a_retry_queue_that_went_to_another_member_replays_messages():
    retry = {"topic": "%RETRY%billing", "queue_id": 0}
    before, after = ({"also": [{**retry, "commit_offset": offset}]} for offset in (50, 42))
    history = [*saying(ALONE, a=before), *saying(every(75, 120, a="01", b="23"), b=after)]
    readings = rows([(42, 60)] * 9, topic="%RETRY%billing", kind="retry")
    [row] = [row for row in topics(history, readings) if row["topic"] == "%RETRY%billing"]
    [move] = row["moves"]
    assert (move["before"], move["after"]) == (["a"], ["b"])
    assert (move["replayed_messages_low"], move["replayed_from"], move["replayed_until"]) == (8, 42, 60)


def test_offsets_count_from_a_minute_before_on_and_dead_letters_never():
    readings = [
        *lags([(0, 900)], start=-15),
        *lags([(0, 10)], start=60),
        *lags([(0, 20)], start=75),
        *rows([(0, 500)], start=75, queue_id=9, kind="dlq"),
    ]
    row = topic(JOINED, readings)
    assert (row["lag_before_messages"], row["lag_peak_messages"]) == (40, 80)


def test_offsets_are_looked_at_from_a_minute_before_the_rebalance_on():
    groups = pa.Table.from_pylist([group_row("billing", JOINED)], GROUPS)
    lake = [
        pa.Table.from_pylist(make("billing", JOINED), TABLES[name])
        for name, make in (("membership", membership), ("ownership", ownership))
    ]
    events, _ = find_events(groups, *lake, Durations())
    assert earliest_us(events) == us(0)


def test_a_rebalance_names_the_topics_that_its_own_members_have_and_those_that_brokers_name():
    later = saying(every(240, 300, a="0123"), a={"subscription": "Orders TAG *\nPayments TAG *"})
    both = [*queues(4), {**queues(1)[0], "topic": "Payments", "readable": False}]
    history = [*JOINED, *every(135, 225, a="01", b="23"), *later]
    found = topics(history, queues=both, subscribed=["Refunds"])
    assert [(row["started_before_us"], row["topic"]) for row in found] == [
        (us(75), "Orders"),
        (us(75), "Refunds"),
        (us(240), "Orders"),
        (us(240), "Payments"),
        (us(240), "Refunds"),
    ]


def test_who_held_a_queue_before_it_had_no_owner_counts_for_its_own_rebalance():
    history = [*every(0, 60, a="012"), *every(75, 120, a="012", b="3")]
    place = {"cluster": "prod", "group": "billing", "topic": "Orders", "broker": "broker-a", "queue_id": 3}
    earlier = {**place, "event_us": us(75), "at_us": us(-600), "client_id": "x", "commit_offset": 120}
    said = saying(history, b={"commit_offset": 100})
    (row,) = topics(said, lags([(90, 200)] * 9), [earlier])
    assert (row["replayed_messages_low"], row["unknown"]) == (20, "{}")
    (row,) = topics(said, lags([(90, 200)] * 9), [{**earlier, "event_us": us(60)}])
    assert json.loads(row["unknown"])["replayed_messages"] == "no_old_owner"


def test_members_that_pull_do_not_say_which_queues_they_hold():
    row = topic(of_group(JOINED, consume_type="CONSUME_ACTIVELY"))
    assert (row["queues_moved"], row["unowned_queue_seconds"]) == (None, None)


def test_a_group_without_a_reading_in_reach_was_not_looked_at():
    groups = pa.Table.from_pylist([group_row("billing", [Seen(0, {"a": "0"})])], GROUPS)
    lake = [TABLES[name].empty_table() for name in ("membership", "ownership")]
    events, spans = find_events(groups, *lake, Durations())
    assert (events.num_rows, spans.num_rows) == (0, 0)


def undecided(history, from_s):
    groups = pa.Table.from_pylist([group_row("billing", history, since=300)], GROUPS)
    lake = [
        pa.Table.from_pylist(make("billing", history), TABLES[name]).filter(pc.field("taken_at") >= at(from_s))
        for name, make in (("membership", membership), ("ownership", ownership))
    ]
    return undecided_groups(groups, *lake, us(from_s), Durations())["group"].to_pylist()


@pytest.mark.parametrize(
    ("history", "names"),
    [
        (every(0, 330, a="01", b="23"), []),
        ([*every(0, 135, a="01", b="23"), *every(150, 330, a="01", b=None)], ["billing"]),
        # What b reports when it comes back is compared with what it reported before the newest readings.
        ([*every(0, 135, a="01", b="23"), *every(150, 285, a="0123"), *every(300, 330, a="01", b="2")], ["billing"]),
        ([*every(0, 135, a="01"), *every(150, 285, a="0123"), *every(300, 330, a="01", b="23")], []),
    ],
    ids=["all reported", "one did not report", "one was away meanwhile", "one joined later"],
)
def test_the_newest_readings_suffice_where_every_member_reported_in_one_of_them(history, names):
    assert undecided(history, 150) == names
