"""Readings of files with the same names are the same rows, though their names are read once."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from consumers.lake import retention
from consumers.lake.reader import files
from consumers.lake.schemas import READINGS, names_note
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.pipeline.kernel.readings import Gathered
from consumers.pipeline.rows import Rows, Span
from tests.pipeline_rows import at, rows

GROUPS = [f"group-{number:02d}" for number in range(6)]


def put(lake, number, groups=GROUPS, row_group_size=4, **fields):
    """The reading of that number: two queues of each group."""
    found = [
        row | {"taken_at": at(15 * number)}
        for group in groups
        for queue in range(2)
        for row in rows([(number, 10 * number)], group=group, queue_id=queue, **fields)
    ]
    written = pa.Table.from_pylist(found, READINGS)
    place = f"{hour_folder('readings', 'prod', at(15 * number))}/{file_name(at(15 * number))}"
    lake.write(written, place, READINGS, row_group_size, names_note(written))


def seen(lake, span=Span(), since=0, until=60):  # noqa: B008
    """Of each queue its readings, by blocks."""
    return rows_of(Gathered.of_blocks(Rows(lake, ["prod"], span).readings(at(since), at(until))))


def scanned(lake, span=Span(), since=0, until=60):  # noqa: B008
    return rows_of(Gathered.of(Rows(lake, ["prod"], span).table("readings", at(since), at(until))))


def rows_of(gathered):
    readings = gathered.readings
    queues = [tuple(row.values()) for row in gathered.queues.to_pylist()]
    values = zip(
        readings.segments.queue.tolist(),
        readings.at_us.tolist(),
        map(str, readings.consumer_offset.tolist()),
        readings.reason.arrow().to_pylist(),
        strict=True,
    )
    return sorted(((queues[queue], *rest) for queue, *rest in values), key=str)


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


SPANS = [Span(), Span("group-01", "group-03"), Span("group-03", None), Span("zoo", None)]


@pytest.mark.parametrize("span", SPANS)
def test_they_are_what_a_scan_of_all_columns_finds(lake, span):
    for number in range(4):
        put(lake, number)
    assert len(Rows(lake, ["prod"], span).readings(at(0), at(60))) == 1
    assert seen(lake, span) == scanned(lake, span)


@pytest.mark.parametrize("span", SPANS)
def test_readings_with_other_names_between_them_are_in_their_place(lake, span):
    put(lake, 0)
    put(lake, 1, groups=[*GROUPS[:2], "group-021", *GROUPS[2:]])
    put(lake, 2, consumer_offset=None, unknown_reason="never_committed")
    put(lake, 3)
    assert seen(lake, span) == scanned(lake, span)


@pytest.mark.parametrize("span", SPANS)
def test_the_same_names_in_row_groups_of_another_length_are_read_again(lake, span):
    for number, size in enumerate((4, 6, 6, 4)):
        put(lake, number, row_group_size=size)
    assert seen(lake, span) == scanned(lake, span)


def test_a_closed_hour_beside_them_is_scanned(lake):
    for number in (0, 1):
        put(lake, number)
    retention.compact(lake, at(7200), at(0) - at(0))
    for number in (240, 241):
        put(lake, number)
    assert seen(lake, until=4000) == scanned(lake, until=4000)
    assert len(seen(lake, until=4000)) == 4 * 2 * len(GROUPS)


def test_a_reading_before_the_range_is_left_out(lake):
    for number in range(4):
        put(lake, number)
    assert seen(lake, since=16, until=46) == scanned(lake, since=16, until=46)
    assert len(seen(lake, since=16, until=46)) == 2 * 2 * len(GROUPS)


def test_a_file_that_lacks_a_column_is_scanned(lake):
    put(lake, 0)
    put(lake, 1)
    [path, _] = files(lake, "readings", "prod", at(0), at(60))
    older = pq.read_table(path).drop_columns(["first_stored_at"])
    pq.write_table(older.replace_schema_metadata(pq.read_metadata(path).metadata), path)
    assert seen(lake) == scanned(lake)


def test_names_are_read_of_the_first_file_alone(lake):
    """Those of the second may be anything."""
    put(lake, 0)
    put(lake, 1)
    expected = seen(lake)
    [_, path] = files(lake, "readings", "prod", at(0), at(60))
    metadata = pq.read_metadata(path)
    place = metadata.schema.names.index("group")
    with open(path, "r+b") as file:
        for number in range(metadata.num_row_groups):
            column = metadata.row_group(number).column(place)
            file.seek(column.dictionary_page_offset)
            file.write(b"\xff" * column.total_compressed_size)
    assert seen(lake) == expected


def test_of_no_file_there_is_no_reading(lake):
    assert seen(lake) == []
