"""A result in pieces is the same result."""

import pyarrow as pa
import pytest

from consumers.pipeline import spark
from consumers.pipeline.spark import RESULT_SCHEMA, packed, unpacked

TABLE = pa.table({"queue_id": list(range(10)), "group": ["billing"] * 10})


@pytest.mark.parametrize("rows_in_piece", [1, 3, 100])
def test_it_has_every_row_once(monkeypatch, rows_in_piece):
    monkeypatch.setattr(spark, "ROWS_IN_PIECE", rows_in_piece)
    assert unpacked(pa.Table.from_batches(packed("windows_60", TABLE)))["windows_60"].equals(TABLE)


def test_a_table_without_rows_keeps_its_columns():
    rows = pa.Table.from_batches(packed("knots", TABLE.slice(0, 0)), RESULT_SCHEMA)
    assert unpacked(rows)["knots"].schema == TABLE.schema
