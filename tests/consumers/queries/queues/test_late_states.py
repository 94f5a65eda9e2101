"""States while evaluations are late: the table of docs/evaluation.md, as a pure function, in SQL, and on rows."""

from dataclasses import dataclass
from itertools import product

import pytest

from consumers.groups.detail import group_queues
from consumers.groups.listing import group_list
from consumers.groups.overlay import Overlay
from consumers.groups.rows import GroupFilters
from consumers.models import ConsumerGroup, GroupState, GroupTotal, Queue, QueueSnapshot, QueueState, State, Topic
from consumers.queries.queues.overlay import Ground, LateTimes, Polled, late_state
from consumers.vocabulary.states import UnknownReason
from dashboard.metrics.families import scrape
from dashboard.templatetags.kinds import state_time
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
)

EVALUATED = ago(480)
TIMES = LateTimes(evaluated_at=EVALUATED, stands_since=ago(180), allowed_since=ago(60))
LEVEL = Polled(0)
# Behind, by how long the offset has not moved.
MOVING, STANDS, UNMOVED = (Polled(7, waiting_since=ago(seconds)) for seconds in (10, 240, 3600))
UNTIMED, NO_LAG, LOST = Polled(7), Polled(None, UnknownReason.NEVER_COMMITTED), Polled(None, UnknownReason.OFFSET_LOST)
BACK = Polled(7, waiting_since=ago(3600), online=True)
STOPPED, STOPPED_LEVEL, STOPPED_NOW = (
    Polled(lag, waiting_since=at, online=False, is_stopped=True) for lag, at in ((7, ago(3600)), (0, None), (7, ago(9)))
)
EXCUSED = Polled(7, waiting_since=ago(3600), online=False, is_excused=True)
KEPT, CAUGHT_UP, MOVED = Ground.KEPT, Ground.CAUGHT_UP, Ground.MOVED

# Last state: what was polled, what is shown, and why.
TABLE = {
    "LOSS": [
        (LEVEL, "LOSS", KEPT), (MOVING, "LOSS", KEPT), (UNMOVED, "LOSS", KEPT), (STOPPED, "LOSS", KEPT),
        (LOST, "LOSS", KEPT),
    ],
    "STOP": [
        (LEVEL, "OK", CAUGHT_UP), (BACK, "UNKNOWN", Ground.MEMBERS_BACK), (MOVING, "UNKNOWN", MOVED),
        (STANDS, "UNKNOWN", MOVED), (UNMOVED, "STOP", KEPT), (UNTIMED, "STOP", KEPT), (LOST, "STOP", KEPT),
        (STOPPED, "STOP", Ground.STOPPED), (STOPPED_LEVEL, "OK", CAUGHT_UP), (STOPPED_NOW, "UNKNOWN", MOVED),
    ],
    "STALL": [
        (LEVEL, "OK", CAUGHT_UP), (BACK, "STALL", KEPT), (MOVING, "UNKNOWN", MOVED), (STANDS, "UNKNOWN", MOVED),
        (UNMOVED, "STALL", KEPT), (UNTIMED, "STALL", KEPT), (LOST, "STALL", KEPT), (STOPPED, "STOP", Ground.STOPPED),
    ],
    "REWIND": [
        (LEVEL, "OK", CAUGHT_UP), (MOVING, "REWIND", KEPT), (UNMOVED, "REWIND", KEPT), (LOST, "REWIND", KEPT),
        (STOPPED, "STOP", Ground.STOPPED),
    ],
    "WARN": [
        (LEVEL, "OK", CAUGHT_UP), (MOVING, "WARN", KEPT), (UNMOVED, "WARN", KEPT), (LOST, "WARN", KEPT),
        (STOPPED, "STOP", Ground.STOPPED),
    ],
    "UNKNOWN": [
        (LEVEL, "UNKNOWN", KEPT), (MOVING, "UNKNOWN", KEPT), (UNMOVED, "UNKNOWN", KEPT), (LOST, "UNKNOWN", KEPT),
        (STOPPED, "STOP", Ground.STOPPED),
    ],
    "RECREATED": [
        (LEVEL, "RECREATED", KEPT), (MOVING, "RECREATED", KEPT), (STANDS, "UNKNOWN", Ground.STANDS),
        (STOPPED, "STOP", Ground.STOPPED),
    ],
    "OK": [
        (LEVEL, "OK", KEPT), (MOVING, "OK", KEPT), (STANDS, "UNKNOWN", Ground.STANDS),
        (UNMOVED, "UNKNOWN", Ground.STANDS), (UNTIMED, "UNKNOWN", Ground.STANDS), (NO_LAG, "OK", KEPT),
        (LOST, "UNKNOWN", Ground.LAG_UNKNOWN), (BACK, "UNKNOWN", Ground.STANDS), (EXCUSED, "OK", KEPT),
        (STOPPED, "STOP", Ground.STOPPED), (STOPPED_LEVEL, "OK", KEPT), (STOPPED_NOW, "OK", KEPT),
    ],
}  # fmt: skip
CASES = [(last, *case) for last, cases in TABLE.items() for case in cases]


