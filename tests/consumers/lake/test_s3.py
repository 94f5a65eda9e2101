"""A lake in S3: what differs there from a folder, asked of a local server."""

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from consumers.lake import retention
from consumers.lake.knot_days import day_start, settle
from consumers.lake.one_group import read_group
from consumers.lake.reader import dataset, files, folder_files, read, steadily
from consumers.lake.retention import expire, set_future_aside
from consumers.lake.schemas import READINGS
from consumers.lake.store import Lake, below_floor, free_mib, hour_folder, merged_parts
from consumers.lake.unreadable import files_put_aside, is_of_a_file
from tests.pipeline_rows import at, put, rows
from tests.plugins.calling import PROJECT

MARGIN = timedelta(minutes=10)
HOUR = timedelta(hours=1)
FOLDER = hour_folder("readings", "prod", at(0))
UPLOADING = Path(__file__).with_name("uploading.py")
WAIT_SECONDS = 240.0


@pytest.fixture
def lake(s3, tmp_path):
    """Four readings of an hour."""
    lake = Lake.at(s3.location(tmp_path.name, max_attempts=1))
    put(lake, "readings", rows([(n, 9) for n in range(4)]))
    s3.requests()
    return lake


def offsets(lake, until=3600):
    return sorted(read(lake, "readings", "prod", at(0), at(until))["consumer_offset"].to_pylist())


def keys(lake):
    """Of files; what is listed as a folder is none where nothing lies in it."""
    found = lake.filesystem.get_file_info(pafs.FileSelector(lake.root, recursive=True, allow_not_found=True))
    return sorted(entry.path.removeprefix(f"{lake.root}/") for entry in found if entry.type == pafs.FileType.File)


def overwrite(lake, name, content):
    with lake.filesystem.open_output_stream(name) as file:
        file.write(content)


def test_a_file_is_one_request_and_makes_no_folder(lake, s3):
    table = pa.Table.from_pylist(rows([(1, 1)], start=60), READINGS)
    lake.write(table, f"{FOLDER}/late.parquet", READINGS)
    assert s3.requests() == {"PUT": 1}


def test_a_writer_that_fails_in_the_middle_leaves_nothing(lake):
    before = keys(lake)

    def fails():
        table = pa.Table.from_pylist(rows([(1, 1)]), READINGS)
        with lake.new_file(f"{FOLDER}/hour.parquet", READINGS) as writer:
            writer.write_table(table)
            raise MemoryError("in the middle")

    with pytest.raises(MemoryError):
        fails()
    assert keys(lake) == before


def test_a_writer_that_is_killed_while_it_uploads_leaves_nothing(lake, s3, tmp_path):
    before = keys(lake)
    s3.delay(0.2)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen([sys.executable, str(UPLOADING), lake.url], env=environ) as writer:
        until = time.monotonic() + WAIT_SECONDS
        while "<UploadId>" not in s3.uploads():
            assert writer.poll() is None
            assert time.monotonic() < until
        writer.kill()
    assert writer.returncode == -signal.SIGKILL
    s3.delay(0)
    assert keys(lake) == before
    assert offsets(lake) == [0, 1, 2, 3]


@pytest.mark.parametrize("taken", range(4))
def test_an_upload_that_the_store_breaks_off_leaves_nothing_and_is_an_error(s3, tmp_path, taken):
    """It is begun, two parts are sent, and it is ended. One of these fails, and what would come after it does not."""
    lake = Lake.at(s3.location(tmp_path.name, max_attempts=1))
    schema = pa.schema([("noise", pa.binary())])
    noise = pa.table({"noise": [os.urandom(1_000_000) for _ in range(15)]}, schema)
    s3.fail(puts=taken, times=1)
    with pytest.raises(OSError, match="AWS Error NETWORK_CONNECTION"):
        lake.write(noise, f"{FOLDER}/hour.parquet", schema)
    s3.serve()
    assert keys(lake) == []
    lake.write(noise, f"{FOLDER}/hour.parquet", schema)
    assert keys(lake) == [f"{FOLDER}/hour.parquet"]


def test_a_small_file_that_the_store_does_not_take_is_an_error(lake, s3):
    before = keys(lake)
    s3.fail()
    with pytest.raises(OSError, match="AWS Error NETWORK_CONNECTION"):
        lake.write(pa.Table.from_pylist(rows([(1, 1)]), READINGS), f"{FOLDER}/late.parquet", READINGS)
    s3.serve()
    assert keys(lake) == before


def test_a_part_that_goes_between_the_look_and_the_reading_is_looked_up_again(lake):
    def scan(names):
        if len(names) > 1:
            retention.compact(lake, at(7200), MARGIN)
        return sorted(dataset(lake, "readings", names).to_table()["consumer_offset"].to_pylist())

    assert steadily(lake, lambda: folder_files(lake, FOLDER), scan) == [0, 1, 2, 3]


def test_a_part_that_goes_while_it_is_read_is_looked_up_again(lake):
    def scan(names):
        opened = [lake.filesystem.open_input_file(name) for name in names]
        if len(names) > 1:
            retention.compact(lake, at(7200), MARGIN)
        found = pa.concat_tables([pq.read_table(file, schema=READINGS) for file in opened])
        return sorted(found["consumer_offset"].to_pylist())

    assert steadily(lake, lambda: folder_files(lake, FOLDER), scan) == [0, 1, 2, 3]


def test_an_hour_that_is_replaced_while_it_is_read_is_read_anew(lake):
    retention.compact(lake, at(7200), MARGIN)
    looks = []

    def scan(names):
        file = lake.filesystem.open_input_file(names[0])
        if not looks:
            looks.append(file.size())
            longer = rows([(n, 9) for n in range(400)])
            lake.write(pa.Table.from_pylist(longer, READINGS), f"{FOLDER}/hour.parquet", READINGS)
        return pq.read_table(file, schema=READINGS).num_rows

    assert steadily(lake, lambda: folder_files(lake, FOLDER), scan) == 400
    assert files_put_aside(lake) == []


