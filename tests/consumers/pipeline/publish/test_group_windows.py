"""Windows of a minute become those of ten minutes and of an hour as their parts end."""

from datetime import timedelta

import pyarrow as pa
import pytest

from consumers.models import ConsumerGroup, GroupWindow
from consumers.pipeline.group_rows import group_ids, write_group_windows
from consumers.pipeline.volumes import MEASURED, VOLUMES
from tests.pipeline_rows import at
from tests.world import a_cluster, a_group

REACH = timedelta(seconds=45)
WINDOW = {
    "cluster": "prod",
    "group": "billing",
    **dict.fromkeys(MEASURED),
    **dict.fromkeys(VOLUMES, 1),
    **{f"{name}_unknown": None for name in VOLUMES},
    "readings": 4,
}


@pytest.fixture
def group(db: None) -> ConsumerGroup:
    return a_group(a_cluster(read_at=None), "billing")


def write(since: int, until: int) -> None:
    """What a slice of time saw of the minutes that it has."""
    windows = pa.Table.from_pylist([WINDOW | {"start": at(start)} for start in range(since, until, 60)])
    write_group_windows(windows, group_ids(["prod"]), at(since), at(until), REACH)


def readings(step: int) -> list[int]:
    return list(GroupWindow.objects.filter(step_seconds=step).order_by("start").values_list("readings", flat=True))


@pytest.mark.usefixtures("group")
def test_a_minute_is_part_of_ten_once_it_is_over() -> None:
    write(0, 60)
    write(60, 90)
    assert (readings(60), readings(600)) == ([4, 4], [4])
    write(60, 120)
    assert readings(600) == [8]


@pytest.mark.usefixtures("group")
def test_ten_minutes_are_part_of_an_hour_once_they_are_over() -> None:
    write(0, 540)
    assert readings(3600) == []
    write(540, 600)
    assert readings(3600) == [40]


@pytest.mark.usefixtures("group")
def test_a_slice_that_ends_where_an_hour_does_completes_it() -> None:
    for since in range(0, 3600, 600):
        write(since, since + 600)
    assert (readings(600), readings(3600)) == ([40] * 6, [240])
