"""What a bucket reads of the lake's files: the row groups that can hold its groups, and of them its rows."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from consumers.lake.schemas import KNOTS, READINGS
from consumers.lake.store import COMPACTED, Lake, file_name, hour_folder
from consumers.pipeline import spark
from consumers.pipeline.rows import Only, Rows, Span, spans
from consumers.rocketmq.names import DLQ_PREFIX
from tests.pipeline_rows import at, put, rows

GROUPS = [f"group-{number:02d}" for number in range(12)]


@pytest.fixture
def lake(tmp_path):
    """Twelve groups of five queues, three groups in a row group."""
    lake = Lake.at(str(tmp_path))
    found = [row for group in GROUPS for queue in range(5) for row in rows([(1, 1)], group=group, queue_id=queue)]
    place = f"{hour_folder('readings', 'prod', at(0))}/{file_name(at(0))}"
    lake.write(pa.Table.from_pylist(found, READINGS), place, READINGS, row_group_size=15)
    return lake


def the_file(lake):
    return lake.path(f"{hour_folder('readings', 'prod', at(0))}/{file_name(at(0))}")


def groups_of(table):
    return sorted(set(table["group"].to_pylist()))


@pytest.mark.parametrize(
    ("name", "expected"), [("a", False), ("billing", True), ("orders", True), ("shipping", False), ("zoo", False)]
)
def test_a_span_holds_its_first_name_and_not_its_end(name, expected):
    assert Span("billing", "shipping").of(pa.array([name])).tolist() == [expected]


def test_spans_share_out_the_rows_and_leave_no_name_out(lake):
    found = spans(lake, [the_file(lake)], 2)
    assert found == (Span("", "group-06"), Span("group-06", None))
    assert sum(span.of(pa.array(["", *GROUPS, "zoo"])).astype(int) for span in found).tolist() == [1] * 14


def test_there_are_no_more_spans_than_row_groups_tell_apart(lake):
    assert len(spans(lake, [the_file(lake)], 100)) == 4


def test_of_no_file_all_names_are_one_span(lake):
    assert spans(lake, [], 5) == (Span(),)


def test_a_bucket_reads_the_rows_of_its_groups(lake):
    found = Rows(lake, ["prod"], Span("group-04", "group-06")).table("readings", at(0), at(60))
    assert groups_of(found) == ["group-04", "group-05"]
    assert found.num_rows == 10


def test_row_groups_that_cannot_hold_its_groups_are_not_read(lake):
    """Their bytes may be anything."""
    path = the_file(lake)
    second = pq.read_metadata(path).row_group(1).column(0).dictionary_page_offset
    with open(path, "r+b") as file:
        file.write(b"PAR1" + b"\xff" * (second - 4))
    found = Rows(lake, ["prod"], Span("group-04", None)).table("readings", at(0), at(60))
    assert groups_of(found) == GROUPS[4:]


def test_only_some_groups_of_it_can_be_asked_for(lake):
    only = Only("group", pa.array(["group-05", "group-11"]))
    found = Rows(lake, ["prod"], Span("group-04", "group-08")).table("readings", at(0), at(60), only)
    assert groups_of(found) == ["group-05"]


def test_a_dead_letter_topic_is_of_the_bucket_of_its_group(tmp_path):
    lake = Lake.at(str(tmp_path))
    place = {"cluster": "prod", "broker": "a", "queue_id": 0, "broker_offset": 1, "min_offset": 0}
    letters = [{**place, "topic": f"{DLQ_PREFIX}{group}", "taken_at": at(0)} for group in GROUPS]
    put(lake, "dead_letters", letters)
    found = Rows(lake, ["prod"], Span("group-10", None)).table("dead_letters", at(0), at(60), group="topic")
    assert sorted(found["topic"].to_pylist()) == [f"{DLQ_PREFIX}group-10", f"{DLQ_PREFIX}group-11"]


def test_whole_files_are_those_of_the_minutes_that_are_asked_for(tmp_path):
    """A file of knots is named after the minute in which a change was seen, and has the knot before it."""
    lake = Lake.at(str(tmp_path))
    place = {"cluster": "prod", "topic": "Orders", "broker": "a", "queue_id": 0}
    for minute in range(4):
        knots = [{**place, "broker_offset": number, "at": at(60 * number)} for number in (minute - 1, minute)]
        name = f"{hour_folder('knots', 'prod', at(0))}/{file_name(at(60 * minute))}"
        lake.write(pa.Table.from_pylist(knots, KNOTS), name, KNOTS)
    found = Rows(lake, ["prod"], Span()).table("knots", at(100), at(170), whole_files=True)
    assert found["broker_offset"].to_pylist() == [0, 1, 1, 2]


@pytest.mark.parametrize(("hours", "expected"), [(2, 4), (1, 4), (0.5, 2), (0.1, 1)])
def test_of_a_closed_hour_as_many_rows_count_as_are_read(tmp_path, monkeypatch, hours, expected):
    lake = Lake.at(str(tmp_path))
    found = [row for group in GROUPS for row in rows([(1, 1)] * 5, group=group)]
    name = f"{hour_folder('readings', 'prod', at(0))}/{COMPACTED}"
    lake.write(pa.Table.from_pylist(found, READINGS), name, READINGS, row_group_size=5)
    monkeypatch.setattr(spark, "READINGS_IN_BUCKET", 15)
    assert len(spark.spans_for(lake, [[lake.path(name)]], 1, hours)) == expected
