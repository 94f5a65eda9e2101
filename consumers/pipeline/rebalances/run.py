"""The rebalances of a range, with causes and costs. Where no group changed no file is opened, as in most runs.

pyarrow reads the lake's files, of the changed groups alone, and the driver evaluates them as one bucket: few groups
change in a run, and handing them to Spark's Python workers and back would take longer than all the rest. Both steps,
find_events and find_costs, are tables in and tables out of whole groups, so that a task could take some of them.

First what happened, a handful of rows; then what it cost, by the readings around those alone. A reading is a file of
each table: those of the minutes before the range suffice where every member reported in one of them, and half an hour
of files is opened only for groups where none did.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake import reader
from consumers.lake.schemas import MEMBERSHIP, TABLES, TIME
from consumers.lake.store import Lake
from consumers.pipeline.durations import Durations
from consumers.pipeline.slices import EPOCH, microseconds

from .changed_groups import ChangedGroups
from .find import earliest_us, find_costs, find_events, undecided_groups
from .last_owners import last_owners
from .tables import OWNERSHIP_COLUMNS, READINGS_COLUMNS

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