@pytest.mark.parametrize(("last", "polled", "shown", "ground"), CASES)
def test_the_last_state_stays_until_what_was_polled_contradicts_it(last, polled, shown, ground):
    assert late_state(State(last), polled, TIMES) == (shown, ground)


@dataclass(frozen=True)
class Case:
    """One queue of a group of its own."""

    state: State
    lag: int | None
    reason: str | None
    waiting_since: object
    members: str


OFFLINE = {"online": False, "offline_since": ago(1200), "moved_at": ago(1300), "membership_at": ago(20)}
GROUPS = {
    "online": {"online": True, "membership_at": ago(20)},
    "not asked": {"online": None},
    "stopped": OFFLINE,
    "paused": OFFLINE | {"consume_enable": False},
    "offline for a moment": OFFLINE | {"offline_since": ago(60)},
    "kept outside": {"online": True, "outside_store": "com.example.Redis"},
}
POLLED = [
    (0, None, None),
    *((7, None, at) for at in (None, ago(9), ago(61), ago(179), ago(181), EVALUATED, ago(481))),
    (None, UnknownReason.NEVER_COMMITTED, None),
    (None, UnknownReason.CONSUMER_AHEAD, None),
    (7, UnknownReason.OFFSET_LOST, ago(3600)),
]


def every_case():
    return [Case(state, *polled, members) for state, polled, members in product(State, POLLED, GROUPS)]


def build(cases, brokers):
    """A group and a queue for each case."""
    cluster = a_cluster()
    for name, fields in brokers.items():
        a_broker(cluster, name, **fields)
    topic = Topic.objects.create(cluster=cluster, name="Orders", kind="normal", first_seen_at=ago(86400))
    groups = ConsumerGroup.objects.bulk_create(
        ConsumerGroup(cluster=cluster, name=f"g{number}", kind="user", first_seen_at=ago(86400), **GROUPS[case.members])
        for number, case in enumerate(cases)
    )
    queues = Queue.objects.bulk_create(
        Queue(topic=topic, broker=list(brokers)[number % len(brokers)], queue_id=number)
        for number, _ in enumerate(cases)
    )
    made = list(zip(groups, queues, cases, strict=True))
    QueueSnapshot.objects.bulk_create(
        QueueSnapshot(
            group=group, queue=queue, consumer_offset=None if case.lag is None else 10,
            broker_offset=None if case.lag is None else 10 + case.lag, unknown_reason=case.reason,
            waiting_since=case.waiting_since, changed_at=ago(5),
        )
        for group, queue, case in made
    )  # fmt: skip
    rule = {"rule": "paused", "since": ago(900), "judged_at": EVALUATED, "time_lag_kind": "exact"}
    QueueState.objects.bulk_create(
        QueueState(group=group, queue=queue, state=case.state, **rule) for group, queue, case in made
    )
    GroupState.objects.bulk_create(
        GroupState(group=group, state=case.state, completeness=1.0, **rule) for group, queue, case in made
    )
    GroupTotal.objects.bulk_create(
        GroupTotal(
            group=group, queues=1, unknown_queues=1, never_committed_queues=0, lost_queues=1,
            unknown_reason=UnknownReason.OFFSET_LOST, changed_at=ago(5),
        )
        for group, _, case in made if case.reason == UnknownReason.OFFSET_LOST
    )  # fmt: skip
    return groups


