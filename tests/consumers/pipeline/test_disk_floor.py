"""Below the disk's floor the pipeline adds nothing to the lake; what is old still goes."""

from datetime import timedelta

import pyarrow as pa
import pytest

from consumers.lake.reader import files
from consumers.lake.schemas import WINDOWS
from consumers.lake.store import Lake
from consumers.models import DueWindow
from consumers.pipeline.job import keep_window
from consumers.pipeline.upkeep import keep_up, note_due
from tests.pipeline_rows import PLACE, at, put, rows
from tests.world import a_cluster

MORE_THAN_ANY_DISK_MIB = 1e12
WINDOW = pa.Table.from_pylist([{**PLACE, "start": at(0), "step_seconds": 60}], WINDOWS)


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


@pytest.mark.parametrize(("floor_mib", "kept"), [(0, 1), (MORE_THAN_ANY_DISK_MIB, 0)])
def test_a_window_is_kept_while_there_is_room(lake, settings, floor_mib, kept):
    settings.LAKE_DISK_FLOOR_MIB = floor_mib
    keep_window(lake, "windows_60", "prod", at(0), WINDOW)
    assert len(files(lake, "windows_60", "prod", at(0), at(60))) == kept


@pytest.mark.django_db
@pytest.mark.parametrize(("floor_mib", "left"), [(0, 1), (MORE_THAN_ANY_DISK_MIB, 2)])
def test_hours_are_compacted_while_there_is_room_and_expire_in_any_case(lake, settings, floor_mib, left):
    settings.LAKE_DISK_FLOOR_MIB = floor_mib
    now = at(3600) + timedelta(days=1)
    put(lake, "readings", rows([(1, 1), (2, 2)]))
    put(lake, "readings", rows([(3, 3)], start=-72 * 3600))
    keep_up(lake, now, may_expire=True)
    assert len(files(lake, "readings", "prod", at(0), at(60))) == left
    assert files(lake, "readings", "prod", at(-72 * 3600), at(-72 * 3600 + 60)) == []


@pytest.mark.django_db
@pytest.mark.parametrize(("floor_mib", "made", "due"), [(0, 1, 0), (MORE_THAN_ANY_DISK_MIB, 0, 1)])
def test_an_hour_is_made_while_there_is_room_and_later_in_any_case(lake, settings, floor_mib, made, due):
    settings.LAKE_DISK_FLOOR_MIB = floor_mib
    a_cluster(read_at=None)
    note_due(["prod"], at(0))
    put(lake, "windows_600", [{**PLACE, "start": at(0), "step_seconds": 600, "readings": 4}], time="start")
    keep_up(lake, at(3600) + timedelta(minutes=10), may_expire=True)
    assert len(files(lake, "windows_3600", "prod", at(0), at(60))) == made
    assert DueWindow.objects.filter(step_seconds=3600).count() == due
