"""The overlay, over every mixture of fresh, late, failing and silent: lists in SQL agree with queues in Python."""

import pytest
from django.db.models import F
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.groups.detail import group_queues
from consumers.groups.listing import STORED, group_counts, group_list
from consumers.groups.overlay import RANKS, UNKNOWN_RANK, Overlay
from consumers.groups.rows import GroupFilters
from consumers.models import Cluster, GroupState, GroupTotal, State
from consumers.vocabulary.states import UnknownReason
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
    first_stored,
    stored_us,
)

BROKERS = st.fixed_dictionaries(
    {
        "last_read_at": st.sampled_from([ago(5), ago(44), ago(46), ago(600), None]),
        "failing_since": st.sampled_from([None, ago(3)]),
    }
)
READ, NEVER_READ = ({"last_read_at": at, "failing_since": None} for at in (ago(5), None))
QUEUES = st.fixed_dictionaries(
    {
        "broker": st.integers(0, 1),
        "lag": st.sampled_from([0, 7, 2000]),
        "state": st.sampled_from(list(State)),
        # Since before the last evaluation, since it, for long, for a moment, or not known.
        "waiting_since": st.sampled_from([ago(3600), ago(240), ago(100), ago(10), None]),
        "unknown_reason": st.sampled_from([None, None, None, "never_committed", UnknownReason.CONSUMER_AHEAD]),
        "stored": st.sampled_from([None, 8, 8, 20]),
    }
)
OFFLINE = {"online": False, "members": 0, "offline_since": ago(1200), "moved_at": ago(1300)}
MEMBERS = st.sampled_from(
    [
        {},
        {"online": None, "members": None},
        OFFLINE,
        # Gone for a moment only, and never listed though its offsets move.
        OFFLINE | {"offline_since": ago(100), "moved_at": ago(120)},
        OFFLINE | {"moved_at": ago(60)},
        OFFLINE | {"consume_enable": False},
        OFFLINE | {"consume_type": "CONSUME_ACTIVELY"},
        {"outside_store": "com.example.Redis"},
    ]
)
GROUPS = st.fixed_dictionaries(
    {
        "queues": st.lists(QUEUES, min_size=1, max_size=4),
        "judged": st.sampled_from([ago(10), ago(269), ago(271), ago(900), None]),
        "rule": st.sampled_from(["lagging", "paused"]),
        "time_lag": st.sampled_from([None, 0.0, 0.0, 33.0]),
        "members": MEMBERS,
    }
)


def polled(seconds):
    return {} if seconds is None else first_stored(seconds)


def build(brokers, groups):
    Cluster.objects.all().delete()
    cluster = a_cluster()
    for number, fields in enumerate(brokers):
        a_broker(cluster, f"broker-{number}", **fields)
    made = []
    for number, wanted in enumerate(groups):
        group = a_group(cluster, f"group-{number}", **wanted["members"])
        queues, since = wanted["queues"], wanted["judged"] or ago(20)
        for queue_id, one in enumerate(queues):
            queue = a_queue(cluster, f"topic-{number}", queue_id, broker=f"broker-{one['broker']}")
            waits = {"waiting_since": one["waiting_since"]} | polled(one["stored"]) if one["lag"] else {}
            a_snapshot(group, queue, 0, one["lag"], unknown_reason=one["unknown_reason"], **waits)
            a_judged_queue(group, queue, one["state"], time_lag_seconds=wanted["time_lag"], judged_at=since)
        counted = [one["lag"] for one in queues if one["unknown_reason"] is None]
        is_whole = (
            UnknownReason.CONSUMER_AHEAD not in [one["unknown_reason"] for one in queues]
            and counted
            and not group.outside_store
        )
        stored = [one["stored"] for one in queues if one["unknown_reason"] is None and one["lag"]]
        a_total(
            group,
            sum(counted) if is_whole else None,
            lag_messages_at_least=sum(counted) if counted else None,
            first_stored_us=stored_us(max(stored)) if stored and None not in stored else None,
        )
        if wanted["judged"]:
            worst = min((one["state"] for one in queues), key=RANKS.__getitem__)
            fields = {"judged_at": wanted["judged"], "time_lag_seconds": wanted["time_lag"], "rule": wanted["rule"]}
            a_judged_group(group, worst, **fields)
        made.append(group)
    return made


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(brokers=st.tuples(BROKERS, BROKERS), groups=st.lists(GROUPS, min_size=1, max_size=4))
def test_a_group_shows_what_its_queues_show(brokers, groups):
    # On a broker that was never read the group may have queues that nobody has seen.
    unseen = any(broker["last_read_at"] is None for broker in brokers)
    made = build(brokers, groups)
    rows = {row.id: row for row in group_list(GroupFilters(), now=NOW).rows}
    assert rows.keys() == {group.pk for group in made}
    for group in made:
        row = rows[group.pk]
        queues = group_queues(group, now=NOW)
        worst = min(RANKS[queue.state] for queue in queues)
        assert RANKS[row.state] == worst or (worst > UNKNOWN_RANK and row.state == State.UNKNOWN), (row, queues)
        if row.lag_messages == 0:
            assert row.time_lag_seconds == 0
        else:
            # Where one queue's lag is not known, how long others have waited still may be.
            assert row.time_lag_seconds is None or row.time_lag_seconds > 0
        if unseen:
            assert row.lag_messages is None
        if row.judged_at is None:
            assert row.state in (State.UNKNOWN, State.STOP)
        if row.judged_at in (None, ago(271), ago(900)):
            assert (row.consume_rate, row.drain_seconds) == (None, None)
            assert row.time_lag_seconds in (None, 0.0)
        else:
            # Only where a broker is not read; its lag is unknown then.
            assert not row.stale or row.lag_messages is None
        assert not (row.stale and row.state == State.UNKNOWN and group.judged.state != State.UNKNOWN)


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(brokers=st.tuples(BROKERS, BROKERS), groups=st.lists(GROUPS, min_size=1, max_size=4))
def test_a_group_has_the_lag_of_its_queues(brokers, groups):
    unseen = any(broker["last_read_at"] is None for broker in brokers)
    made = build(brokers, groups)
    rows = {row.id: row for row in group_list(GroupFilters(), now=NOW).rows}
    assert rows.keys() == {group.pk for group in made}
    for group in made:
        row = rows[group.pk]
        queues = group_queues(group, now=NOW)
        lags = [queue.lag_messages for queue in queues if queue.unknown_reason_code != "never_committed"]
        assert row.lag_messages == (None if None in lags or unseen or not lags else sum(lags))
        assert (row.unknown_reason is None) == (row.lag_messages is not None)


