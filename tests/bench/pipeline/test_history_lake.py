"""The generated week: every window of every queue once, as a pipeline would leave it."""

from datetime import timedelta

from consumers.lake.reader import files, read
from consumers.lake.store import Lake
from tests.bench.pipeline.history_lake import CLUSTER, HOURS, NOW, Extent, write_lake

EXTENT = Extent(groups=2, queues=32)


def test_each_queue_has_every_window_of_the_last_day_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(HOURS, 600, 25)
    lake = Lake.at(str(tmp_path))
    write_lake(lake, EXTENT)
    found = read(lake, "windows_600", CLUSTER, NOW - timedelta(days=1), NOW)
    distinct = found.group_by(["group", "topic", "broker", "queue_id", "start"]).aggregate([])
    assert found.num_rows == distinct.num_rows == EXTENT.rows * 24 * 6


def test_the_hour_that_is_not_over_is_in_parts(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(HOURS, 600, 2)
    lake = Lake.at(str(tmp_path))
    write_lake(lake, EXTENT)
    assert len(files(lake, "windows_600", CLUSTER, NOW - timedelta(hours=1), NOW)) == 1 + 3
