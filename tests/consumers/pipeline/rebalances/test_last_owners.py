"""Who held a queue before it had no owner."""

import pyarrow as pa
import pytest

from consumers.models import Assignment
from consumers.pipeline.rebalances.run import last_owners
from tests.pipeline_rows import at, us
from tests.world import a_cluster, a_group, a_queue

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    return a_group(a_cluster(read_at=None), "billing")


def an_interval(group, client_id: str, last_seen: float, gone_by: float | None, **fields) -> None:
    moments = {"seen_since": at(last_seen - 600), "last_seen": at(last_seen)}
    moments["gone_by"] = None if gone_by is None else at(gone_by)
    Assignment.objects.create(
        group=group, queue=a_queue(group.cluster), client_id=client_id, **moments, **({"commit_offset": 7} | fields)
    )


def told(*events: tuple[int, int | None]) -> list[tuple]:
    """Of events by (started_before, the reading before)."""
    rows = [
        {
            "cluster": "prod",
            "group": "billing",
            "started_before_us": us(started),
            "before_us": None if before is None else us(before),
        }
        for started, before in events
    ]
    schema = pa.schema(
        [("cluster", pa.string()), ("group", pa.string())] + [(n, pa.int64()) for n in list(rows[0])[2:]]
    )
    found = last_owners(pa.Table.from_pylist(rows, schema)).to_pylist()
    return [(row["event_us"], row["client_id"], row["at_us"], row["commit_offset"]) for row in found]


def test_the_last_one_that_held_it_before_is_told_with_its_offset(group):
    an_interval(group, "a", 0, 15, commit_offset=3)
    an_interval(group, "b", 60, 75, commit_offset=9)
    assert told((615, 600)) == [(us(615), "b", us(60), 9)]


def test_each_rebalance_has_the_last_one_before_it(group):
    an_interval(group, "a", 0, 15)
    an_interval(group, "b", 300, 315)
    assert told((115, 100), (615, 600)) == [(us(115), "a", us(0), 7), (us(615), "b", us(300), 7)]


def test_whoever_holds_it_still_is_no_last_one(group):
    an_interval(group, "a", 0, None)
    assert told((615, 600)) == []


def test_what_was_held_days_ago_says_nothing(group):
    an_interval(group, "a", -3 * 86400, -3 * 86400 + 15)
    assert told((615, 600)) == []


def test_without_a_whole_reading_before_nobody_is_looked_for(group):
    an_interval(group, "a", 0, 15)
    assert told((615, None)) == []


def test_others_groups_are_left_alone(group):
    an_interval(a_group(group.cluster, "shipping"), "a", 0, 15)
    assert told((615, 600)) == []
