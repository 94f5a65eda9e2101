"""Who was last seen to hold queues that had no owner when a rebalance began: the poll's rows reach further back than
the readings that are looked at."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta

import pyarrow as pa

from consumers.models import Assignment
from consumers.pipeline.slices import EPOCH, microseconds

from .tables import LAST_OWNERS

SAID = ("client_id", "commit_offset", "cached_min", "cached_max")
# What was held longer ago has been consumed by others, reset or expired since.
REACH = timedelta(days=2)
GROUPS_AT_ONCE = 500

Group = tuple[str, str]


def last_owners(events: pa.Table) -> pa.Table:
    """One row per rebalance and queue of which an owner is known that was gone before the reading before it."""
    before: dict[Group, list[tuple[int, int]]] = defaultdict(list)
    for one in events.select(["cluster", "group", "started_before_us", "before_us"]).to_pylist():
        if one["before_us"] is not None:
            before[one["cluster"], one["group"]].append((one["before_us"], one["started_before_us"]))
    names = sorted({group for _, group in before})
    newest: dict[tuple, tuple] = {}
    for start in range(0, len(names), GROUPS_AT_ONCE):
        for group, place, at_us, said in _ended(names[start : start + GROUPS_AT_ONCE], before):
            for before_us, event_us in before.get(group, ()):
                # In the order of their last answers: a later one takes the place of an earlier one.
                if at_us < before_us:
                    newest[*group, *place, event_us] = (at_us, *said)
    return _table((*key, *values) for key, values in newest.items())


def _ended(names: Sequence[str], before: dict[Group, list[tuple[int, int]]]) -> Iterable[tuple]:
    earliest = min(before_us for events in before.values() for before_us, _ in events)
    rows = Assignment.objects.filter(
        group__name__in=names,
        gone_by__isnull=False,
        last_seen__gte=EPOCH + timedelta(microseconds=earliest) - REACH,
    ).order_by("last_seen")
    places = ("queue__topic__name", "queue__broker", "queue__queue_id")
    for row in rows.values_list("group__cluster__name", "group__name", *places, "last_seen", *SAID).iterator():
        yield row[:2], row[2:5], microseconds(row[5]), row[6:]


def _table(rows: Iterable[Sequence[object]]) -> pa.Table:
    columns: list[Sequence[object]] = list(zip(*rows, strict=True)) or [()] * len(LAST_OWNERS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, LAST_OWNERS, strict=True)]
    return pa.table(arrays, schema=LAST_OWNERS)
