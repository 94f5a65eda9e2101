"""How much room there is, where the file system tells."""

import pyarrow.fs as pafs

from consumers.lake.store import Lake, below_floor, free_mib


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
