"""What a reading of offset files leaves in the database and in the lake."""

from dataclasses import replace
from datetime import timedelta

import pytest

from consumers.lake import reader
from consumers.lake.store import Lake
from consumers.models import OffsetFile
from consumers.polling.file_poller import FilesReading, known_paths, note_silence, record_files, remembered_files
from consumers.stores.files.problems import Finding
from consumers.vocabulary.offset_files import FileCode
from consumers.words.offset_files import problem_words
from tests.consumers.stores.stored_samples import a_failed_file, a_file, a_row
from tests.readings import at
from tests.world import a_cluster

pytestmark = pytest.mark.django_db

PATH = "/data/a/consumerOffset.json"
FILE = a_file(a_row("g", "Orders", 0, 7), a_row("g", "Orders", 1, 9), broker="broker-a", modified_at=at(-3))


@pytest.fixture
def cluster():
    return a_cluster(offset_files=PATH)


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


def taken(seconds, *files):
    return FilesReading(at(seconds), files, {})


def stored_rows(lake):
    return reader.read(lake, "stored_offsets", "prod", at(0), at(3600)).to_pylist()


def test_the_offsets_are_in_the_lake_with_their_source(cluster, lake):
    record_files(cluster, taken(0, FILE), lake)
    first, second = stored_rows(lake)
    assert first == {
        "cluster": "prod",
        "taken_at": at(0),
        "kind": "broker_file",
        "source": PATH,
        "modified_at": at(-3),
        "broker": "broker-a",
        "client_id": None,
        "group": "g",
        "topic": "Orders",
        "queue_id": 0,
        "offset": 7,
        "finding": None,
    }
    assert second["offset"] == 9


def test_all_files_of_a_reading_are_one_file_of_the_lake(cluster, lake, tmp_path):
    other = replace(FILE, path=FILE.path.with_name("delayOffset.json"), kind="delay_file")
    record_files(cluster, taken(0, FILE, other), lake)
    (file,) = tmp_path.rglob("*.parquet")
    folders = ("stored_offsets", "cluster=prod", "date=2026-03-01", "hour=02")
    assert file.relative_to(tmp_path).parts[:4] == folders
    assert len(stored_rows(lake)) == 4


def test_a_file_has_a_row_with_what_was_found(cluster, lake):
    finding = Finding(FileCode.STALE, None, {"at": "2026-03-01 01:00:00 UTC"})
    record_files(cluster, taken(0, FILE.with_findings(finding)), lake)
    row = OffsetFile.objects.get()
    assert (row.path, row.kind, row.broker, row.modified_at, row.read_at) == (
        PATH,
        "broker_file",
        "broker-a",
        at(-3),
        at(0),
    )
    assert (row.rows, row.from_backup, row.error) == (2, False, None)
    assert row.findings == [{"code": "stale", "where": None, "params": {"at": "2026-03-01 01:00:00 UTC"}}]


def test_a_file_that_fails_keeps_what_was_read_before_beside_the_error(cluster, lake):
    record_files(cluster, taken(0, FILE), lake)
    record_files(cluster, taken(60, a_failed_file()), lake)
    row = OffsetFile.objects.get()
    assert problem_words(row.error).startswith(f"{PATH} does not exist")
    assert (row.read_at, row.rows, row.broker) == (at(0), 2, "broker-a")


def test_a_file_that_is_back_has_no_error(cluster, lake):
    for seconds, file in ((0, a_failed_file()), (60, FILE)):
        record_files(cluster, taken(seconds, file), lake)
    row = OffsetFile.objects.get()
    assert (row.error, row.read_at) == (None, at(60))


def test_a_file_that_was_never_read_has_no_numbers(cluster, lake):
    record_files(cluster, taken(0, a_failed_file()), lake)
    row = OffsetFile.objects.get()
    assert (row.read_at, row.rows, row.modified_at) == (None, None, None)


def test_a_glob_without_a_kind_has_a_row(cluster, lake):
    record_files(cluster, taken(0, a_failed_file(kind=None, path="/data/*/copy.json")), lake)
    assert OffsetFile.objects.get().kind is None


def test_a_file_that_no_glob_names_any_more_is_forgotten(cluster, lake):
    record_files(cluster, taken(0, FILE, a_failed_file(path="/data/b/consumerOffset.json")), lake)
    record_files(cluster, taken(60, FILE), lake)
    assert [row.path for row in OffsetFile.objects.all()] == [PATH]


def test_without_a_lake_nothing_is_said_to_be_kept(cluster, lake):
    record_files(cluster, taken(0, FILE), lake)
    record_files(cluster, taken(60, a_file(broker="broker-a")), None)
    row = OffsetFile.objects.get()
    assert (row.read_at, row.rows) == (at(0), 2)
    assert problem_words(row.error).startswith("Its offsets are not stored")


def test_a_lake_that_cannot_be_written_is_an_error_of_the_files_alone(cluster, tmp_path):
    (tmp_path / "stored_offsets").write_text("in the way")
    record_files(cluster, taken(0, FILE), Lake.at(str(tmp_path)))
    row = OffsetFile.objects.get()
    assert (row.read_at, problem_words(row.error).startswith("Its offsets are not stored")) == (None, True)


def test_a_mount_that_hangs_leaves_what_was_read_before(cluster, lake):
    record_files(cluster, taken(0, FILE), lake)
    note_silence(cluster, 10)
    row = OffsetFile.objects.get()
    assert (row.read_at, row.rows) == (at(0), 2)
    assert problem_words(row.error).startswith("Not read within 10 s")


def test_a_mount_that_hangs_from_the_first_is_seen_too(cluster):
    note_silence(cluster, 10)
    assert (OffsetFile.objects.get().path, OffsetFile.objects.get().kind) == (PATH, None)


def test_a_fresh_process_knows_what_a_brokers_file_held(cluster, lake):
    record_files(cluster, taken(0, FILE), lake)
    ((path, file),) = remembered_files(cluster, lake).items()
    assert (path, file.kind, file.rows.schema) == (PATH, "broker_file", FILE.rows.schema)
    assert file.rows["offset"].to_pylist() == [7, 9]


def test_what_the_lake_has_lost_is_not_remembered(cluster, lake, tmp_path):
    record_files(cluster, taken(0, FILE), lake)
    next(tmp_path.rglob("*.parquet")).unlink()
    assert remembered_files(cluster, lake) == {}
    assert remembered_files(cluster, None) == {}


@pytest.mark.parametrize(("later", "paths"), [(timedelta(days=7), []), (timedelta(days=6), [PATH])])
def test_a_file_that_is_gone_is_looked_for_for_a_week(cluster, lake, later, paths):
    record_files(cluster, taken(0, FILE), lake)
    assert known_paths(cluster, at(0) + later) == paths


def test_rows_without_names_are_kept_too(cluster, lake):
    record_files(cluster, taken(0, a_file(a_row(None, None, None, None))), lake)
    (row,) = stored_rows(lake)
    assert [row[name] for name in ("group", "topic", "queue_id", "offset")] == [None] * 4
