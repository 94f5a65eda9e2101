"""One reading's rows, from whichever file holds them."""

from datetime import timedelta
from pathlib import Path

import pyarrow.compute as pc
import pytest
from pyarrow.fs import LocalFileSystem

from consumers.lake.reader import moment_files, read_moment
from consumers.lake.retention import compact
from consumers.lake.store import Lake
from tests.pipeline_rows import at, put, rows

BILLING = pc.field("group") == "billing"


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


def offsets(lake, seconds):
    return read_moment(lake, "readings", "prod", at(seconds), ["consumer_offset"], BILLING).to_pylist()


def test_it_gives_the_rows_of_that_reading_only(lake):
    put(lake, "readings", rows([(1, 9), (2, 9), (3, 9)]) + rows([(7, 9)], group="shipping"))
    assert offsets(lake, 15) == [{"consumer_offset": 2}]


def test_it_opens_no_other_file(lake):
    put(lake, "readings", rows([(1, 9), (2, 9), (3, 9)]))
    assert [Path(name).name for name in moment_files(lake, "readings", "prod", at(15))] == [
        "20260301T020015000000.parquet"
    ]


def test_it_finds_the_reading_in_the_compacted_hour(lake):
    put(lake, "readings", rows([(1, 9), (2, 9), (3, 9)]))
    compact(lake, at(7200), timedelta(0))
    assert offsets(lake, 15) == [{"consumer_offset": 2}]


def test_a_reading_without_rows_of_the_group_is_empty(lake):
    put(lake, "readings", rows([(7, 9)], group="shipping"))
    assert offsets(lake, 0) == []


def test_a_reading_that_is_not_kept_is_none(lake):
    put(lake, "readings", rows([(1, 9)]))
    assert read_moment(lake, "readings", "prod", at(15), ["consumer_offset"], BILLING) is None


def test_a_file_that_a_compaction_takes_away_is_looked_for_in_the_hour(lake):
    put(lake, "readings", rows([(1, 9), (2, 9), (3, 9)]))
    looks = []

    class Compacting(LocalFileSystem):
        """The disk, on which the hour is compacted right after its folder was first looked into."""

        def get_file_info(self, selector):
            found = super().get_file_info(selector)
            looks.append(selector)
            if len(looks) == 1:
                compact(lake, at(7200), timedelta(0))
            return found

    assert offsets(Lake(Compacting(), lake.root, lake.url), 15) == [{"consumer_offset": 2}]
