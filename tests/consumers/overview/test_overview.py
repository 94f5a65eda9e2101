"""The overview: sums that say when a part is missing, and one row for one cause."""

import pytest

from consumers.groups.rows import KnownPart
from consumers.models import GroupTotal, State, StateChange
from consumers.overview.queries import overview
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_queue,
    a_snapshot,
    a_total,
    ago,
    stored_us,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster():
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


def a_whole_group(cluster, name, lag=0, state="OK", broker="broker-a", **judged):
    group = a_group(cluster, name)
    a_snapshot(group, a_queue(cluster, name, broker=broker), 100, 100 + lag)
    a_total(group, lag)
    a_judged_group(group, state, **judged)
    return group


def the_overview(**arguments):
    return overview(since=ago(3600), until=NOW, now=NOW, **arguments)


def test_it_sums_what_is_known_of_all(cluster):
    a_whole_group(cluster, "billing", 40, "WARN", time_lag_seconds=61.0, time_lag_kind="interpolated")
    a_whole_group(cluster, "audit", 2, time_lag_seconds=1.0, time_lag_kind="interpolated")

    seen = the_overview()

    assert (seen.lag_messages, seen.lag_messages_at_least, seen.dlq_messages) == (42, 42, 0)
    assert (seen.time_lag_seconds, seen.time_lag_kind, seen.oldest_group.group) == (61.0, "interpolated", "billing")
    assert (seen.counts[State.WARN], seen.counts[State.OK], seen.groups) == (1, 1, 2)


def test_the_longest_time_lag_may_be_one_that_polls_tell(cluster):
    a_whole_group(cluster, "billing", 40, time_lag_seconds=6.0, time_lag_kind="interpolated")
    a_whole_group(cluster, "audit", 2)
    GroupTotal.objects.filter(group__name="audit").update(first_stored_us=stored_us(12.5))

    seen = the_overview()

    assert (seen.time_lag_seconds, seen.time_lag_kind, seen.oldest_group.group) == (7.5, "interpolated", "audit")
    assert seen.time_lag_at == ago(5)


def test_it_has_no_sum_where_a_part_is_unknown(cluster):
    a_dead_broker(cluster, "broker-b")
    a_whole_group(cluster, "billing", 40, time_lag_seconds=61.0, time_lag_kind="interpolated")
    a_whole_group(cluster, "audit", broker="broker-b")

    seen = the_overview()

    assert (seen.lag_messages, seen.lag_messages_at_least, seen.dlq_messages) == (None, 40, None)
    assert seen.unknown_reason == "no data for 1 of 2 groups"
    assert (seen.time_lag_seconds, seen.time_lag_kind) == (61.0, "at_least")


@pytest.mark.parametrize(
    ("billing", "total"),
    [
        pytest.param({"time_lag_kind": "at_least"}, {"unknown_queues": 0}, id="lower bound of one group"),
        pytest.param({}, {"lag_messages": None, "unknown_queues": 1}, id="one queue of a group is unknown"),
    ],
)
def test_the_longest_time_lag_is_a_lower_bound_where_that_of_a_group_is(cluster, billing, total):
    group = a_whole_group(cluster, "billing", 40, time_lag_seconds=61.0, **{"time_lag_kind": "interpolated"} | billing)
    GroupTotal.objects.filter(group=group).update(**total)
    a_whole_group(cluster, "audit", 2, time_lag_seconds=70.0, time_lag_kind="interpolated")

    seen = the_overview()

    assert (seen.time_lag_seconds, seen.time_lag_kind) == (70.0, "at_least")


def test_it_sums_what_died_in_a_day(cluster):
    a_whole_group(cluster, "billing", dlq_day_messages=12)
    a_whole_group(cluster, "audit", dlq_day_messages=300)
    assert the_overview().dlq_day_messages == 312


def test_it_says_of_how_many_groups_it_is_not_known_what_died(cluster):
    a_whole_group(cluster, "billing", dlq_day_messages=1200)
    a_whole_group(cluster, "audit", dlq_day_messages=None)
    seen = the_overview()
    assert seen.dlq_day_messages is None
    assert seen.unknown["dlq_day_messages"] == ("DLQ inflow of 24 h is incomplete for 1 of 2 groups: ≥ 1,200 in total")


