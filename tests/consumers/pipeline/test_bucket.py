"""Buckets of groups: what one of them reads of the lake's files and gives back."""

import subprocess
import sys

import pytest

from consumers.lake.store import Lake
from consumers.pipeline.bucket import worked
from consumers.pipeline.rows import Span
from consumers.pipeline.spark import joined, run_here
from tests.pipeline_rows import PLACE, at, put, rows
from tests.pipeline_work import a_work, facts

TABLES = ("knots", "windows_60", "group_windows", "queue_states", "group_states")
MODULES = "consumers.pipeline.bucket, consumers.pipeline.kernel.group_states, consumers.pipeline.rules.order"


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


def test_it_needs_neither_spark_nor_django():
    loaded = f"import sys, {MODULES}; print(*({{'django', 'pyspark', 'celery'}} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == []


def test_dead_letters_have_no_windows(lake):
    put(lake, "readings", rows([(1, 1)], start=60, kind="dlq"))
    assert worked(a_work(lake, at(60), at(180)), 0)["windows_60"].to_pylist() == []


def test_several_buckets_give_together_what_one_gives(lake):
    for number in range(20):
        offsets = [(10 * n + number, 10 * n + 20) for n in range(40)]
        put(lake, "readings", rows(offsets, group=f"group-{number}"), prefix=f"{number}-")
    cuts = (Span("", "group-14"), Span("group-14", "group-5"), Span("group-5", None))
    whole, cut = (joined(run_here(a_work(lake, at(300), at(600), spans=spans))) for spans in ((Span(),), cuts))
    for name in TABLES:
        found = [sorted(map(repr, tables[name].to_pylist())) for tables in (whole, cut)]
        if name == "knots":  # A topic of groups of several buckets is seen by each of them.
            found = [sorted(set(one)) for one in found]
        assert found[0] == found[1], name
    assert cut["queue_states"].num_rows == 20


def test_a_bucket_is_sent_the_facts_of_its_own_groups_alone():
    silent = [{**PLACE, "group": name, "queue_id": 0, "kind": "normal"} for name in ("c", "a", "b", "d")]
    parts = facts(silent=silent).cut((Span("", "b"), Span("b", "d"), Span("d", None)))
    assert [part.silent["group"].to_pylist() for part in parts] == [["a"], ["c", "b"], ["d"]]


def test_what_is_not_of_a_group_is_sent_to_every_bucket():
    retention = [{"cluster": "prod", "broker": "broker-a", "reserved_seconds": 3600.0}]
    parts = facts(retention=retention).cut((Span("", "b"), Span("b", None)))
    assert [part.known.retention.to_pylist() for part in parts] == [retention, retention]


def test_a_minute_without_a_new_reading_is_taken_from_the_lake(lake):
    put(lake, "readings", rows([(n, 5000) for n in range(80)], every=15))
    first = worked(a_work(lake, at(0), at(600)), 0)
    for row in first["windows_60"].to_pylist():
        put(lake, "windows_60", [row], time="start")
    (wide,) = worked(a_work(lake, at(540), at(600), is_wide=True), 0)["windows_600"].to_pylist()
    assert (wide["readings"], wide["lag_messages"]) == (40, 5000 - 39)


def test_a_queue_that_is_read_again_since_the_database_was_asked_is_judged_once(lake):
    put(lake, "readings", rows([(1000, 1000)] * 40))
    silent = [{**PLACE, "queue_id": number, "kind": "normal"} for number in (0, 1)]
    found = worked(a_work(lake, at(300), at(600), facts=facts(silent=silent)), 0)["queue_states"]
    judged = [(row["queue_id"], row["rule"]) for row in found.select(["queue_id", "rule"]).to_pylist()]
    assert sorted(judged) == [(0, "caught_up"), (1, "not_read")]
