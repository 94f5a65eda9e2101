"""The rebalances of a range, with causes and costs. Where no group changed no file is opened, as in most runs.

pyarrow reads the lake's files, of the changed groups alone, and the driver evaluates them as one bucket: few groups
change in a run, and handing them to Spark's Python workers and back would take longer than all the rest. Both steps,
find_events and find_costs, are tables in and tables out of whole groups, so that a task could take some of them.

First what happened, a handful of rows; then what it cost, by the readings around those alone. A reading is a file of
each table: those of the minutes before the range suffice where every member reported in one of them, and half an hour
of files is opened only for groups where none did.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake import reader
from consumers.lake.schemas import MEMBERSHIP, TABLES, TIME
from consumers.lake.store import Lake
from consumers.models import Assignment
from consumers.pipeline.durations import Durations
from consumers.pipeline.slices import EPOCH, microseconds

from .changed_groups import ChangedGroups
from .find import earliest_us, find_costs, find_events, undecided_groups
from .tables import LAST_OWNERS, OWNERSHIP_COLUMNS, READINGS_COLUMNS

# Who was last seen to hold queues that had no owner when a rebalance began: the poll's rows reach further back than
# the readings that are looked at.

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


# Before what is evaluated: in one of so many readings every member may have reported.
RECENT_POLLS = 4


@dataclass(frozen=True)
class Rebalances:
    """`events`: one row each. `topics`: what each did to each topic; none where there is no event. `spans`: cluster,
    group, anchor_us: the groups that were looked at, each from when on: what began later would have been found."""

    events: pa.Table
    topics: pa.Table | None
    spans: pa.Table


def find_rebalances(
    lake: Lake, clusters: Sequence[str], since: datetime, until: datetime, durations: Durations
) -> Rebalances | None:
    """Of [since, until), and those still open at `since`; None where no group may have one."""
    changed = ChangedGroups.of(clusters, since, until, durations)
    if changed is None:
        return None
    groups = changed.rows
    membership, ownership = _members(lake, groups, changed.reach, until, durations)
    events, spans = find_events(groups, membership, ownership, durations)
    first_us = earliest_us(events)
    if first_us is None:
        return Rebalances(events, None, spans)
    first = EPOCH + timedelta(microseconds=first_us)
    readings = _rows(lake, "readings", READINGS_COLUMNS, events, first, until)
    lately = ownership.filter(pc.greater_equal(ownership["taken_at"], pa.scalar(first, ownership["taken_at"].type)))
    return Rebalances(events, find_costs(events, groups, lately, readings, last_owners(events), durations), spans)


def _members(
    lake: Lake, groups: pa.Table, reach: datetime, until: datetime, durations: Durations
) -> tuple[pa.Table, pa.Table]:
    """Rows of membership and ownership, from `reach` on where the newest do not suffice."""
    recent = durations.rebalance_patience_seconds + RECENT_POLLS * durations.poll_seconds
    earliest = EPOCH + timedelta(microseconds=pc.min(groups["since_us"]).as_py())
    start = max(earliest - timedelta(seconds=recent), reach)

    def read(wanted: pa.Table, since: datetime, until: datetime) -> tuple[pa.Table, pa.Table]:
        return (
            _rows(lake, "membership", MEMBERSHIP.names, wanted, since, until),
            _rows(lake, "ownership", OWNERSHIP_COLUMNS, wanted, since, until),
        )

    newest = read(groups, start, until)
    undecided = undecided_groups(groups, *newest, microseconds(start), durations)
    if not undecided.num_rows:
        return newest
    older = read(undecided, reach, start)
    return pa.concat_tables([older[0], newest[0]]), pa.concat_tables([older[1], newest[1]])


def _rows(
    lake: Lake, table: str, columns: Sequence[str], groups: pa.Table, since: datetime, until: datetime
) -> pa.Table:
    """Of these groups alone."""
    parts = []
    for cluster in pc.unique(groups["cluster"]).to_pylist():
        names = groups.filter(pc.equal(groups["cluster"], cluster))["group"].unique()
        parts.append(_rows_of_cluster(lake, table, cluster, columns, names, since, until))
    schema = pa.schema([TABLES[table].field(name) for name in columns])
    return pa.concat_tables([schema.empty_table(), *parts])


def _rows_of_cluster(
    lake: Lake, table: str, cluster: str, columns: Sequence[str], names: pa.Array, since: datetime, until: datetime
) -> pa.Table:
    time = pc.field("taken_at")
    is_wanted = pc.field("group").isin(names) & (time >= pa.scalar(since, TIME)) & (time < pa.scalar(until, TIME))

    def rows(found: list[str]) -> pa.Table:
        return reader.dataset(lake, table, found).to_table(columns=list(columns), filter=is_wanted)

    return reader.steadily(lake, lambda: reader.files(lake, table, cluster, since, until), rows)
