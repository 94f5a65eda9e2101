"""Rates by how far offsets moved between two readings of the lake."""

from pathlib import Path
from typing import Any

import pytest

from consumers.lake.store import Lake
from consumers.models import Cluster, Reading
from consumers.overview.exporter import Moved, moved
from consumers.polling.record.history import reading_rows, write_history
from consumers.queries.limits import limits
from tests.readings import T0, at, broker, reading, row

pytestmark = pytest.mark.django_db
KEY, END = ("billing", "Orders", "broker-a"), ("Orders", "broker-a")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(name="prod", namesrv="a:1", created_at=T0)


def read(
    lake: Lake, cluster: Cluster, seconds: float, *rows: dict[str, Any], dead: tuple[dict[str, Any], ...] = ()
) -> None:
    taken = reading(seconds, broker("broker-a", *rows, dead_letters=dead))
    write_history(lake, reading_rows(taken, None, {}), taken, None)
    Reading.objects.create(
        cluster=cluster, taken_at=at(seconds), complete=True, queues=1, calls=1, bytes=1, seconds=0.1
    )


def told(lake: Lake, cluster: Cluster, seconds: float) -> Moved:
    return moved(lake, cluster.pk, cluster.name, at(seconds), limits())


def orders(queue_id: int, consumer: int | None, end: int | None, group: str = "billing") -> dict[str, Any]:
    return row(group, "Orders", queue_id, consumer, end)


def test_offsets_that_moved_over_a_minute_are_messages_per_second(cluster: Cluster, tmp_path: Path) -> None:
    lake = Lake.at(str(tmp_path))
    read(lake, cluster, 0, orders(0, 40, 100), orders(1, 5, 5))
    read(lake, cluster, 45, orders(0, 999, 999))
    read(lake, cluster, 60, orders(0, 100, 400), orders(1, 65, 65))
    found = told(lake, cluster, 65)
    assert (found.consumed, found.produced) == ({KEY: 2.0}, {END: 6.0})


def test_the_end_of_a_queue_that_groups_share_moves_once(cluster: Cluster, tmp_path: Path) -> None:
    lake = Lake.at(str(tmp_path))
    for seconds, end in ((0, 100), (60, 160)):
        read(lake, cluster, seconds, orders(0, 10, end), orders(0, 10, end, "audit"))
    found = told(lake, cluster, 60)
    assert found.produced == {END: 1.0}
    assert found.consumed == {KEY: 0.0, ("audit", "Orders", "broker-a"): 0.0}


@pytest.mark.parametrize(
    ("before", "after", "rates"),
    [
        ([orders(0, 40, 100)], [orders(0, 30, 100)], {}),
        ([orders(0, 40, 100), orders(1, None, 9)], [orders(0, 100, 100), orders(1, None, 9)], {KEY: 1.0}),
        ([orders(0, 40, 100), orders(1, None, 9)], [orders(0, 100, 100), orders(1, 9, 9)], {}),
        ([orders(1, None, 9)], [orders(1, None, 9)], {}),
        ([], [orders(0, 40, 100)], {}),
    ],
    ids=["went back", "never committed", "just committed", "nothing committed", "not read before"],
)
def test_what_was_not_read_twice_or_went_back_has_no_rate(
    cluster: Cluster, tmp_path: Path, before: list[dict[str, Any]], after: list[dict[str, Any]], rates: dict[Any, float]
) -> None:
    lake = Lake.at(str(tmp_path))
    read(lake, cluster, 0, orders(7, 1, 1, "other"), *before)
    read(lake, cluster, 60, orders(7, 1, 1, "other"), *after)
    consumed = told(lake, cluster, 60).consumed
    assert consumed is not None
    assert {key: rate for key, rate in consumed.items() if key[0] == "billing"} == rates


@pytest.mark.parametrize("times", [(), (60,), (20, 60)])
def test_without_two_readings_a_minute_apart_nothing_is_told(
    cluster: Cluster, tmp_path: Path, times: tuple[int, ...]
) -> None:
    lake = Lake.at(str(tmp_path))
    for seconds in times:
        read(lake, cluster, seconds, orders(0, 40, 100))
    assert told(lake, cluster, 60).consumed is None


def test_an_old_reading_tells_nothing_of_now(cluster: Cluster, tmp_path: Path) -> None:
    lake = Lake.at(str(tmp_path))
    for seconds in (0, 60):
        read(lake, cluster, seconds, orders(0, 40, 100))
    assert told(lake, cluster, 60 + limits().late_seconds + 1) == Moved()


def test_a_reading_that_is_not_kept_tells_nothing(cluster: Cluster, tmp_path: Path) -> None:
    lake = Lake.at(str(tmp_path))
    read(lake, cluster, 0, orders(0, 40, 100))
    Reading.objects.create(cluster=cluster, taken_at=at(60), complete=True, queues=1, calls=1, bytes=1, seconds=0.1)
    assert told(lake, cluster, 60) == Moved()


def test_dead_letters_end_where_their_queues_do_together(cluster: Cluster, tmp_path: Path) -> None:
    lake = Lake.at(str(tmp_path))
    dead = [
        {"topic": f"%DLQ%{group}", "queue_id": queue_id, "broker_offset": end, "min_offset": 0}
        for group, queue_id, end in (("billing", 0, 5), ("billing", 1, 7), ("audit", 0, 4), ("audit", 1, None))
    ]
    read(lake, cluster, 60, orders(0, 40, 100), dead=tuple(dead))
    assert told(lake, cluster, 60).dead_letters == {("%DLQ%billing", "broker-a"): 12}


def test_a_reading_without_dead_letters_saw_none(cluster: Cluster, tmp_path: Path) -> None:
    lake = Lake.at(str(tmp_path))
    read(lake, cluster, 60, orders(0, 40, 100))
    assert told(lake, cluster, 60).dead_letters == {}
