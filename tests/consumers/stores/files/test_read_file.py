"""Files that are not there, not whole, not readable, or written at this moment; each has its own sentence."""

import os
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest

from tests.consumers.stores.stored_samples import NOW, broker_file, in_words, read, rows, why, write

GOOD = broker_file('"Orders@g":{0:7}')
OLDER = broker_file('"Orders@g":{0:5}')


@pytest.mark.parametrize(
    ("body", "problem", "sentence"),
    [
        (b"", "empty", "is empty. Brokers and clients write it again every 5 s"),
        (b" \n", "empty", "is empty"),
        (GOOD[:-9], "cut_off", f"is cut off after {len(GOOD) - 9} bytes"),
        (GOOD[:40], "cut_off", "is cut off after 40 bytes"),
        (GOOD + b"}", "malformed", "is broken at line 6, column 2"),
        (GOOD.replace(b"0:7", b"0;7"), "malformed", "is broken at line 4, column 16"),
        (b"\0" * 100, "malformed", "holds zero bytes only"),
        (b"\x89PNG\r\n\x1a\n", "malformed", "is not text: is not UTF-8 at byte 0"),
        (b"[1]", "not_offsets", "holds a list where an object with an offsetTable belongs"),
        (b"7", "not_offsets", "holds a whole number"),
        (b'{"topicConfigTable":{}}', "not_offsets", "has no offsetTable"),
        (b'{"offsetTable":[]}', "not_offsets", "has an offsetTable that is not an object"),
        (b'{"offsetTable":{},"offsetTable":{}}', "not_offsets", "has 2 tables named offsetTable"),
    ],
)
def test_what_is_no_offset_file_is_an_error_that_says_why(tmp_path, body, problem, sentence):
    path = write(tmp_path, body)
    file = read(path)
    assert (file.kind, file.rows, file.modified_at, file.error.name) == ("broker_file", None, None, problem)
    assert why(file).startswith(f"{path} {sentence}")


def test_a_missing_file_says_where_it_should_be(tmp_path):
    file = read(tmp_path / "consumerOffset.json")
    assert file.error.name == "missing"
    assert "does not exist: is its disk mounted" in why(file)


@pytest.mark.parametrize("folder", ["consumerOffsets", "metadata", "rdb"])
def test_offsets_in_rocksdb_are_told_from_a_missing_file(tmp_path, folder):
    write(tmp_path, b"", f"{folder}/CURRENT")
    file = read(tmp_path / "consumerOffset.json")
    assert file.error.name == "in_rocksdb"
    assert "keeps its offsets in RocksDB" in why(file)
    assert "writes no JSON" in why(file)


def test_an_export_beside_rocksdb_is_read_with_a_finding(tmp_path):
    write(tmp_path, b"", "consumerOffsets/CURRENT")
    file = read(write(tmp_path, GOOD))
    assert rows(file) == [("g", "Orders", 0, 7)]
    assert [finding.name for finding in file.findings] == ["beside_rocksdb"]


def test_a_folder_in_the_place_of_the_file_is_told(tmp_path):
    (tmp_path / "consumerOffset.json").mkdir()
    assert "is a folder" in why(read(tmp_path / "consumerOffset.json"))


def test_a_rocksdb_in_the_place_of_the_file_is_told(tmp_path):
    write(tmp_path, b"", "consumerOffset.json/CURRENT")
    assert read(tmp_path / "consumerOffset.json").error.name == "in_rocksdb"


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "consumerOffset.json")
    assert read(tmp_path / "consumerOffset.json").error.name == "no_file"


def test_a_file_that_is_too_large_is_told_with_the_setting(tmp_path):
    file = read(write(tmp_path, GOOD), max_bytes=len(GOOD) - 1)
    assert file.error.name == "too_large"
    assert "POLL_OFFSET_FILE_MIB" in why(file)


@pytest.fixture
def locked(tmp_path):
    path = write(tmp_path, GOOD)
    path.chmod(0)
    return path


def test_a_file_that_may_not_be_read_is_told_with_the_cure(locked, as_nobody):
    file = read(locked)
    assert (file.error.name, file.rows) == ("not_permitted", None)
    assert "allow it to read the file" in why(file)


@pytest.fixture
def beside_locked():
    """A file that everybody may read beside a folder that nobody may enter; pytest's own folders are its owner's."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        write(folder, b"", "consumerOffsets/CURRENT")
        (folder / "consumerOffsets").chmod(0)
        file = write(folder, GOOD)
        file.chmod(0o644)
        yield file
        (folder / "consumerOffsets").chmod(0o755)


def test_a_folder_beside_it_that_is_locked_does_not_keep_a_file_from_being_read(beside_locked, as_nobody):
    assert rows(read(beside_locked)) == [("g", "Orders", 0, 7)]


def test_a_byte_order_mark_is_a_finding_and_the_rest_is_read(tmp_path):
    file = read(write(tmp_path, b"\xef\xbb\xbf" + GOOD))
    assert rows(file) == [("g", "Orders", 0, 7)]
    assert [finding.name for finding in file.findings] == ["byte_order_mark"]


@pytest.mark.parametrize("caught", [None, b"", GOOD[:50]], ids=["moved away", "emptied", "half written"])
def test_a_file_that_is_being_rewritten_is_read_again(tmp_path, caught):
    path, waits = tmp_path / "consumerOffset.json", []
    if caught is not None:
        path.write_bytes(caught)

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 2:
            path.write_bytes(GOOD)

    file = read(path, wait=wait)
    assert (rows(file), file.from_backup, file.findings) == ([("g", "Orders", 0, 7)], False, ())
    assert waits == [0.05, 0.1]


@pytest.mark.parametrize("left", [None, b"", GOOD[:50], b"[]"])
def test_the_backup_is_read_in_the_end_and_said_so_with_its_age(tmp_path, left):
    path = tmp_path / "consumerOffset.json"
    if left is not None:
        path.write_bytes(left)
    backup = write(tmp_path, OLDER, "consumerOffset.json.bak")
    written = NOW - timedelta(seconds=65)
    os.utime(backup, (written.timestamp(), written.timestamp()))
    file = read(path)
    assert (file.path, file.from_backup, file.modified_at, file.error) == (path, True, written, None)
    assert rows(file, "source", "offset") == [(str(path), 5)]
    (finding,) = file.findings
    assert (finding.name, finding.where) == ("from_backup", None)
    assert "consumerOffset.json.bak, written 1 min 5 s ago" in in_words(finding)


def test_a_broken_backup_is_told_too(tmp_path):
    write(tmp_path, b"", "consumerOffset.json.bak")
    error = why(read(write(tmp_path, b"[]")))
    assert "holds a list" in error
    assert "consumerOffset.json.bak is empty" in error


def test_a_backup_does_not_stand_in_for_a_file_that_is_too_large(tmp_path):
    write(tmp_path, OLDER, "consumerOffset.json.bak")
    file = read(write(tmp_path, GOOD + b" " * 100), max_bytes=len(GOOD) + 50)
    assert (file.error.name, file.rows) == ("too_large", None)


def test_the_time_of_a_file_is_when_it_was_written(tmp_path):
    path = write(tmp_path, GOOD)
    os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    assert read(path).modified_at == NOW


@pytest.fixture
def as_nobody():
    """Root may read everything: for as long as the test, this process is somebody else."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    yield
    if me == 0:
        os.seteuid(me)
