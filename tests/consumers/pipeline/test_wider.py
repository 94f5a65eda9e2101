"""Windows of hours and days: made from finer ones once their span is over, and again where those change."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.lake.reader import files, read
from consumers.lake.retention import compact
from consumers.lake.store import Lake
from consumers.lake.windows import put_window
from consumers.models import ConsumerGroup, DueWindow, GroupWindow
from consumers.pipeline import upkeep
from consumers.pipeline.upkeep import make_due, note_due
from consumers.pipeline.volumes import VOLUMES
from consumers.vocabulary.reasons import VolumeReason
from tests.pipeline_rows import PLACE, at, put, table
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db

TEN, HOUR, DAY = 600, 3600, 86400
# The lake's T0 is two o'clock.
MIDNIGHT = -2 * HOUR
NO_MARGIN = timedelta(0)
REACH = timedelta(seconds=45)


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster(read_at=None))


def ten_minutes(lake: Lake, *starts: int, cluster: str = "prod", **fields: Any) -> None:
    """What a run leaves: windows of ten minutes of one queue, and that their hours and days are due."""
    values = {**PLACE, "cluster": cluster, "step_seconds": TEN, "kind": "normal", "lag_messages": 5}
    values |= {"time_lag_seconds": 3.0, "time_lag_kind": "exact", "consume_rate": 2.0, "produce_rate": 1.0}
    values |= {"readings": 40, "consumed": 1200, "produced": 600} | fields
    for start in starts:
        note_due([cluster], at(start))
        put_window(lake, "windows_600", cluster, at(start), table("windows_600", [values | {"start": at(start)}]))


def an_hour(start: int) -> range:
    return range(start, start + HOUR, TEN)


def made(lake: Lake, now: int, **arguments: Any) -> int:
    return make_due(lake, at(now), NO_MARGIN, REACH, **arguments)


def rows(lake: Lake, step: int, since: int = -10 * DAY, until: int = 40 * DAY) -> list[dict[str, Any]]:
    return read(lake, f"windows_{step}", "prod", at(since), at(until)).sort_by("start").to_pylist()


def test_six_windows_of_ten_minutes_make_an_hour(lake, group):
    ten_minutes(lake, *an_hour(0)[:5])
    ten_minutes(lake, 3000, lag_messages=9, consume_rate=8.0, readings=10, consumed=4800)
    assert made(lake, HOUR) == 1
    [row] = rows(lake, HOUR)
    assert (row["start"], row["step_seconds"], row["lag_messages"], row["readings"]) == (at(0), HOUR, 9, 210)
    assert (row["consumed"], row["produced"], row["volume_unknown"]) == (10_800, 3600, None)
    assert (row["consume_rate"], row["produce_rate"]) == (pytest.approx(3.0), 1.0)


def test_an_hour_without_one_of_its_parts_says_what_is_known_of_it(lake, group):
    ten_minutes(lake, *an_hour(0)[:4])
    made(lake, HOUR)
    [row] = rows(lake, HOUR)
    assert (row["lag_messages"], row["readings"], row["consume_rate"]) == (5, 160, 2.0)
    assert (row["consumed"], row["produced"], row["volume_unknown"]) == (None, None, VolumeReason.PART_MISSING)


def test_what_one_part_does_not_know_the_hour_does_not_know(lake, group):
    ten_minutes(lake, *an_hour(0)[:5])
    ten_minutes(lake, 3000, consume_rate=None, consumed=None, volume_unknown="not read", lag_messages=None)
    made(lake, HOUR)
    [row] = rows(lake, HOUR)
    assert (row["lag_messages"], row["consume_rate"], row["consumed"]) == (None, None, None)
    assert (row["produced"], row["volume_unknown"]) == (3600, "not read")


def test_an_hour_is_made_only_once_it_is_over(lake, group):
    ten_minutes(lake, *an_hour(0))
    assert make_due(lake, at(HOUR + 599), timedelta(minutes=10), REACH) == 0
    assert make_due(lake, at(HOUR + 600), timedelta(minutes=10), REACH) == 1
    assert not DueWindow.objects.filter(step_seconds=HOUR).exists()


def test_it_is_made_once(lake, group):
    ten_minutes(lake, *an_hour(0))
    assert [made(lake, HOUR), made(lake, HOUR), made(lake, 2 * HOUR)] == [1, 0, 0]


def test_the_same_again_gives_the_same_rows(lake, group):
    def everything() -> list[list[dict[str, Any]]]:
        ten_minutes(lake, *an_hour(MIDNIGHT), *an_hour(0))
        made(lake, MIDNIGHT + DAY)
        return [rows(lake, HOUR), rows(lake, DAY)]

    first = everything()
    assert [len(found) for found in first] == [2, 1]
    assert everything() == first


@pytest.mark.parametrize("is_compacted", [False, True], ids=["", "in a day that is one file"])
def test_a_backfill_of_ten_minutes_makes_its_hour_and_day_anew(lake, group, is_compacted):
    ten_minutes(lake, *an_hour(MIDNIGHT), *an_hour(MIDNIGHT + 23 * HOUR))
    made(lake, MIDNIGHT + DAY)
    if is_compacted:
        compact(lake, at(MIDNIGHT + 40 * DAY), NO_MARGIN)
    ten_minutes(lake, MIDNIGHT + DAY - TEN, lag_messages=77)
    assert made(lake, MIDNIGHT + DAY) == 2
    assert [row["lag_messages"] for row in rows(lake, HOUR)] == [5, 77]
    assert [row["lag_messages"] for row in rows(lake, DAY)] == [77]


def test_24_hours_make_a_day_of_utc(lake, group):
    for hour in range(24):
        ten_minutes(lake, *an_hour(MIDNIGHT + hour * HOUR), lag_messages=hour)
    ten_minutes(lake, *an_hour(MIDNIGHT + DAY), lag_messages=99)
    assert made(lake, MIDNIGHT + DAY + HOUR) == 24 + 1 + 1
    [row] = rows(lake, DAY)
    assert (row["start"], row["lag_messages"], row["readings"]) == (at(MIDNIGHT), 23, 24 * 240)
    assert (row["consumed"], row["volume_unknown"]) == (24 * 7200, None)


def test_a_day_with_a_missing_hour_has_no_volume(lake, group):
    for hour in range(23):
        ten_minutes(lake, *an_hour(MIDNIGHT + hour * HOUR))
    made(lake, MIDNIGHT + DAY)
    [row] = rows(lake, DAY)
    assert (row["readings"], row["consumed"], row["volume_unknown"]) == (23 * 240, None, VolumeReason.PART_MISSING)


def test_what_was_left_out_is_caught_up_the_oldest_first(lake, group):
    ten_minutes(lake, *an_hour(0), *an_hour(HOUR), *an_hour(2 * HOUR))
    assert made(lake, 5 * HOUR, seconds_at_once=0) == 1
    assert [row["start"] for row in rows(lake, HOUR)] == [at(0)]
    assert made(lake, 5 * HOUR) == 2


def test_a_day_waits_for_its_hours(lake, group):
    ten_minutes(lake, *an_hour(MIDNIGHT), *an_hour(MIDNIGHT + HOUR))
    made(lake, MIDNIGHT + DAY, seconds_at_once=0)
    assert rows(lake, DAY) == []
    assert list(DueWindow.objects.values_list("step_seconds", flat=True).order_by("start")) == [DAY, HOUR]


def test_an_hour_whose_ten_minutes_are_gone_stays(lake, group):
    ten_minutes(lake, *an_hour(0))
    made(lake, HOUR)
    lake.filesystem.delete_dir(lake.path("windows_600"))
    note_due(["prod"], at(0))
    made(lake, HOUR)
    assert [row["lag_messages"] for row in rows(lake, HOUR)] == [5]
    assert not DueWindow.objects.filter(step_seconds=HOUR).exists()


def test_clusters_are_kept_apart(lake, group):
    a_cluster("test", read_at=None)
    ten_minutes(lake, *an_hour(0))
    ten_minutes(lake, *an_hour(0), cluster="test", lag_messages=8)
    assert made(lake, HOUR) == 2
    assert [row["lag_messages"] for row in rows(lake, HOUR)] == [5]


def test_many_rows_are_made_in_pieces(lake, group, monkeypatch):
    for number in range(20):
        start = at(0)
        note_due(["prod"], start)
        row = {**PLACE, "group": f"g{number}", "start": start, "step_seconds": TEN, "kind": "normal", "readings": 4}
        put(lake, "windows_600", [row | {"lag_messages": number}], time="start", prefix=f"{number}-")
    monkeypatch.setattr(upkeep, "ROWS_AT_ONCE", 3)
    made(lake, HOUR)
    assert sorted(row["lag_messages"] for row in rows(lake, HOUR)) == list(range(20))


def test_the_hours_of_a_day_and_the_days_of_a_month_become_one_file(lake, group):
    for day in range(3):
        ten_minutes(lake, *an_hour(day * DAY), *an_hour(day * DAY + HOUR))
    made(lake, 4 * DAY)
    assert [len(files(lake, f"windows_{step}", "prod", at(-2 * HOUR), at(3 * DAY))) for step in (HOUR, DAY)] == [6, 3]
    compact(lake, at(2 * DAY + 4 * HOUR), NO_MARGIN)
    assert len(files(lake, "windows_3600", "prod", at(-2 * HOUR), at(3 * DAY))) == 1 + 1 + 2
    compact(lake, at(4 * DAY), NO_MARGIN)
    assert [len(files(lake, f"windows_{step}", "prod", at(-2 * HOUR), at(3 * DAY))) for step in (HOUR, DAY)] == [3, 3]
    compact(lake, at(40 * DAY), NO_MARGIN)
    assert len(files(lake, "windows_86400", "prod", at(-2 * HOUR), at(3 * DAY))) == 1
    assert (len(rows(lake, HOUR)), len(rows(lake, DAY))) == (6, 3)


def a_group_hour(group: ConsumerGroup, hour: int, **fields: Any) -> None:
    values = {"lag_messages": hour, "readings": 240, "consume_rate": 2.0, "produce_rate": 1.0} | dict.fromkeys(
        VOLUMES, 10
    )
    values |= fields
    GroupWindow.objects.create(group=group, step_seconds=HOUR, start=at(MIDNIGHT + hour * HOUR), **values)


@pytest.mark.parametrize(("hours", "consumed"), [(24, 240), (23, None)], ids=["a whole day", "an hour is missing"])
def test_a_group_has_a_day_from_its_hours(lake, group, hours, consumed):
    for hour in range(hours):
        a_group_hour(group, hour)
    note_due(["prod"], at(MIDNIGHT))
    DueWindow.objects.filter(step_seconds=HOUR).delete()
    made(lake, MIDNIGHT + DAY)
    row = GroupWindow.objects.get(step_seconds=DAY)
    assert (row.group, row.start, row.lag_messages) == (group, at(MIDNIGHT), hours - 1)
    assert (row.readings, row.consumed, row.consume_rate) == (240 * hours, consumed, 2.0)
    assert ("consumed" in row.volumes_unknown) == (consumed is None)
