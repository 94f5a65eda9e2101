"""The past: every window of the range is there, and what was not read is null."""

from datetime import timedelta

import pyarrow as pa
import pytest

from consumers.lake.schemas import WINDOWS
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.models import GroupWindow, PipelineRun
from consumers.pipeline.upkeep import note_due
from consumers.queries.history import group_history, sparklines
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def group():
    done = {"since": ago(3600), "until": NOW - 2 * MINUTE, "started_at": ago(60), "finished_at": ago(50)}
    PipelineRun.objects.create(**done)
    return a_group(a_cluster())


def a_group_window(group, minutes_ago: int, lag: int | None, **fields):
    values = {"step_seconds": 60, "readings": 4, "consume_rate": 1.0, "produce_rate": 2.0} | fields
    GroupWindow.objects.create(group=group, start=NOW - minutes_ago * MINUTE, lag_messages=lag, **values)


def write_windows(location, step: int, rows: list[tuple]):
    """Rows of (minutes ago, topic, queue id, lag, consume rate)."""
    for minutes, topic, queue_id, lag, rate in rows:
        start = NOW - minutes * MINUTE
        row = {"cluster": "prod", "start": start, "step_seconds": step, "group": "billing", "topic": topic}
        row |= {"broker": "broker-a", "queue_id": queue_id, "kind": "normal", "lag_messages": lag, "readings": 4}
        row |= {"time_lag_seconds": None, "time_lag_kind": None, "consume_rate": rate, "produce_rate": rate}
        row |= {"unknown_reason": None if lag is not None else "consumer ahead"}
        name = f"{topic}-{queue_id}-{file_name(start)}"
        folder = hour_folder(f"windows_{step}", "prod", start)
        Lake.at(str(location)).write(pa.Table.from_pylist([row], schema=WINDOWS), f"{folder}/{name}", WINDOWS)


