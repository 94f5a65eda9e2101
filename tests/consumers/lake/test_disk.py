"""How much room there is, where the file system tells; and a disk that has no more."""

import errno
from datetime import timedelta

import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from consumers.lake import store
from consumers.lake.retention import compact
from consumers.lake.store import Lake, below_floor, free_mib
from tests.pipeline_rows import at, put, rows


def test_it_measures_before_the_lake_exists(tmp_path):
    lake = Lake.at(str(tmp_path / "not" / "yet"))
    assert free_mib(lake) > 0


def test_the_floor_stops_what_would_fill_the_disk(tmp_path):
    lake = Lake.at(str(tmp_path))
    assert below_floor(lake, 1e12)
    assert not below_floor(lake, 0)


def test_an_object_store_has_no_floor(tmp_path):
    lake = Lake(pafs.SubTreeFileSystem(str(tmp_path), pafs.LocalFileSystem()), "lake", "s3a://lake")
    assert free_mib(lake) is None
    assert not below_floor(lake, 1e12)


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def files_below(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_file_that_the_disk_does_not_take_leaves_nothing_behind(tmp_path, monkeypatch):
    lake = Lake.at(str(tmp_path))
    put(lake, "readings", rows([(1, 1)]))
    (before,) = files_below(tmp_path)

    monkeypatch.setattr(store, "_sync", full)
    with pytest.raises(OSError, match="No space left"):
        put(lake, "readings", rows([(2, 2)], start=15))
    assert files_below(tmp_path) == [before]


def test_an_hour_that_cannot_be_compacted_leaves_its_parts_alone(tmp_path, monkeypatch):
    lake = Lake.at(str(tmp_path))
    put(lake, "readings", rows([(1, 1), (2, 2)]))
    parts = files_below(tmp_path)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(OSError, match="No space left"):
        compact(lake, at(86400), timedelta())
    assert files_below(tmp_path) == parts
