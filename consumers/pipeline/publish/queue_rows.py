"""QueueState rows from judged queues. Compared by column with what is stored: only differences become objects."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.db import connections
from django.db.models import Count, Max, QuerySet

from consumers.lake.schemas import TEXT
from consumers.models import Cluster, ConsumerGroup, GroupState, Queue, QueueState
from consumers.pipeline.kernel.arrays.gathered import encoded
from consumers.pipeline.kernel.arrays.keys import beside, matches
from consumers.pipeline.kernel.arrays.names import GROUP, TOPIC_QUEUE
from consumers.polling.record.tables.keyed_rows import BATCH, upsert

COMPARED = ["state", "rule", "provisional", "time_lag_seconds", "time_lag_kind"]
GROUP_IDS = pa.schema([("cluster", TEXT), ("group", TEXT), ("group_id", pa.int64())])
QUEUE_IDS = pa.schema(
    [("cluster", TEXT), ("topic", TEXT), ("broker", TEXT), ("queue_id", pa.int32()), ("queue_pk", pa.int64())]
)
QUEUE_FIELDS = ["topic__cluster__name", "topic__name", "broker", "queue_id", "id"]
STATE_KEY = ["group_id", "queue_pk"]
STORED = pa.schema(
    [
        ("group_id", pa.int64()),
        ("queue_pk", pa.int64()),
        ("was_state", TEXT),
        ("was_rule", TEXT),
        ("was_provisional", pa.bool_()),
        ("was_time_lag_seconds", pa.float64()),
        ("was_time_lag_kind", TEXT),
    ]
)


@dataclass
class QueueIds:
    """The keys of queues' rows by their names, kept from run to run of a process: to read a million takes seconds.
    A row never changes its names, and a key is given once: the same number of rows up to the same key are the same."""

    table: pa.Table = field(default_factory=QUEUE_IDS.empty_table)
    of_rows: tuple[object, ...] = ()

    def of(self, clusters: Sequence[str]) -> pa.Table:
        rows = Queue.objects.filter(topic__cluster__name__in=clusters)
        found = Queue.objects.aggregate(count=Count("pk"), newest=Max("pk"))
        named = tuple(Cluster.objects.order_by("pk").values_list("pk", "name"))
        of_rows = (*clusters, *named, found["count"], found["newest"])
        if of_rows != self.of_rows:
            self.table = encoded(_read(rows, QUEUE_FIELDS, QUEUE_IDS))
            self.of_rows = of_rows
        return self.table


def write_queue_states(judged: pa.Table, clusters: Sequence[str], judged_at: datetime, queue_ids: pa.Table) -> int:
    """Returns how many of `judged` have rows of the poll to stand beside; the others wait until they have."""
    groups = ConsumerGroup.objects.filter(cluster__name__in=clusters)
    later = set(GroupState.objects.filter(judged_at__gt=judged_at).values_list("group_id", flat=True))
    placed = _placed(judged, groups, queue_ids)
    if later:
        is_later = pc.is_in(placed["group_id"], value_set=pa.array(sorted(later), pa.int64()))
        placed = placed.filter(pc.invert(is_later))
    stored = _read(
        QueueState.objects.filter(group__in=groups),
        ["group_id", "queue_id", "state", "rule", "provisional", "time_lag_seconds", "time_lag_kind"],
        STORED,
    )
    compared = beside(placed, stored, STATE_KEY)
    changed = compared.filter(_has_changed(compared))
    # A state that stays has its old beginning, whatever its newest evidence reaches back to.
    stays = pc.fill_null(pc.equal(changed["state"], changed["was_state"]), False)
    _upsert(changed.filter(stays), judged_at, keep=["since"])
    _upsert(changed.filter(pc.invert(stays)), judged_at)
    _delete_gone(placed, stored, later)
    return placed.num_rows


def _placed(judged: pa.Table, groups: QuerySet[ConsumerGroup], queue_ids: pa.Table) -> pa.Table:
    """Without those that have no row of their group or queue."""
    group_ids = _read(groups, ["cluster__name", "name", "id"], GROUP_IDS)
    columns = judged.select(["detail", "since", "time_lag_error_seconds", *COMPARED])
    group, queue = matches(judged, group_ids, GROUP), matches(judged, queue_ids, TOPIC_QUEUE)
    for name, keys, place in (("group_id", group_ids, group), ("queue_pk", queue_ids, queue)):
        columns = columns.append_column(name, keys[name].combine_chunks().take(pa.array(place, mask=place < 0)))
    return columns.filter(pa.array((group >= 0) & (queue >= 0)))


def _read(rows: QuerySet, names: list[str], schema: pa.Schema) -> pa.Table:
    """As the database gives them: what Django makes of each value takes longer than to read it. A batch at a time: as
    Python objects a million rows take a gigabyte."""
    found = [schema.empty_table()]
    with connections[rows.db].cursor() as cursor:
        cursor.execute(*rows.values_list(*names).query.sql_with_params())
        for batch in iter(lambda: cursor.fetchmany(BATCH), []):
            columns = zip(zip(*batch, strict=True), schema, strict=True)
            # SQLite has numbers for no and yes.
            found.append(pa.table([pa.array(column).cast(field.type) for column, field in columns], schema=schema))
    return pa.concat_tables(found).combine_chunks()


def _has_changed(compared: pa.Table) -> pa.ChunkedArray:
    changed = pc.is_null(compared["was_state"])
    for name in COMPARED:
        now, was = compared[name], compared[f"was_{name}"]
        # Null beside a value is a difference; null beside null is none.
        differs = pc.coalesce(pc.not_equal(now, was), pc.not_equal(pc.is_null(now), pc.is_null(was)))
        changed = pc.or_(changed, differs)
    return changed


def _upsert(rows: pa.Table, judged_at: datetime, keep: Sequence[str] = ()) -> None:
    columns: dict[str, Sequence[Any]] = {
        "group": rows["group_id"].to_pylist(),
        "queue": rows["queue_pk"].to_pylist(),
        "since": [since or judged_at for since in rows["since"].to_pylist()],
        "judged_at": [judged_at] * rows.num_rows,
        **{name: rows[name].to_pylist() for name in ("detail", "time_lag_error_seconds", *COMPARED)},
    }
    if rows.num_rows:
        upsert(QueueState, ["group", "queue"], columns, keep=keep)


def _delete_gone(placed: pa.Table, stored: pa.Table, later: set[int]) -> None:
    """States of queues that the brokers no longer list for the group: their topic, offset or group was deleted."""
    gone = stored.select(STATE_KEY).filter(pa.array(matches(stored, placed, STATE_KEY) < 0))
    for row in gone.to_pylist():
        if row["group_id"] not in later:
            QueueState.objects.filter(group_id=row["group_id"], queue_id=row["queue_pk"]).delete()