@pytest.fixture
def lake(tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    return tmp_path


def the_history(minutes: int = 5, **arguments):
    return group_history("prod", "billing", since=NOW - minutes * MINUTE, until=NOW, now=NOW, **arguments)


def test_it_has_every_window_of_the_range_with_nulls_where_nothing_was_read(group):
    a_group_window(group, 5, 10)
    a_group_window(group, 3, None, unknown_reason="broker-b could not be read")

    [series] = the_history().series

    assert [point.lag_messages for point in series.points] == [10, None, None, None, None]
    assert [point.unknown_reason for point in series.points] == [
        None,
        "no poll in this window",
        "broker-b could not be read",
        "not aggregated yet",
        "not aggregated yet",
    ]
    assert [point.at for point in series.points] == [NOW - number * MINUTE for number in (5, 4, 3, 2, 1)]


@pytest.mark.parametrize(("hours", "step"), [(1, 60), (6, 60), (7, 600), (168, 600), (169, 3600), (92 * 24, 3600)])
def test_it_takes_a_step_that_fits_the_range(group, hours, step):
    history = group_history("prod", "billing", since=NOW - timedelta(hours=hours), until=NOW, now=NOW)
    assert (history.step_seconds, len(history.series[0].points)) == (step, hours * 3600 // step)


def test_a_year_has_a_window_a_day(group):
    since, until = NOW - timedelta(days=365), NOW
    history = group_history("prod", "billing", since=since, until=until, now=NOW)
    # NOW is no midnight: a day at each end is cut.
    assert (history.step_seconds, len(history.series[0].points)) == (86400, 366)


@pytest.mark.parametrize(("days", "step"), [(6, 60), (8, 600), (89, 600), (91, 3600), (729, 3600), (731, 86400)])
def test_an_hour_of_long_ago_is_shown_in_the_finest_windows_that_are_kept(group, days, step):
    since = NOW - timedelta(days=days)
    found = group_history("prod", "billing", since=since, until=since + timedelta(hours=1), now=NOW)
    assert found.step_seconds == step


def test_a_window_that_is_not_kept_any_more_says_so(group):
    since = NOW - timedelta(days=8)
    found = group_history("prod", "billing", since=since, until=since + MINUTE, now=NOW, step_seconds=60)
    assert [point.unknown_reason for point in found.series[0].points] == ["windows of 60 s are retained for 7 days"]


def test_it_knows_no_history_of_a_group_that_is_not_there(group):
    assert group_history("prod", "nobody", since=ago(60), until=NOW, now=NOW) is None


def test_it_reads_queues_from_the_lake(group, lake):
    write_windows(lake, 60, [(3, "Orders", 1, 7, 1.0), (5, "Orders", 0, 5, 1.0), (3, "Orders", 0, 6, 1.0)])

    series = the_history(by="queue").series

    assert [(one.topic, one.broker, one.queue_id) for one in series] == [
        ("Orders", "broker-a", 0),
        ("Orders", "broker-a", 1),
    ]
    assert [point.lag_messages for point in series[0].points] == [5, None, 6, None, None]


def test_it_sums_a_topic_only_where_all_its_queues_are_known(group, lake):
    rows = [(5, "Orders", 0, 5, 1.0), (4, "Orders", 0, 5, 1.0), (3, "Orders", 0, 6, 1.0), (2, "Orders", 0, None, 1.0)]
    write_windows(lake, 60, [*rows, (4, "Orders", 1, 2, 2.0), (2, "Orders", 1, 4, 2.0)])

    [series] = the_history(by="topic").series

    assert [point.lag_messages for point in series.points] == [5, 7, None, None, None]
    assert [point.consume_rate for point in series.points] == [1.0, 3.0, None, 3.0, None]
    assert series.points[2].unknown_reason == "a queue was not read in this window"
    assert series.points[3].unknown_reason == "consumer ahead"


def test_hours_that_are_not_made_yet_are_merged_from_ten_minutes(group, lake):
    whole = [(120 - 10 * part, "Orders", 0, part, 6.0) for part in range(6)]
    partly = [(60 - 10 * part, "Orders", 0, part, 6.0) for part in range(3)]
    write_windows(lake, 600, whole + partly)
    for minutes in (120, 60):
        note_due(["prod"], NOW - minutes * MINUTE)

    [series] = the_history(120, by="queue", step_seconds=3600).series

    assert [point.lag_messages for point in series.points] == [5, 2]
    assert [point.consume_rate for point in series.points] == [6.0, 6.0]
    assert [point.complete for point in series.points] == [True, False]
    assert [point.readings for point in series.points] == [24, 12]


def test_it_draws_all_sparklines_of_complete_windows_and_now_with_two_queries(group, django_assert_num_queries):
    other = a_group(group.cluster, "audit")
    a_group_window(group, 4, 3)
    a_group_window(group, 2, 900)
    a_group_window(other, 3, 4)

    with django_assert_num_queries(2):
        lines = sparklines({group.pk: 7, other.pk: None}, NOW - 4 * MINUTE, NOW)

    assert lines == {group.pk: [3, None, 7], other.pk: [None, 4, None]}


def test_a_pipeline_that_stands_still_is_a_gap_of_the_sparkline(group):
    PipelineRun.objects.update(until=NOW - 5 * MINUTE)
    a_group_window(group, 6, 3)
    assert sparklines({group.pk: 7}, NOW - 6 * MINUTE, NOW)[group.pk] == [3, None, None, None, 7]


@pytest.mark.parametrize("by", ["group", "topic", "queue"])
def test_a_window_that_is_not_over_is_not_complete(group, lake, by):
    PipelineRun.objects.update(until=NOW - 2 * MINUTE + timedelta(seconds=20))
    write_windows(lake, 60, [(minutes, "Orders", 0, 5, 1.0) for minutes in (4, 3, 2)])
    for minutes in (4, 3, 2):
        a_group_window(group, minutes, 5)
    [series] = the_history(4, by=by).series
    assert [(point.lag_messages, point.complete) for point in series.points] == [
        (5, True), (5, True), (5, False), (None, False)
    ]  # fmt: skip


def test_without_a_finished_run_all_windows_before_the_newest_are_complete(group):
    PipelineRun.objects.all().delete()
    assert not any(point.complete for point in the_history().series[0].points)
    a_group_window(group, 2, 5)
    assert [point.complete for point in the_history().series[0].points] == [True, True, True, False, False]
