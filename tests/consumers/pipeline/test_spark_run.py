"""A whole run through Spark leaves what a run in this process leaves: the same files, the same rows."""

from itertools import pairwise

import pytest

from consumers.lake.reader import read
from consumers.lake.store import Lake
from consumers.models import DueWindow, GroupState, GroupWindow, QueueState, StateChange
from consumers.pipeline import job, spark as of_spark
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import run
from consumers.pipeline.rows import Span
from consumers.vocabulary.states import UnknownReason
from tests.pipeline_rows import at, put, rows
from tests.world import a_cluster, a_group, a_queue, a_reading, a_snapshot

pytestmark = [pytest.mark.spark, pytest.mark.django_db]

TABLES = ("windows_60", "windows_600", "knots")
STILL = [(100, 1000)] * 40
KEEPING_UP = [(1000 + 15 * n, 1000 + 15 * n) for n in range(40)]
RETRY = {"topic": "%RETRY%billing", "kind": "retry"}


@pytest.fixture
def known():
    """A group that stands still and fails messages, one that keeps up, one with a queue that is not read, and one whose
    offsets nobody reports."""
    cluster = a_cluster(read_at=None)
    for group in ("billing", "mail", "shipping"):
        a_group(cluster, group)
    notices = a_group(cluster, "notices", message_model="BROADCASTING")
    for queue_id in (0, 1):
        a_queue(cluster, "Orders", queue_id)
    a_snapshot(cluster.groups.get(name="shipping"), a_queue(cluster, "Orders", 7, broker="broker-b"), 1, 1)
    reason = UnknownReason.NOT_REPORTED
    a_snapshot(notices, a_queue(cluster, "Notices"), 1, 9, unknown_reason=reason, changed_at=at(-600))
    for n in range(40):
        a_reading(cluster, at(15 * n), brokers=[{"name": "broker-a", "read": True, "error": None}])


@pytest.fixture
def lake(known, place):
    lake = Lake.at(place)
    put(lake, "readings", rows(STILL) + rows(KEEPING_UP, queue_id=1))
    for group in ("mail", "shipping"):
        put(lake, "readings", rows(KEEPING_UP, queue_id=1, group=group), prefix=f"{group}-")
    put(lake, "readings", rows([(n, 2 * n + 1) for n in range(36)], start=60, **RETRY), prefix="retry-")
    return lake


def left(session, lake):
    """What a run leaves; of the next one nothing of it is to be seen."""
    report = run(session, lake, ["prod"], at(0), at(600), Durations())
    of_lake = {table: read(lake, table, "prod", at(-60), at(600)).to_pylist() for table in TABLES}
    models = (GroupWindow, GroupState, QueueState, StateChange, DueWindow)
    rows_of = {model.__name__: without_keys(model) for model in models}
    for model in models:
        model.objects.all().delete()
    return report, {table: sorted(found, key=repr) for table, found in of_lake.items()}, rows_of


def without_keys(model):
    named = [field.attname for field in model._meta.concrete_fields if not field.primary_key]
    return sorted(model.objects.values(*named), key=repr)


def test_it_leaves_what_a_run_in_this_process_leaves(spark, without_spark, lake):
    expected = left(without_spark, lake)
    assert left(spark, lake) == expected
    assert {row["state"] for row in expected[2]["GroupState"]} == {"OK", "STALL", "UNKNOWN"}
    assert all(expected[1][table] for table in TABLES)


def test_so_does_one_in_several_jobs(spark, without_spark, lake, monkeypatch):
    """A job a bucket, and a bucket a group: the driver writes what one found while another is under way."""
    monkeypatch.setattr(of_spark, "BUCKETS_FOR_CORE", 0.5)
    groups = ["billing", "mail", "notices", "shipping"]
    cuts = tuple(Span(first, end) for first, end in pairwise(["", *groups[1:], None]))
    monkeypatch.setattr(job, "spans_for", lambda *arguments: cuts)
    assert left(spark, lake) == left(without_spark, lake)
