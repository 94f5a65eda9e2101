"""Readers while hours are swapped for one file: never a row too few, never one twice."""

import threading
from datetime import timedelta

import pyarrow.fs as pafs
import pytest

from consumers.lake import retention
from consumers.lake.reader import LakeUnsteady, dataset, folder_files, read, steadily
from consumers.lake.store import Lake
from tests.pipeline_rows import at, put, rows

MARGIN = timedelta(minutes=10)
HOURS = 12
FOLDER = "readings/cluster=prod/date=2026-03-01/hour=02"


def hour_rows(hour):
    return rows([(n, 9) for n in range(4)], start=3600 * hour, every=60)


@pytest.fixture
def lake(tmp_path):
    lake = Lake.at(str(tmp_path))
    put(lake, "readings", hour_rows(0))
    return lake


def offsets(lake, until=3600):
    return sorted(read(lake, "readings", "prod", at(0), at(until))["consumer_offset"].to_pylist())


def test_a_reader_in_a_loop_always_sees_every_row_once(lake):
    for hour in range(1, HOURS):
        put(lake, "readings", hour_rows(hour))
    expected, seen, done = sorted(list(range(4)) * HOURS), [], threading.Event()

    def look():
        while not done.is_set():
            seen.append(offsets(lake, 3600 * HOURS))

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    # Hour by hour, as a pipeline does that was away for half a day.
    for hour in range(HOURS):
        retention.compact(lake, at(3600 * (hour + 1)) + MARGIN, MARGIN)
    done.set()
    for reader in readers:
        reader.join()
    assert seen
    assert all(found == expected for found in seen)


class Between(pafs.LocalFileSystem):
    """Does something once, right after a folder of parts was listed."""

    then = None

    def get_file_info(self, asked):
        found = super().get_file_info(asked)
        then, Between.then = Between.then, None
        if then is not None:
            then()
        return found


def watched(lake):
    return Lake(Between(), lake.root, lake.url)


def test_a_reader_that_has_looked_the_parts_up_before_the_swap_reads_the_hour(lake):
    Between.then = lambda: retention.compact(lake, at(7200), MARGIN)
    assert offsets(watched(lake)) == [0, 1, 2, 3]


def test_parts_that_go_between_the_look_and_the_reading_are_looked_up_again(lake):
    Between.then = lambda: setattr(Between, "then", lambda: retention.compact(lake, at(7200), MARGIN))
    assert offsets(watched(lake)) == [0, 1, 2, 3]


def test_a_look_that_saw_half_the_parts_is_not_believed(lake):
    class Half(pafs.LocalFileSystem):
        looks = 0

        def get_file_info(self, asked):
            found = super().get_file_info(asked)
            Half.looks += 1
            if Half.looks > 1:
                return found
            retention.compact(lake, at(7200), MARGIN)
            return found[2:]

    names = folder_files(Lake(Half(), lake.root, lake.url), FOLDER)
    assert [name.rsplit("/", 1)[1] for name in names] == ["hour.parquet"]


def test_files_that_never_stand_still_are_an_error_and_no_guess(lake):
    class Restless(pafs.LocalFileSystem):
        looks = 0

        def get_file_info(self, asked):
            Restless.looks += 1
            return super().get_file_info(asked)[: Restless.looks % 2 + 1]

    with pytest.raises(LakeUnsteady, match="change all the time"):
        folder_files(Lake(Restless(), lake.root, lake.url), FOLDER)


def test_a_late_part_that_is_taken_in_while_it_is_read_is_there_once(lake, monkeypatch):
    retention.compact(lake, at(7200), MARGIN)
    put(lake, "readings", rows([(7, 9)], start=3000))
    # Killed before the parts are deleted.
    with monkeypatch.context() as patched:
        patched.setattr(retention, "delete_parts", lambda *_: None)

        def scan(names):
            if len(names) > 1:
                retention.compact(lake, at(7200), MARGIN)
            return sorted(dataset(lake, "readings", names).to_table()["consumer_offset"].to_pylist())

        assert steadily(lake, lambda: folder_files(lake, FOLDER), scan) == [0, 1, 2, 3, 7]