def test_a_reader_in_a_loop_always_sees_every_row_once(lake):
    hours = 4
    for hour in range(1, hours):
        put(lake, "readings", rows([(n, 9) for n in range(4)], start=3600 * hour, every=60))
    expected, seen, done = sorted(list(range(4)) * hours), [], threading.Event()

    def look():
        while not done.is_set():
            seen.append(offsets(lake, 3600 * hours))

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for hour in range(hours):
            retention.compact(lake, at(3600 * (hour + 1)) + MARGIN, MARGIN)
    finally:
        done.set()
        reader.join()
    assert seen
    assert all(found == expected for found in seen)


def test_a_day_of_files_goes_in_few_requests(lake, s3):
    put(lake, "readings", rows([(1, 1)] * 60, start=60, every=60))
    s3.requests()
    assert expire(lake, at(0) + timedelta(days=3), {"readings": HOUR}) == 1
    made = s3.requests()
    assert made["POST"] == 1
    assert sum(made.values()) < 12
    assert keys(lake) == []
    assert expire(lake, at(0) + timedelta(days=3), {"readings": HOUR}) == 0


@pytest.mark.parametrize(("hours", "requests"), [(1, 1), (20, 1), (60, 3), (30 * 24, 1)])
def test_a_long_range_is_looked_up_in_few_requests(lake, s3, hours, requests):
    put(lake, "readings", rows([(7, 9)] * 6, start=3600, every=9 * 3600))
    found = files(lake, "readings", "prod", at(0), at(3600 * hours))
    s3.requests()
    assert files(lake, "readings", "prod", at(0), at(3600 * hours)) == found
    assert s3.requests() == {"LIST": requests}
    names = [name.rsplit("/", 1)[1] for name in found]
    assert names == sorted(names)
    assert len(names) == 4 + len([n for n in range(6) if 1 + 9 * n < hours])


FOREIGN = pa.BufferOutputStream()
pq.write_table(pa.table({"name": ["another's"], "price": [7.5]}), FOREIGN)


@pytest.mark.parametrize(
    "content",
    [b"", b"<html><body>Not found</body></html>", FOREIGN.getvalue().to_pybytes()],
    ids=["empty", "no Parquet", "another's"],
)
def test_what_is_no_file_of_ours_is_put_aside_and_the_rest_is_read(lake, content):
    broken = files(lake, "readings", "prod", at(0), at(60))[1]
    lake = Lake.at(lake.url)
    overwrite(lake, broken.replace("0015", "0016"), content)
    assert offsets(lake) == [0, 1, 2, 3]
    assert [name.rsplit("/", 1)[1] for name in files_put_aside(lake)] == ["20260301T020016000000.parquet"]


def test_a_file_that_is_damaged_in_the_middle_is_put_aside(lake):
    damaged = files(lake, "readings", "prod", at(0), at(60))[1]
    with lake.filesystem.open_input_file(damaged) as file:
        content = file.read()
    overwrite(lake, damaged, content[:60] + content[160:])
    assert offsets(lake) == [0, 2, 3]
    assert len(files_put_aside(lake)) == 1


def test_a_store_that_does_not_answer_puts_no_file_aside(lake, s3):
    s3.fail()
    with pytest.raises(OSError, match="AWS Error"):
        offsets(lake)
    s3.serve()
    assert (offsets(lake), files_put_aside(lake)) == ([0, 1, 2, 3], [])


def test_what_the_store_says_is_not_of_a_file(lake):
    assert not is_of_a_file(lake, OSError("When reading: AWS Error SLOW_DOWN during GetObject operation"))


def test_late_parts_are_not_overlooked_because_the_store_did_not_answer(lake, s3, monkeypatch):
    retention.compact(lake, at(7200), MARGIN)
    put(lake, "readings", rows([(7, 9)], start=3000))

    def silent(*_):
        s3.fail()
        try:
            return merged_parts(*_)
        finally:
            s3.serve()

    monkeypatch.setattr("consumers.lake.reader.merged_parts", silent)
    with pytest.raises(OSError, match="AWS Error"):
        offsets(lake)


def test_times_to_come_are_set_aside(lake):
    put(lake, "readings", rows([(7, 9)], start=3600))
    assert set_future_aside(lake, at(100)) == 1
    assert offsets(lake, 7200) == [0, 1, 2, 3]


def test_a_day_of_knots_is_settled(lake):
    place = {"cluster": "prod", "topic": "Orders", "broker": "broker-a", "queue_id": 0}
    put(lake, "knots", [{**place, "broker_offset": n, "at": at(3600 * n)} for n in range(3)], time="at")
    assert settle(lake, at(3 * 86400)) == 1
    assert [key for key in keys(lake) if key.startswith("knots")] == [
        "knots/cluster=prod/date=2026-03-01/hour=00/hour.parquet"
    ]
    assert read(lake, "knots", "prod", day_start(at(0)), at(7300)).num_rows == 3
    assert settle(lake, at(3 * 86400)) == 0


def test_a_group_is_read_out_of_parts_and_out_of_the_hour(lake):
    def found():
        table = read_group(lake, "readings", "prod", "billing", at(0), at(3600), ["consumer_offset"])
        return sorted(table["consumer_offset"].to_pylist())

    assert found() == [0, 1, 2, 3]
    retention.compact(lake, at(7200), MARGIN)
    assert found() == [0, 1, 2, 3]


def test_a_bucket_has_no_floor(lake):
    assert free_mib(lake) is None
    assert not below_floor(lake, 1e12)
