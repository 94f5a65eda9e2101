"""What older knots must keep."""

from datetime import timedelta

import pyarrow as pa
import pytest

from consumers.lake.knot_days import thin
from consumers.lake.schemas import KNOTS
from tests.pipeline_rows import PLACE, at

MINUTE = timedelta(minutes=1)


def knots(*pairs, queue_id=0):
    place = {name: PLACE[name] for name in ("cluster", "topic", "broker")}
    return pa.Table.from_pylist(
        [{**place, "queue_id": queue_id, "broker_offset": offset, "at": at(seconds)} for seconds, offset in pairs],
        KNOTS,
    )


def left(table):
    return [((row["at"] - at(0)).total_seconds(), row["broker_offset"]) for row in table.to_pylist()]


@pytest.mark.parametrize(
    ("pairs", "expected", "why"),
    [
        ([(0, 0), (15, 1), (30, 2), (45, 3), (60, 4)], [(0, 0), (45, 3), (60, 4)], "first, and last of each minute"),
        ([(0, 5), (600, 5), (615, 6), (630, 7)], [(0, 5), (600, 5), (630, 7)], "both ends of a flat run"),
        ([(0, 5), (15, 9), (30, 2), (45, 3)], [(0, 5), (15, 9), (30, 2), (45, 3)], "both sides of a fall"),
        ([(15, 1), (0, 0), (15, 1)], [(0, 0), (15, 1)], "no doubles, in order of time"),
        ([], [], "nothing of nothing"),
    ],
)
def test_it_keeps(pairs, expected, why):
    assert left(thin(knots(*pairs), MINUTE)) == expected, why


def test_queues_are_thinned_each_for_itself():
    both = pa.concat_tables([knots((0, 0), (15, 1)), knots((10, 7), (20, 8), queue_id=1)])
    assert left(thin(both, MINUTE)) == [(0, 0), (15, 1), (10, 7), (20, 8)]
