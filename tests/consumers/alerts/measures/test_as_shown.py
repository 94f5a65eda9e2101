"""What rules look at is what pages show: over every mixture of brokers that are fresh, late, failing and silent."""

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from consumers.alerts.measured import Measured
from consumers.groups.detail import group_queues, topic_rows
from consumers.groups.listing import group_list
from consumers.groups.overlay import RANKS, UNKNOWN_RANK
from consumers.groups.rows import GroupFilters, GroupRow
from consumers.models import Cluster, ConsumerGroup, Measure, PipelineRun, State
from tests.consumers.alerts.measures.group_rows import everything
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_reading,
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
# Broker, lag, state, and how long ago polls say that its first message was stored.
QUEUES = st.tuples(
    st.integers(0, 1), st.sampled_from([0, 7]), st.sampled_from(list(State)), st.sampled_from([None, 8, 20])
)
GROUPS = st.fixed_dictionaries(
    {
        "queues": st.lists(QUEUES, min_size=1, max_size=4),
        "judged": st.sampled_from([ago(10), ago(269), ago(271), None]),
        "time_lag": st.sampled_from([None, 0.0, 33.0]),
    }
)
NUMBERS = {
    Measure.LAG: "lag_messages",
    Measure.TIME_LAG: "time_lag_seconds",
    Measure.EXPIRED: "expired_messages",
    Measure.RETRY_SHARE: "retry_share",
    Measure.MEMBERS: "members",
}


def build(
    brokers: tuple[dict[str, Any], ...], groups: list[dict[str, Any]], read: bool, judged: bool
) -> list[ConsumerGroup]:
    Cluster.objects.all().delete()
    PipelineRun.objects.all().delete()
    if judged:
        PipelineRun.objects.create(since=ago(60), until=ago(20), started_at=ago(20), finished_at=ago(10))
    cluster = a_cluster(read_at=None)
    a_reading(cluster, ago(5 if read else 60), brokers=[{"name": "broker-0", "read": True, "error": None}])
    for number, fields in enumerate(brokers):
        a_broker(cluster, f"broker-{number}", **fields)
    return [_group(cluster, number, wanted) for number, wanted in enumerate(groups)]


def _group(cluster: Cluster, number: int, wanted: dict[str, Any]) -> ConsumerGroup:
    group = a_group(cluster, f"group-{number}")
    for queue_id, (broker, lag, state, stored) in enumerate(wanted["queues"]):
        queue = a_queue(cluster, "Orders", queue_id, broker=f"broker-{broker}")
        a_snapshot(group, queue, 0, lag, **(first_stored(stored) if lag and stored else {}))
        a_judged_queue(group, queue, state, time_lag_seconds=wanted["time_lag"])
    times = [stored for _, lag, _, stored in wanted["queues"] if lag]
    first_us = stored_us(max(times)) if times and None not in times else None
    a_total(group, sum(lag for _, lag, *_ in wanted["queues"]), expired_messages=3, first_stored_us=first_us)
    if wanted["judged"]:
        worst = min((state for _, _, state, _ in wanted["queues"]), key=RANKS.__getitem__)
        a_judged_group(group, worst, judged_at=wanted["judged"], time_lag_seconds=wanted["time_lag"], retry_share=0.2)
    return group


@pytest.mark.django_db
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(
    ({"last_read_at": ago(5), "failing_since": ago(3)},) * 2,
    [{"queues": [(0, 7, State.OK, None)], "judged": ago(10), "time_lag": None}],
    True,
    True,
)
@given(st.tuples(BROKERS, BROKERS), st.lists(GROUPS, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_it_sees_what_is_shown(
    brokers: tuple[dict[str, Any], ...], groups: list[dict[str, Any]], read: bool, judged: bool
) -> None:
    made = build(brokers, groups, read, judged)
    found = everything("Orders")
    rows = {row.group: row for row in group_list(GroupFilters(), now=NOW).rows}
    assert [subject.group for subject in found.groups.subjects] == sorted(rows)
    for place, subject in enumerate(found.groups.subjects):
        _compare_numbers(found, place, rows[subject.group])
        _compare_state(found, place, rows[subject.group])
    _compare_topics(found, made)
    _check_explained(found, rows)


def _compare_numbers(found: Measured, place: int, row: GroupRow) -> None:
    for measure, name in NUMBERS.items():
        column = found.groups.columns[measure]
        assert column.values[place] == getattr(row, name), measure
        assert column.evidence(place)
        assert column.values[place] is not None or column.reason(place)


def _compare_state(found: Measured, place: int, row: GroupRow) -> None:
    column = found.groups.columns[Measure.STATE]
    if row.state == State.UNKNOWN:
        assert column.values[place] is None
        assert column.reason(place)
        return
    assert column.values[place] == row.state
    # Pages say beside the sentence how old a stale state is.
    as_of = f" · as of {row.judged_at:%Y-%m-%d %H:%M:%S} UTC" if row.stale else ""
    assert column.evidence(place) == row.state_detail + as_of
    assert column.since(place) in (row.since, None)


def _compare_topics(found: Measured, made: list[ConsumerGroup]) -> None:
    """Where one of a topic's queues is on a silent broker its state is unknown, but for a worse one of another."""
    table = found.topics["Orders"]
    for group in made:
        queues = group_queues(group, now=NOW)
        [row] = topic_rows(queues, {})
        place = [subject.group for subject in table.subjects].index(group.name)
        assert table.columns[Measure.LAG].values[place] == row.lag_messages
        assert table.columns[Measure.TIME_LAG].values[place] == row.time_lag_seconds
        worst = min(RANKS[queue.state] for queue in queues if queue.state)
        state = table.columns[Measure.STATE].values[place]
        assert state == (None if worst >= UNKNOWN_RANK and State.UNKNOWN in _states(queues) else _state(worst))


def _states(queues: list[Any]) -> set[State]:
    return {queue.state for queue in queues}


def _state(rank: int) -> State | None:
    return None if rank == UNKNOWN_RANK else list(State)[rank]


def _check_explained(found: Measured, rows: dict[str, GroupRow]) -> None:
    """Each group that is unread is counted once, with a subject that is evaluated itself."""
    subjects = {one.key for table in (found.brokers, found.clusters, found.site) for one in table.subjects}
    assert found.explained.keys() <= subjects
    explained = [one.group for groups in found.explained.values() for one in groups]
    assert len(set(explained)) == len(explained)
    unknown = found.groups.columns[Measure.UNKNOWN]
    for place, subject in enumerate(found.groups.subjects):
        assert (unknown.values[place] is None) is (subject.group in explained)
        if unknown.values[place]:
            assert rows[subject.group].state == State.UNKNOWN or rows[subject.group].lag_messages is None