@pytest.mark.django_db
@pytest.mark.parametrize("failing_since", [None, ago(3)], ids=["read", "one broker not read"])
def test_sql_says_what_the_pure_function_says(failing_since):
    cases = every_case()
    build(cases, {"broker-a": {}, "broker-b": {"failing_since": failing_since, "error": "refused"}})
    overlay = Overlay.at(NOW)
    found = ConsumerGroup.objects.annotate(rank=overlay.late_queues("rank")).order_by("pk")
    in_sql = [list(State)[rank] for rank in found.values_list("rank", flat=True)]
    in_python = [
        late_state(case.state, polled_of(case, unread=bool(failing_since and number % 2)), TIMES)[0]
        for number, case in enumerate(cases)
    ]
    different = [row for row in zip(cases, in_sql, in_python, strict=True) if row[1] != row[2]]
    assert different == []
    assert set(in_sql) == set(State)


def polled_of(case, unread):
    outside = case.members == "kept outside"
    lag = None if unread or outside or case.reason is not None else case.lag
    reason = "unread" if unread else "kept outside" if outside else case.reason
    return Polled(
        lag, reason if lag is None else None, None if unread else case.waiting_since, GROUPS[case.members]["online"],
        case.members == "stopped", case.members == "paused" and case.state == State.OK,
    )  # fmt: skip


@pytest.mark.django_db
def test_rows_of_queues_and_lists_of_groups_say_the_same():
    cases = [case for case in every_case() if case.lag != 0 or case.members in ("online", "stopped")][::7]
    groups = build(cases, {"broker-a": {}})
    rows = {row.group: row for row in group_list(GroupFilters(), now=NOW, page_size=1000).rows}
    for group, case in zip(groups, cases, strict=True):
        group.refresh_from_db()
        [queue] = group_queues(group, now=NOW)
        row = rows[group.name]
        assert (row.state, row.stale) == (queue.state, queue.stale), case
        assert queue.unknown.get("since") is None or queue.since is None


def an_old_group(state="OK", **fields):
    cluster = a_cluster()
    a_broker(cluster)
    group, queue = a_group(cluster, **fields), a_queue(cluster)
    evaluated = {"judged_at": EVALUATED, "time_lag_seconds": 12.0}
    a_judged_queue(group, queue, state, **evaluated)
    a_judged_group(group, state, worst_queue=queue, rule="blocked", **evaluated)
    return group, queue


def rows_of(group):
    [row], [queue] = group_list(GroupFilters(), now=NOW).rows, group_queues(group, now=NOW)
    return row, queue


@pytest.mark.django_db
def test_a_bad_state_that_stays_is_stale_with_the_time_of_its_evaluation():
    group, queue = an_old_group("STALL")
    a_snapshot(group, queue, 3, 10, waiting_since=ago(900))
    a_total(group, 7)
    for row in rows_of(group):
        assert (row.state, row.stale, row.judged_at) == ("STALL", True, EVALUATED)
        assert row.state_detail.startswith(("blocked", "lagging"))


