"""Sums of all groups over time: known where every group is, and at least what the known ones have."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.models import Cluster, ConsumerGroup, GroupWindow, PipelineRun
from consumers.overview import fleet
from consumers.overview.fleet import Fleet, fleet_history
from tests.world import NOW, a_broker, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def cluster() -> Cluster:
    PipelineRun.objects.create(since=ago(900), until=NOW, started_at=NOW, finished_at=NOW)
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


def a_window(group: ConsumerGroup, minutes: int, lag: int | None = 10, **fields: Any) -> None:
    said = {"produce_rate": 2.0, "consume_rate": 1.5, "readings": 4, "step_seconds": 60, **fields}
    GroupWindow.objects.create(group=group, start=NOW - minutes * MINUTE, lag_messages=lag, **said)


def found(minutes: int = 1, cluster: str | None = None) -> Fleet:
    return fleet_history(cluster=cluster, since=NOW - minutes * MINUTE, until=NOW, now=NOW)


def lags(history: Fleet) -> list[float | None]:
    return [point.sums["lag_messages"] for point in history.points]


def test_it_sums_lag_and_rates_of_all_groups(cluster: Cluster) -> None:
    for name in ("billing", "stock"):
        a_window(a_group(cluster, name), 1)
    [point] = found().points
    assert point.sums == {"lag_messages": 20, "produce_rate": 4.0, "consume_rate": 3.0}
    assert (point.at, point.reasons) == (NOW - MINUTE, {})


@pytest.mark.parametrize("second", [None, "no window"])
def test_a_sum_of_some_groups_is_not_the_sum(cluster: Cluster, second: str | None) -> None:
    stock = a_group(cluster, "stock")
    a_window(a_group(cluster, "billing"), 1, 10)
    if second is None:
        a_window(stock, 1, None, produce_rate=None, consume_rate=None, unknown_reason="broker_unread")
    [point] = found().points
    assert point.sums == dict.fromkeys(fleet.FIELDS)
    assert point.known == {"lag_messages": 10, "produce_rate": 2.0, "consume_rate": 1.5}
    why = ": a broker of this group was not read" if second is None else ""
    assert set(point.reasons.values()) == {f"no data for 1 of 2 groups{why}"}


def test_a_group_without_lag_by_its_nature_leaves_the_sum_complete(cluster: Cluster) -> None:
    a_window(a_group(cluster, "billing"), 1, 10)
    nothing = {"produce_rate": None, "consume_rate": None, "unknown_reason": "never_committed"}
    a_window(a_group(cluster, "new"), 1, None, **nothing)
    assert found().points[0].sums["lag_messages"] == 10


def test_a_group_that_came_later_is_missing_from_no_window_before(cluster: Cluster) -> None:
    billing = a_group(cluster, "billing")
    for minutes in (1, 2):
        a_window(billing, minutes, 10)
    a_window(a_group(cluster, "new", first_seen_at=NOW - MINUTE), 1, 5)
    assert lags(found(2)) == [10, 15]


def test_a_group_that_came_within_a_window_does_not_make_up_for_one_that_is_unknown(cluster: Cluster) -> None:
    a_window(a_group(cluster, "billing"), 1, 10)
    unread = {"produce_rate": None, "consume_rate": None, "unknown_reason": "broker_unread"}
    a_window(a_group(cluster, "stock"), 1, None, **unread)
    a_window(a_group(cluster, "new", first_seen_at=NOW - MINUTE / 2), 1, 5)
    [point] = found().points
    assert (point.sums["lag_messages"], point.known["lag_messages"]) == (None, 15)


def test_a_window_without_polls_is_unknown_with_that_reason(cluster: Cluster) -> None:
    a_window(a_group(cluster, "billing"), 1)
    history = found(2)
    assert lags(history) == [None, 10]
    assert history.points[0].reasons["lag_messages"] == "no poll in this window"


def test_groups_of_another_cluster_and_of_the_system_are_left_out(cluster: Cluster) -> None:
    a_window(a_group(cluster, "billing"), 1, 10)
    a_window(a_group(a_cluster("test"), "stock"), 1, 5)
    a_window(a_group(cluster, "CID_RMQ_SYS_TRANS", kind="system"), 1, 7)
    assert (lags(found()), lags(found(cluster="prod"))) == ([15], [10])


def test_windows_are_wider_where_groups_are_many(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        a_group(cluster, f"group-{number}")
    monkeypatch.setattr(fleet, "MOST_ROWS", 30)
    assert (found(10).step_seconds, found(11).step_seconds) == (60, 600)
