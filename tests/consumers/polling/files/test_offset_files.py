"""Offset files are read under limits, and in a thread that nobody waits for too long."""

import threading
import time

import pytest

from consumers.polling.file_poller import FileLimits, FilesReading, OffsetFileThread, read_files
from tests.consumers.stores.stored_samples import NOW, broker_file, why, write
from tests.readings import at

GOOD = broker_file('"Orders@g":{0:7}')


def refuse_to_sleep(seconds):
    raise AssertionError("nothing had to be waited for")


def test_it_reads_what_the_globs_name(tmp_path):
    write(tmp_path, GOOD, "a/consumerOffset.json")
    reading = read_files(
        f"broker-a={tmp_path}/*/consumerOffset.json", (), FileLimits(folders=("/",)), NOW, refuse_to_sleep
    )
    (file,) = reading.files
    assert (reading.taken_at, file.error, file.rows.num_rows) == (NOW, None, 1)
    assert reading.named == {f"{tmp_path}/a/consumerOffset.json": "broker-a"}


def test_globs_that_make_no_sense_are_an_error(tmp_path):
    (failure,) = read_files("config/*.json", (), FileLimits(folders=("/",)), NOW, refuse_to_sleep).files
    assert "is not an absolute path" in why(failure)


def test_a_file_that_vanished_is_an_error_and_the_others_are_read(tmp_path):
    write(tmp_path, GOOD, "a/consumerOffset.json")
    known = [f"{tmp_path}/b/consumerOffset.json"]
    reading = read_files(
        f"{tmp_path}/*/consumerOffset.json", known, FileLimits(folders=("/",)), NOW, lambda seconds: None
    )
    assert [(file.path.parent.name, file.error and file.error.name) for file in reading.files] == [
        ("a", None),
        ("b", "missing"),
    ]


@pytest.mark.parametrize(
    ("limits", "problems"),
    [
        (FileLimits(folders=("/",), files=1), [None, "glob"]),
        (FileLimits(folders=("/",), mebibytes=0.00001), ["too_large", "too_large"]),
    ],
)
def test_what_is_beyond_the_limits_is_an_error(tmp_path, limits, problems):
    for broker in "ab":
        write(tmp_path, GOOD, f"{broker}/consumerOffset.json")
    reading = read_files(f"{tmp_path}/*/consumerOffset.json", (), limits, NOW, refuse_to_sleep)
    assert [file.error and file.error.name for file in reading.files] == problems


def test_many_missing_files_are_not_waited_for_one_by_one(tmp_path):
    slept = []
    globs = ";".join(f"{tmp_path}/{number}/consumerOffset.json" for number in range(50))
    assert len(read_files(globs, (), FileLimits(folders=("/",)), NOW, slept.append).files) == 50
    assert sum(slept) <= 3.0


EMPTY = FilesReading(NOW, (), {})


def test_a_reading_is_due_at_once_and_then_after_its_time():
    thread = OffsetFileThread(lambda known, now: EMPTY, FileLimits(folders=("/",), seconds=60))
    assert thread.is_due(at(0))
    thread.begin((), at(0))
    assert thread.finish() is EMPTY
    assert [thread.is_due(at(seconds)) for seconds in (59, 60)] == [False, True]


def test_nothing_is_finished_that_was_not_begun():
    assert OffsetFileThread(lambda known, now: EMPTY, FileLimits(folders=("/",))).finish() is None


def test_a_reading_that_hangs_is_waited_for_once_and_not_begun_again():
    interval_ends, ended = threading.Event(), threading.Event()

    def hang(known, now):
        interval_ends.wait(120)
        ended.set()
        return EMPTY

    thread = OffsetFileThread(hang, FileLimits(folders=("/",), seconds=0, deadline_seconds=2.0))
    thread.begin((), at(0))
    waited = []
    for _ in range(2):
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            thread.finish()
        waited.append(time.monotonic() - began > 1.0)
    assert (waited, thread.is_due(at(1000))) == ([True, False], False)
    interval_ends.set()
    ended.wait(120)
    assert eventually_finished(thread) is EMPTY
    assert thread.is_due(at(1001))


def eventually_finished(thread):
    """The result follows the end of the reading at once, but not in the same moment."""
    for _ in range(1000):
        try:
            return thread.finish()
        except TimeoutError:
            time.sleep(0.001)
    raise AssertionError("the reading has ended, and there is no result")


def test_what_was_not_foreseen_is_raised_once_and_the_next_reading_begins():
    class Surprise(Exception):
        pass

    def fail(known, now):
        raise Surprise

    thread = OffsetFileThread(fail, FileLimits(folders=("/",), seconds=60))
    thread.begin((), at(0))
    with pytest.raises(Surprise):
        thread.finish()
    assert thread.is_due(at(60))
