"""The overlay, over every mixture of fresh, late, failing and silent: lists in SQL agree with queues in Python."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consumers.models import Cluster, State
from consumers.selectors.groups.listing import group_list, state_counts
from consumers.selectors.groups.overlay import RANKS, UNKNOWN_RANK
from consumers.selectors.groups.rows import GroupFilters
from consumers.selectors.queues import group_queues
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

BROKERS = st.fixed_dictionaries(
    {
        "last_read_at": st.sampled_from([ago(5), ago(44), ago(46), ago(600), None]),
        "failing_since": st.sampled_from([None, ago(3)]),
    }
)
QUEUES = st.tuples(st.integers(0, 1), st.sampled_from([0, 7]), st.sampled_from(list(State)))
GROUPS = st.fixed_dictionaries(
    {
        "queues": st.lists(QUEUES, min_size=1, max_size=4),
        "judged": st.sampled_from([ago(10), ago(269), ago(271), None]),
        "time_lag": st.sampled_from([None, 0.0, 33.0]),
    }
)


def build(brokers, groups):
    Cluster.objects.all().delete()
    cluster = a_cluster()
    for number, fields in enumerate(brokers):
        a_broker(cluster, f"broker-{number}", **fields)
    made = []
    for number, wanted in enumerate(groups):
        group = a_group(cluster, f"group-{number}")
        for queue_id, (broker, lag, state) in enumerate(wanted["queues"]):
            queue = a_queue(cluster, f"topic-{number}", queue_id, broker=f"broker-{broker}")
            a_snapshot(group, queue, 0, lag)
            a_judged_queue(group, queue, state, time_lag_seconds=wanted["time_lag"])
        a_total(group, sum(lag for _, lag, _ in wanted["queues"]))
        if wanted["judged"]:
            worst = min((state for _, _, state in wanted["queues"]), key=RANKS.__getitem__)
            a_judged_group(group, worst, judged_at=wanted["judged"], time_lag_seconds=wanted["time_lag"])
        made.append(group)
    return made


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(brokers=st.tuples(BROKERS, BROKERS), groups=st.lists(GROUPS, min_size=1, max_size=4))
def test_a_group_shows_what_its_queues_show(brokers, groups):
    # On a broker that was never read the group may have queues that nobody has seen.
    unseen = any(broker["last_read_at"] is None for broker in brokers)
    for group in build(brokers, groups):
        [row] = group_list(GroupFilters(search=group.name), now=NOW).rows
        queues = group_queues(group, now=NOW)

        lags = [queue.lag_messages for queue in queues]
        assert row.lag_messages == (None if None in lags or unseen else sum(lags))
        assert (row.unknown_reason is None) == (row.lag_messages is not None)
        worst = min(RANKS[queue.state] for queue in queues)
        assert RANKS[row.state] == worst or (worst > UNKNOWN_RANK and row.state == State.UNKNOWN)
        if row.lag_messages == 0:
            assert row.time_lag_seconds == 0
        else:
            assert row.time_lag_seconds is None or (row.time_lag_seconds > 0 and row.lag_messages)
        if row.judged_at is None or row.judged_at == ago(271):
            assert row.state == State.UNKNOWN
            assert row.consume_rate is None


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
    assert state_counts(GroupFilters(), NOW) == {state: shown.count(state) for state in State}
