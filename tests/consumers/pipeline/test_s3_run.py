"""Runs of the pipeline over a lake in S3: what they give, and what they leave when the store fails in the middle."""

import pytest

from consumers.lake.reader import read
from consumers.lake.store import Lake
from consumers.lake.unreadable import files_put_aside
from consumers.models import GroupState, GroupWindow, PipelineRun
from consumers.pipeline import runs
from consumers.pipeline.durations import Durations
from consumers.pipeline.runs import recorded_run
from tests.pipeline_rows import at, put, rows
from tests.world import a_cluster, a_group, a_queue, a_reading

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.either_database("test_job.py writes the same rows of a run over a folder"),
]

TABLES = ("windows_60", "windows_600", "knots")
STILL = [(100, 1000)] * 40
KEEPING_UP = [(1000 + 15 * n, 1000 + 15 * n) for n in range(40)]


@pytest.fixture
def world():
    cluster = a_cluster(read_at=None)
    for group in ("billing", "shipping"):
        a_group(cluster, group)
    a_queue(cluster, "Orders", 0)
    for n in range(40):
        a_reading(cluster, at(15 * n), brokers=[{"name": "broker-a", "read": True, "error": None}])


@pytest.fixture
def lake(s3, tmp_path, world):
    lake = Lake.at(s3.location(tmp_path.name, max_attempts=1))
    put_readings(lake)
    return lake


def put_readings(lake):
    put(lake, "readings", rows(STILL) + rows(KEEPING_UP, group="shipping"))


def run(session, lake):
    return recorded_run(session, lake, ["prod"], at(0), at(600), Durations(), at(600))[0]


def everything(lake):
    def of_lake(table):
        found = read(lake, table, "prod", at(-60), at(600)).to_pylist()
        return sorted(found, key=repr)

    return (
        {table: of_lake(table) for table in TABLES},
        sorted(GroupWindow.objects.values_list("group__name", "step_seconds", "start", "lag_messages")),
        sorted(GroupState.objects.values_list("group__name", "state", "rule")),
    )


@pytest.fixture
def expected(without_spark, tmp_path, world):
    """What a run over a folder gives."""
    folder = Lake.at(str(tmp_path / "lake"))
    put_readings(folder)
    run(without_spark, folder)
    found = everything(folder)
    for model in (GroupWindow, GroupState, PipelineRun):
        model.objects.all().delete()
    return found


def test_a_run_gives_what_it_gives_in_a_folder(without_spark, lake, expected):
    run(without_spark, lake)
    assert everything(lake) == expected
    assert len(expected[0]["windows_60"]) == 20


@pytest.mark.parametrize("taken", [0, 5])
def test_a_store_that_fails_fails_the_run_in_a_sentence_and_the_next_one_gives_everything(
    without_spark, lake, s3, expected, taken
):
    """Before the first file, and in the middle of the files that the run writes."""
    s3.fail(puts=taken)
    with pytest.raises(Exception, match="AWS Error NETWORK_CONNECTION"):
        run(without_spark, lake)
    assert PipelineRun.objects.get().error == runs.STORE_SILENT
    s3.serve()
    half = everything(lake)[0]
    assert len(half["knots"]) < len(expected[0]["knots"])
    assert all(row in expected[0][table] for table in TABLES for row in half[table])
    run(without_spark, lake)
    assert everything(lake) == expected
    assert files_put_aside(lake) == []