@pytest.mark.django_db
def test_numbers_of_an_evaluation_that_is_late_are_null_with_their_reason():
    group, queue = an_old_group()
    a_snapshot(group, queue, 3, 10, waiting_since=ago(9))
    a_total(group, 7)
    row, _ = rows_of(group)
    why = "not evaluated since 2026-03-14 02:52:00 UTC"
    for name in ("time_lag_seconds", "consume_rate", "produce_rate", "drain_seconds", "retry_share", "completeness"):
        assert (name, getattr(row, name), row.unknown[name]) == (name, None, why)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("waiting_since", "seconds"),
    # The message that was evaluated, 12 s old then and 480 s older now; another one, seen for so long; not known.
    [(ago(600), 600.0), (EVALUATED, 492.0), (ago(100), 100.0), (None, None)],
)
def test_while_the_offset_stands_a_queue_has_waited_for_at_least_so_long(waiting_since, seconds):
    group, queue = an_old_group("STALL")
    a_snapshot(group, queue, 3, 10, waiting_since=waiting_since)
    a_total(group, 7)
    _, row = rows_of(group)
    kind = "unknown" if seconds is None else "at_least"
    assert (row.time_lag_seconds, row.time_lag_kind) == (seconds, kind)


@pytest.mark.django_db
def test_a_stall_that_has_caught_up_is_over_without_an_evaluation():
    group, queue = an_old_group("STALL")
    a_snapshot(group, queue, 10, 10, changed_at=ago(40))
    a_total(group, 0, changed_at=ago(40))
    for row in rows_of(group):
        assert (row.state, row.stale, row.since, row.state_detail) == ("OK", False, ago(40), "caught up")


@pytest.mark.django_db
def test_a_group_that_lost_its_members_is_stopped_without_an_evaluation():
    group, queue = an_old_group(**{**OFFLINE, "members": 0})
    a_snapshot(group, queue, 3, 10, waiting_since=ago(900))
    a_total(group, 7)
    for row in rows_of(group):
        assert (row.state, row.stale, row.since) == ("STOP", False, ago(1200))
        assert row.state_detail == "no members · lag 7 messages · no member for 20 min"


@pytest.mark.django_db
def test_an_evaluation_sees_the_last_minutes_and_brokers_said_for_longer_that_nobody_is_there():
    group = a_group(a_cluster(), **{**OFFLINE, "members": 0, "membership_at": ago(30)})
    a_broker(group.cluster)
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 3, 10)
    a_total(group, 7)
    told = {"rule": "no_members", "detail": {"without_members_seconds": 840.0}}
    a_judged_queue(group, queue, "STOP", **told)
    a_judged_group(group, "STOP", worst_queue=queue, **told)
    for row in rows_of(group):
        assert row.state_detail.endswith("no member for 19 min")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "fields",
    [
        {"consume_enable": False},
        {"consume_type": "CONSUME_ACTIVELY"},
        {"message_model": "BROADCASTING"},
        {"outside_store": "com.example.Redis"},
        {"moved_at": ago(900)},
        {"moved_at": ago(140), "offline_since": ago(100)},
        {"offline_since": ago(100), "moved_at": None},
        {"membership_at": ago(1000)},
        {"presence": {f"2026-03-{day:02}": [100, 90] for day in range(6, 15)}, "first_seen_at": ago(30 * 86400)},
        {"offline_since": ago(8 * 86400), "moved_at": ago(8 * 86400)},
        {"online": None},
    ],
    ids=[
        *("paused", "pulls", "broadcasting", "outside", "unlisted", "moved", "a_moment"),
        *("unwatched", "habit", "ghost", "unread"),
    ],
)
def test_a_group_is_not_stopped_where_no_members_is_no_fault_or_not_known(fields):
    group, queue = an_old_group(**{**OFFLINE, "members": 0, **fields})
    a_snapshot(group, queue, 3, 10, waiting_since=ago(900))
    a_total(group, 7)
    [queue_row] = group_queues(group, now=NOW)
    assert queue_row.state == "UNKNOWN"
    assert group.pk not in Overlay.at(NOW).live.stopped