@pytest.mark.django_db
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    brokers=st.tuples(*[st.sampled_from([READ, {"last_read_at": ago(20), "failing_since": ago(5)}])] * 2),
    groups=st.lists(GROUPS, min_size=1, max_size=4),
)
def test_a_group_has_the_longest_time_lag_of_its_queues(brokers, groups):
    made = build(brokers, groups)
    rows = {row.id: row for row in group_list(GroupFilters(), now=NOW).rows}
    for group in made:
        row = rows[group.pk]
        if not row.lag_messages or row.judged_at not in (ago(10), ago(269)):
            continue
        lagging = [queue for queue in group_queues(group, now=NOW) if queue.lag_messages]
        times = [queue.time_lag_seconds for queue in lagging]
        assert row.time_lag_seconds == (None if None in times else max(times))
        if row.time_lag_seconds is not None:
            assert {(queue.time_lag_kind, queue.time_lag_at) for queue in lagging} == {
                (row.time_lag_kind, row.time_lag_at)
            }


@pytest.mark.django_db
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(brokers=st.tuples(BROKERS, BROKERS), groups=st.lists(GROUPS, min_size=1, max_size=4))
def test_filters_and_counts_agree_with_the_rows(brokers, groups):
    build(brokers, groups)
    shown = [row.state for row in group_list(GroupFilters(), now=NOW).rows]
    for state in State:
        assert [row.state for row in group_list(GroupFilters(state=state), now=NOW).rows] == [state] * shown.count(
            state
        )
    assert group_counts(Overlay.at(NOW), GroupFilters()).states == {state: shown.count(state) for state in State}


@pytest.mark.django_db
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(brokers=st.tuples(BROKERS, BROKERS), groups=st.lists(GROUPS, min_size=1, max_size=4))
def test_a_list_is_ordered_by_the_stored_values_that_its_rows_show(brokers, groups):
    numbers = {"consume_rate": 1.5, "produce_rate": 2.5, "retry_share": 0.25, "dlq_day_messages": 3}
    for group in build(brokers, groups):
        GroupState.objects.filter(group=group).update(**numbers)
        GroupTotal.objects.filter(group=group).update(never_committed_queues=1, dlq_messages=4, expired_messages=5)
    rows = {row.id: row for row in group_list(GroupFilters(), now=NOW).rows}
    for columns in Overlay.at(NOW).groups.values("pk", **{f"of_{name}": F(f"shown_{name}") for name in STORED}):
        row = rows[columns["pk"]]
        assert {name: columns[f"of_{name}"] for name in STORED} == {name: getattr(row, name) for name in STORED}


def never_judged(waiting_since, *more):
    waiting = {"broker": 0, "lag": 7, "state": State.STALL, "waiting_since": waiting_since, "unknown_reason": None}
    waiting["stored"] = None
    return {"queues": [waiting, *more], "judged": None, "rule": "lagging", "time_lag": None, "members": OFFLINE}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("brokers", "waiting_since", "expected"),
    [
        ((READ, READ), ago(240), State.STOP),
        ((READ, READ), ago(10), State.UNKNOWN),
        ((READ, NEVER_READ), ago(240), State.STOP),
        ((NEVER_READ, READ), ago(240), State.UNKNOWN),
    ],
    ids=["waits", "for a moment only", "another broker is unread", "its own broker is unread"],
)
def test_a_group_that_was_never_judged_has_stopped_where_a_queue_that_is_read_waits(brokers, waiting_since, expected):
    build(brokers, [never_judged(waiting_since)])
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert row.state == expected
