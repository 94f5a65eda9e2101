"""The list of groups: every filter, order and page works on what is shown, not on what is stored."""

import pytest

from consumers.groups.listing import ORDERINGS, UnknownOrdering, group_counts, group_list
from consumers.groups.overlay import Overlay
from consumers.groups.rows import GroupFilters, KnownPart
from consumers.models import ConsumerGroup, State
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


def names(**filters) -> list[str]:
    return [row.group for row in group_list(GroupFilters(**filters), now=NOW).rows]


def a_whole_group(
    cluster, name: str, lag: int = 0, state: str = "OK", *, broker: str = "broker-a", **judged
) -> ConsumerGroup:
    group = a_group(cluster, name)
    queue = a_queue(cluster, f"{name}-topic", broker=broker)
    a_snapshot(group, queue, 100, 100 + lag)
    a_total(group, lag)
    a_judged_group(group, state, worst_queue=queue, **judged)
    a_judged_queue(group, queue, state)
    return group


def test_it_shows_what_was_read_and_judged():
    cluster = a_cluster()
    a_broker(cluster)
    a_whole_group(cluster, "billing", 40, "WARN", time_lag_seconds=12.5, time_lag_kind="interpolated")

    [row] = group_list(GroupFilters(), now=NOW).rows

    assert (row.state, row.lag_messages, row.lag_messages_at_least) == (State.WARN, 40, 40)
    assert (row.time_lag_seconds, row.time_lag_kind) == (12.5, "interpolated")
    assert (row.taken_at, row.judged_at) == (ago(5), ago(20))
    assert (row.unknown_reason, row.online, row.members) == (None, True, 2)


def test_a_broker_that_was_never_read_may_hold_queues_of_any_group():
    cluster = a_cluster()
    a_broker(cluster)
    a_broker(cluster, "broker-b", reachable=False, last_read_at=None, failing_since=ago(300), error="refused")
    a_whole_group(cluster, "billing", lag=3)

    [row] = group_list(GroupFilters(), now=NOW).rows

    assert (row.state, row.lag_messages) == (State.UNKNOWN, None)
    assert "broker-b" in row.unknown_reason


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "no rebalance seen"),
        ({"membership_at": None}, "the group's members have not been asked yet"),
        ({"membership_at": None, "membership_error": "timed out"}, "timed out"),
    ],
)
def test_a_group_without_a_rebalance_says_why(fields, reason):
    group = a_whole_group(a_cluster(), "billing")
    ConsumerGroup.objects.update(**fields)
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert (row.last_rebalance_at, row.unknown["last_rebalance_at"]) == (None, reason)
    group.judged.delete()
    assert group_list(GroupFilters(), now=NOW).rows[0].unknown["last_rebalance_at"] == "not evaluated yet"


def test_the_last_rebalance_stays_so_whatever_is_not_read():
    cluster = a_cluster()
    a_dead_broker(cluster, "broker-b")
    a_whole_group(cluster, "billing", broker="broker-b", last_rebalance_at=ago(7200))
    assert group_list(GroupFilters(), now=NOW).rows[0].last_rebalance_at == ago(7200)


def test_it_shows_nothing_measured_of_a_group_on_a_dead_broker():
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster, "broker-b")
    a_whole_group(cluster, "billing", broker="broker-b")

    [row] = group_list(GroupFilters(), now=NOW).rows

    assert row.state == State.UNKNOWN
    assert row.lag_messages is row.time_lag_seconds is row.consume_rate is row.dlq_messages is row.members is None
    assert row.unknown_reason == "broker-b could not be read: connection refused"
    assert row.taken_at == ago(300)


WHY = {
    "retry_share": "nothing_consumed",
    "dlq_day_messages": {"code": "known_since", "since": "02:00", "at_least": {"into_dlq": 3}},
}


@pytest.mark.parametrize(
    ("judged", "shown"),
    [
        ({"retry_share": 0.25, "dlq_day_messages": 12}, (0.25, 12, None, None)),
        (
            {"retry_share": None, "dlq_day_messages": None, "volumes_unknown": WHY},
            (None, None, "nothing was consumed", "no data before 02:00: ≥ 3"),
        ),
        (
            {"retry_share": 0.25, "dlq_day_messages": 12, "judged_at": ago(9000)},
            (None, None, *["not evaluated since 2026-03-14 00:30:00 UTC"] * 2),
        ),
    ],
    ids=["known", "not known whole", "judged too long ago"],
)
def test_it_shows_what_is_retried_and_died_as_it_was_judged(judged, shown):
    cluster = a_cluster()
    a_broker(cluster)
    a_judged_group(a_group(cluster), **judged)
    [row] = group_list(GroupFilters(), now=NOW).rows
    reasons = [row.unknown.get(name) for name in WHY]
    assert (row.retry_share, row.dlq_day_messages, *reasons) == shown


@pytest.mark.parametrize(("seconds", "known"), [(20, {"dlq_day_messages": KnownPart(3, ago(3600))}), (9000, {})])
def test_it_shows_what_is_known_of_them_while_the_judgement_holds(seconds, known):
    cluster = a_cluster()
    a_broker(cluster)
    part = {"dlq_day_messages": None, "dlq_day_messages_at_least": 3, "dlq_day_since": ago(3600)}
    a_judged_group(a_group(cluster), judged_at=ago(seconds), **part)
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert row.known_parts == known


def test_it_finds_by_the_state_that_is_shown():
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster, "broker-b")
    a_whole_group(cluster, "well")
    a_whole_group(cluster, "dead", broker="broker-b")

    assert names(state=State.UNKNOWN) == ["dead"]
    assert names(state=State.OK) == ["well"]
    assert group_counts(Overlay.at(NOW), GroupFilters()).states[State.UNKNOWN] == 1


@pytest.mark.parametrize("column", sorted(ORDERINGS))
@pytest.mark.parametrize("direction", ["", "-"])
def test_it_orders_by_every_column_with_unknown_last(column: str, direction: str):
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster, "broker-b")
    for name, lag in (("low", 1), ("high", 9)):
        a_whole_group(
            cluster, name, lag, time_lag_seconds=float(lag), consume_rate=float(lag), drain_seconds=float(lag)
        )
    a_whole_group(cluster, "a-dead", broker="broker-b")

    found = group_list(GroupFilters(ordering=direction + column), now=NOW).rows
    values = [getattr(row, column) for row in found]

    known = [value for value in values if value is not None]
    assert values == known + [None] * (len(values) - len(known))
    if column not in ("state",):
        assert known == sorted(known, reverse=bool(direction))


def test_it_rejects_an_order_by_a_column_that_is_none():
    with pytest.raises(UnknownOrdering, match="password"):
        group_list(GroupFilters(ordering="password"), now=NOW)