@pytest.mark.django_db
def test_a_group_that_was_never_evaluated_is_stopped_as_well_once_it_is_due():
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster, **{**OFFLINE, "members": 0})
    a_snapshot(group, a_queue(cluster), 3, 10, waiting_since=ago(900))
    a_total(group, 7)
    for row in rows_of(group):
        assert (row.state, row.stale, row.judged_at) == ("STOP", False, None)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("was", "lag", "state"),
    # 12 messages are produced in a second, 720 in the threshold of 60 s.
    [(100, 90, "OK"), (100, 820, "OK"), (100, 821, "UNKNOWN"), (None, 720, "OK"), (None, 721, "UNKNOWN")],
)
def test_a_lag_that_has_grown_by_more_than_comes_and_goes_is_no_longer_vouched_for(was, lag, state):
    group, queue = an_old_group()
    a_snapshot(group, queue, 0, lag, waiting_since=ago(9))
    a_total(group, lag)
    group.windows.create(step_seconds=60, start=ago(600), lag_messages=5000, readings=4)
    group.windows.create(step_seconds=60, start=ago(540), lag_messages=was, readings=4)
    row, _ = rows_of(group)
    assert (row.state, row.stale) == (state, state == "OK")
    if state == "UNKNOWN":
        assert row.state_detail == "not evaluated since 2026-03-14 02:52:00 UTC; the lag has not decreased since"


@pytest.mark.django_db
def test_while_the_worst_queue_has_caught_up_the_next_worst_is_shown():
    group, queue = an_old_group("STALL")
    a_snapshot(group, queue, 10, 10)
    other = a_queue(group.cluster, queue_id=1)
    a_judged_queue(group, other, "WARN", rule="time lag rises", judged_at=EVALUATED)
    a_snapshot(group, other, 3, 10, waiting_since=ago(9))
    a_total(group, 7)
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert (row.state, row.stale) == ("WARN", True)
    assert row.state_detail.startswith("time lag rises · queue 1 of Orders on broker-a")


@pytest.mark.django_db
@pytest.mark.parametrize(("limit", "state"), [(900.0, "OK"), (400.0, "UNKNOWN")])
def test_offline_by_habit_stays_so_for_as_long_as_it_usually_waits(limit, state):
    group, queue = an_old_group(**{**OFFLINE, "moved_at": None, "offline_since": ago(100)})
    for model in (GroupState, QueueState):
        model.objects.update(rule="offline_by_habit", detail={"usual_limit_seconds": limit})
    a_snapshot(group, queue, 3, 10, waiting_since=ago(900))
    a_total(group, 7)
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert (row.state, row.stale) == (state, state == "OK")


@pytest.mark.django_db
def test_a_state_whose_broker_is_not_read_is_as_of_the_last_reading_in_lists_queues_and_metrics():
    cluster = a_cluster(read_at=ago(4))
    a_broker(cluster, last_read_at=ago(14), failing_since=ago(9), error="timed out")
    group, queue = a_group(cluster), a_queue(cluster)
    a_judged_queue(group, queue, "OK", judged_at=ago(6))
    a_judged_group(group, "OK", worst_queue=queue, judged_at=ago(6))
    a_snapshot(group, queue, 10, 10)
    a_total(group, 0, last_good_at=ago(14))
    for row in rows_of(group):
        assert (row.state, row.stale, row.lag_messages, state_time(row)) == ("OK", True, None, ago(14))
    ages = {family.name: dict(family.samples) for family in scrape(NOW).families}
    assert list(ages["consumerscope_group_state_age_seconds"].values()) == [14.0]


@pytest.mark.django_db
def test_a_state_is_not_stale_while_its_broker_is_read():
    cluster = a_cluster(read_at=ago(4))
    a_broker(cluster, last_read_at=ago(4))
    group, queue = a_group(cluster), a_queue(cluster)
    a_judged_queue(group, queue, "OK", judged_at=ago(6))
    a_judged_group(group, "OK", worst_queue=queue, judged_at=ago(6))
    a_snapshot(group, queue, 10, 10)
    a_total(group, 0)
    assert [(row.state, row.stale) for row in rows_of(group)] == [("OK", False), ("OK", False)]
