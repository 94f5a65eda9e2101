"""Lists show and order groups by their health: the same one in SQL as in the row."""

from itertools import product

import pytest

from consumers.groups.detail import group_detail, group_head
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters
from consumers.models import ConsumerGroup, GroupHealth, HealthLevel, State
from tests.health_rows import a_healthy_group, a_read_cluster
from tests.retry_rows import a_queue_is_blocked
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_total, ago

pytestmark = pytest.mark.django_db
DEAD = {"code": "dlq_inflow", "level": "warning", "parameters": {"day_messages": 300, "per_minute": 5.0}}
TWICE = {"code": "ownership", "level": "critical", "parameters": {"finding": "doubly_owned", "queues": 2}}
NO_DLQ = {"code": "dlq_unknown", "level": "unknown", "parameters": {}}
FOUND = {"critical": TWICE, "warning": DEAD, "unknown": NO_DLQ}


def a_noted_group(cluster, name: str, state: str = "OK", level: str = "ok", lag: int = 0, **fields) -> ConsumerGroup:
    group = a_group(cluster, name)
    a_total(group, lag)
    a_judged_group(group, state)
    values = {"noted_at": ago(10), "checked_at": ago(300), "noticed": [FOUND[level]] if level in FOUND else []}
    GroupHealth.objects.create(group=group, level=level, **(values | fields))
    return group


def names(**filters) -> list[str]:
    return [row.group for row in group_list(GroupFilters(**filters), now=NOW).rows]


@pytest.fixture
def cluster():
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


def test_a_list_begins_with_the_worst_health_then_the_worst_state_then_the_most_behind(cluster) -> None:
    a_noted_group(cluster, "well")
    a_noted_group(cluster, "dying", level="warning")
    a_noted_group(cluster, "twice", level="critical")
    a_noted_group(cluster, "stopped", "STOP", lag=5)
    a_noted_group(cluster, "stopped-far", "STOP", lag=500)
    a_noted_group(cluster, "behind", "WARN", lag=9)
    a_noted_group(cluster, "unread", level="unknown")
    assert names() == ["stopped-far", "stopped", "twice", "behind", "dying", "unread", "well"]
    assert names(ordering="health") == ["stopped", "stopped-far", "twice", "behind", "dying", "unread", "well"]
    assert names(ordering="-health")[0] == "well"
    assert names(health="warning") == ["behind", "dying"]


def test_the_rank_in_sql_is_the_level_of_the_row_whatever_is_found(cluster) -> None:
    times = [{}, {"noted_at": ago(300)}, {"checked_at": ago(1000)}, {"checked_at": None}]
    for number, (state, level, fields) in enumerate(product(State, HealthLevel.values, times)):
        a_noted_group(cluster, f"group-{number}", state, level, **fields)
    a_judged_group(a_group(cluster, "never-noted"))
    seen = {level: {row.group for row in _rows(health=level)} for level in HealthLevel.values}
    assert seen == {level: {row.group for row in _rows() if row.health == level} for level in HealthLevel.values}
    assert all(seen.values())
    assert "never-noted" in seen["unknown"]


def _rows(**filters):
    return group_list(GroupFilters(**filters), now=NOW, page_size=500).rows


def test_a_row_says_why(cluster) -> None:
    a_noted_group(cluster, "email", "WARN", "warning")
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert row.health == "warning"
    assert [(reason.code, reason.text) for reason in row.health_reasons] == [
        ("state", "State WARN"),
        ("dlq_inflow", "DLQ inflow 5/min · ≥ 300 in 24 h"),
    ]


def test_one_group_is_looked_up_at_this_moment_whatever_was_noted() -> None:
    group = a_healthy_group(a_read_cluster())
    assert group_head(group, now=NOW).health == "ok"
    assert group_head(group, now=NOW).health_reasons == ()
    a_queue_is_blocked(group, orderly=False)
    for row in (group_head(group, now=NOW), group_detail("prod", "billing", now=NOW)):
        assert (row.health, [reason.text for reason in row.health_reasons]) == ("warning", ["1 blocked queue"])
    [listed] = group_list(GroupFilters(), now=NOW).rows
    assert (listed.health, [reason.code for reason in listed.health_reasons]) == ("unknown", ["checks_late"])