def test_what_is_known_of_the_dead_letters_is_summed_and_said_since_when(cluster):
    known = {"dlq_day_messages": None, "dlq_day_messages_at_least": 40, "dlq_day_since": ago(900)}
    a_whole_group(cluster, "billing", **known)
    a_whole_group(cluster, "audit", **(known | {"dlq_day_messages_at_least": 4, "dlq_day_since": ago(600)}))
    assert the_overview().known_parts == {"dlq_day_messages": KnownPart(44, ago(900))}


def test_where_a_group_is_known_of_the_whole_day_no_moment_says_since_when(cluster):
    a_whole_group(cluster, "billing", dlq_day_messages=3, dlq_day_messages_at_least=3)
    a_whole_group(cluster, "audit", dlq_day_messages=None, dlq_day_messages_at_least=4, dlq_day_since=ago(600))
    assert the_overview().known_parts == {"dlq_day_messages": KnownPart(7, None)}


def test_it_leaves_out_of_the_sum_a_group_that_never_committed(cluster):
    a_whole_group(cluster, "billing", 40)
    a_total(a_group(cluster, "young"), None, unknown_reason="never_committed", queues=4, never_committed_queues=4)
    assert the_overview().lag_messages == 40


def test_it_knows_no_sum_of_no_groups(cluster):
    seen = the_overview()
    assert (seen.lag_messages, seen.lag_messages_at_least, seen.time_lag_seconds) == (None, None, None)
    assert seen.unknown_reason == "no group has been read yet"


def test_it_counts_the_groups_of_a_dead_broker_in_one_row(cluster):
    a_dead_broker(cluster, "broker-b")
    for number in range(3):
        a_whole_group(cluster, f"group-{number}", broker="broker-b")
    a_whole_group(cluster, "well")

    [cause] = the_overview().causes

    assert (cause.broker, cause.groups, cause.since) == ("broker-b", 3, ago(300))
    assert cause.cause == "broker-b could not be read: connection refused"


def test_it_tells_apart_why_groups_are_not_judged(cluster):
    a_total(a_group(cluster, "young"), 0)
    a_whole_group(cluster, "stale", judged_at=ago(7200))
    a_whole_group(cluster, "few", state="UNKNOWN", rule="too_few_readings")

    causes = {cause.cause.split(":")[0]: cause.groups for cause in the_overview().causes}

    assert causes == {"not evaluated yet": 1, "evaluation is late": 1, "too few scrapes to evaluate": 1}


def test_it_puts_the_worst_first_and_says_why(cluster):
    a_whole_group(cluster, "billing", 40, "WARN", rule="falling_behind")
    queue = a_queue(cluster, "Stock", 3)
    detail = {"still_seconds": 720, "lag_messages": 9120}
    a_whole_group(cluster, "inventory", 9120, "STALL", rule="blocked", detail=detail, worst_queue=queue)
    a_whole_group(cluster, "audit")

    worst = the_overview().worst

    assert [row.row.group for row in worst] == ["inventory", "billing"]
    assert worst[0].parts == [
        "blocked",
        "queue 3 of Stock on broker-a: no commit for 12 min, lag 9,120 messages",
    ]


def test_it_lists_the_changes_of_the_range(cluster):
    group = a_whole_group(cluster, "billing")
    for seconds, before, after in ((5000, None, "OK"), (60, "OK", "WARN")):
        StateChange.objects.create(group=group, at=ago(seconds), before=before, after=after, rule="falling_behind")

    [change] = the_overview().changes

    assert (change.group, change.before, change.after, change.at) == ("billing", State.OK, State.WARN, ago(60))


def test_it_looks_at_one_cluster_where_one_is_named(cluster):
    a_whole_group(cluster, "billing", 40)
    other = a_cluster("other")
    a_broker(other)
    a_whole_group(other, "audit", 2)
    assert the_overview(cluster="other").lag_messages == 2


def test_it_leaves_system_groups_out(cluster):
    a_total(a_group(cluster, "CID_RMQ_SYS_TRANS", kind="system"), 1000)
    assert the_overview().groups == 0
