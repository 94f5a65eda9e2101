"""A result in pieces is the same result."""

import pytest

from consumers.pipeline.pieces import in_pieces
from tests.pipeline_rows import frame, rows

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("rows_at_once", [1, 3, 100])
def test_it_has_every_row_once(spark, rows_at_once):
    readings = [row for queue_id in range(10) for row in rows([(queue_id, 9)], queue_id=queue_id)]
    found = in_pieces(frame(spark, "readings", readings), 10, rows_at_once)
    assert sorted(found["queue_id"].to_pylist()) == list(range(10))
