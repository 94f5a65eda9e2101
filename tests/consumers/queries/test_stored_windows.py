"""Hours and days as they are stored, and those that are not made yet merged from finer ones."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, DueWindow, GroupWindow, PipelineRun
from consumers.pipeline.upkeep import make_due, note_due
from consumers.pipeline.volumes import VOLUMES
from consumers.queries.history import group_history, sparklines
from consumers.retries.volumes import volumes_of
from tests.pipeline_rows import PLACE, put
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TODAY = NOW.replace(hour=0)
YESTERDAY = TODAY - DAY


@pytest.fixture
def lake(tmp_path, settings) -> Lake:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    return Lake.at(str(tmp_path))


@pytest.fixture
def group() -> ConsumerGroup:
    done = {"since": ago(3600), "until": NOW, "started_at": ago(60), "finished_at": ago(50)}
    PipelineRun.objects.create(**done)
    return a_group(a_cluster())


def a_window(lake: Lake, step: int, start: Any, lag: int, queue_id: int = 0) -> None:
    row = {**PLACE, "queue_id": queue_id, "start": start, "step_seconds": step, "kind": "normal", "readings": 4}
    row |= {"lag_messages": lag, "consume_rate": 2.0, "produce_rate": 1.0}
    put(lake, f"windows_{step}", [row], time="start", prefix=f"{queue_id}-")


def lags(days: int, step: int, by: Any = "queue") -> dict[Any, int]:
    """Of the first queue, or of the group, where it is known."""
    found = group_history("prod", "billing", since=NOW - days * DAY, until=NOW, now=NOW, step_seconds=step, by=by)
    assert found is not None
    return {point.at: point.lag_messages for point in found.series[0].points if point.lag_messages is not None}


def test_queues_have_the_hours_that_are_made(lake, group):
    a_window(lake, 3600, NOW - 300 * HOUR, 7)
    a_window(lake, 600, NOW - 300 * HOUR, 8)
    assert lags(30, 3600) == {NOW - 300 * HOUR: 7}


def test_an_hour_that_is_to_be_made_anew_is_merged_in_place_of_what_is_stored(lake, group):
    for hours in (3, 2, 1):
        a_window(lake, 3600, NOW - hours * HOUR, 7)
        a_window(lake, 600, NOW - hours * HOUR, 8)
    a_window(lake, 3600, NOW - HOUR, 9, queue_id=1)
    for hours in (3, 1):
        note_due(["prod"], NOW - hours * HOUR)
    found = group_history("prod", "billing", since=NOW - 3 * HOUR, until=NOW, now=NOW, step_seconds=3600, by="queue")
    assert [[point.lag_messages for point in series.points] for series in found.series] == [[8, 7, 8]]


def test_an_hour_whose_finer_windows_are_gone_stays(lake, group):
    a_window(lake, 3600, NOW - HOUR, 7)
    note_due(["prod"], NOW - HOUR)
    assert lags(30, 3600) == {NOW - HOUR: 7}


def test_of_another_cluster_nothing_is_due_here(lake, group):
    a_cluster("test", read_at=None)
    a_window(lake, 3600, NOW - HOUR, 7)
    a_window(lake, 600, NOW - HOUR, 8)
    note_due(["test"], NOW - HOUR)
    assert lags(30, 3600) == {NOW - HOUR: 7}


def test_today_is_merged_from_its_hours_and_the_hour_that_is_not_made(lake, group):
    a_window(lake, 86400, YESTERDAY, 5)
    a_window(lake, 3600, TODAY, 6)
    a_window(lake, 600, TODAY + HOUR, 9)
    note_due(["prod"], TODAY + HOUR)
    assert lags(365, 86400) == {YESTERDAY: 5, TODAY: 9}


def test_what_is_merged_is_what_is_made_later(lake, group):
    for minutes in range(0, 120, 10):
        a_window(lake, 600, YESTERDAY + timedelta(minutes=minutes), minutes)
        note_due(["prod"], YESTERDAY + timedelta(minutes=minutes))

    def of_queue(step: int) -> list[Any]:
        return group_history("prod", "billing", since=YESTERDAY, until=TODAY, now=NOW, step_seconds=step, by="queue")

    before = of_queue(3600), of_queue(86400)
    assert make_due(lake, NOW, timedelta(0), HOUR) == 3
    assert not DueWindow.objects.exists()
    assert (of_queue(3600), of_queue(86400)) == before


def a_group_window(group: ConsumerGroup, step: int, start: Any, lag: int, **fields: Any) -> None:
    GroupWindow.objects.create(group=group, step_seconds=step, start=start, lag_messages=lag, readings=4, **fields)


def test_a_group_has_the_days_that_are_made_and_today_from_its_hours(group):
    a_group_window(group, 86400, YESTERDAY, 5)
    a_group_window(group, 3600, TODAY, 6)
    a_group_window(group, 3600, TODAY + HOUR, 9)
    # Of a day that is made its hours say nothing; one whose hours are gone stays.
    a_group_window(group, 3600, YESTERDAY + 23 * HOUR, 77)
    a_group_window(group, 86400, YESTERDAY - DAY, 4)
    for start in (YESTERDAY - DAY, TODAY):
        note_due(["prod"], start)
    assert lags(365, 86400, by="group") == {YESTERDAY - DAY: 4, YESTERDAY: 5, TODAY: 9}


@pytest.mark.parametrize("days", [90, 365])
def test_the_sparkline_of_months_has_a_point_a_day_and_ends_with_yesterday_and_now(group, days):
    other = a_group(group.cluster, "audit")
    for one, lag in ((group, 5), (other, 6)):
        a_group_window(one, 86400, YESTERDAY - DAY, lag)
        a_group_window(one, 3600, YESTERDAY, 10 * lag)
    note_due(["prod"], YESTERDAY)
    lines = sparklines({group.pk: 1, other.pk: 2}, NOW - days * DAY, NOW)
    assert {pk: line[-3:] for pk, line in lines.items()} == {group.pk: [5, 50, 1], other.pk: [6, 60, 2]}


def test_volumes_of_a_year_have_a_day_each_and_what_is_known_of_today(group):
    known = dict.fromkeys(VOLUMES, 24)
    a_group_window(group, 86400, YESTERDAY - DAY, 5, **known)
    a_group_window(group, 3600, YESTERDAY, 5, **known)
    a_group_window(group, 60, TODAY, 5, **known)
    for start in (YESTERDAY, TODAY):
        note_due(["prod"], start)
    windows = volumes_of("prod", "billing", NOW - 365 * DAY, NOW, NOW).windows
    assert [window.consumed for window in windows[-3:]] == [24, None, None]
    assert windows[-2].unknown["consumed"] == "a minute has no scrape, or is not over"
    assert [window.is_open for window in windows[-2:]] == [False, True]
