"""QueueState rows from judged queues. Compared by column with what is stored: only differences become objects."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.db import connections, transaction
from django.db.models import Count, Max, QuerySet

from consumers.lake.schemas import TEXT
from consumers.models import Cluster, ConsumerGroup, GroupState, GroupWindow, Queue, QueueState, StateChange
from consumers.pipeline.kernel.columns import GROUP, TOPIC_QUEUE, beside, matches
from consumers.pipeline.kernel.readings import encoded
from consumers.polling.record.keyed_rows import BATCH, upsert, upsert_rows

from .rebalance_rows import newest_rebalances
from .slices import floor
from .volumes import FIELDS, MEASURED, NOTHING_KNOWN, VOLUMES, Recent, joined_windows

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
    _delete_gone_queues(placed, stored, later)
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
    """A batch at a time: as Python objects a million rows take a gigabyte."""
    names = ["detail", "time_lag_error_seconds", *COMPARED]
    for start in range(0, rows.num_rows, BATCH):
        batch = rows.slice(start, BATCH)
        columns: dict[str, Sequence[Any]] = {
            "group": batch["group_id"].to_pylist(),
            "queue": batch["queue_pk"].to_pylist(),
            "since": [since or judged_at for since in batch["since"].to_pylist()],
            "judged_at": [judged_at] * batch.num_rows,
            **{name: batch[name].to_pylist() for name in names},
        }
        upsert(QueueState, ["group", "queue"], columns, keep=keep)


def _delete_gone_queues(placed: pa.Table, stored: pa.Table, later: set[int]) -> None:
    """States of queues that the brokers no longer list for the group: their topic, offset or group was deleted."""
    gone = stored.select(STATE_KEY).filter(pa.array(matches(stored, placed, STATE_KEY) < 0))
    for row in gone.to_pylist():
        if row["group_id"] not in later:
            QueueState.objects.filter(group_id=row["group_id"], queue_id=row["queue_pk"]).delete()


# Columns of a judged group that are stored as more, or as less, than they are.
NOT_COPIED = {"group", "detail", "since"}
RECENT = [
    "retry_share",
    "dlq_day_messages",
    "dlq_day_messages_at_least",
    "dlq_day_since",
    "retry_share_known",
    "retry_share_since",
]


def write_group_states(
    judged: pa.Table,
    clusters: Sequence[str],
    judged_at: datetime,
    recent: Mapping[int, Recent],
    queue_ids: pa.Table,
) -> None:
    """`recent` by group id; a group that is not in it has no window of the last day. `queue_ids`: as QueueIds has
    them."""
    groups = {
        (cluster, name): pk
        for cluster, name, pk in ConsumerGroup.objects.filter(cluster__name__in=clusters).values_list(
            "cluster__name", "name", "id"
        )
    }
    known = GroupState.objects.filter(group__cluster__name__in=clusters).only("state", "since", "judged_at")
    stored = {row.group_id: row for row in known}
    judged = judged.append_column("worst_queue", pa.array(_worst_queues(judged, queue_ids), pa.int64()))
    found = [one for one in judged.to_pylist() if (one["cluster"], one["group"]) in groups]
    # A group may have been rebalanced before it was first judged; the rows of the others keep when that was.
    rebalanced = newest_rebalances({groups[one["cluster"], one["group"]] for one in found} - stored.keys())
    rows, changes, copied = [], [], _copied(judged)
    for one in found:
        before = stored.get(groups[one["cluster"], one["group"]])
        if before is not None and before.judged_at > judged_at:
            continue
        row = _row(one, groups[one["cluster"], one["group"]], before, copied, judged_at)
        volumes = recent.get(row["group_id"], NOTHING_KNOWN)
        row |= {name: getattr(volumes, name) for name in RECENT} | {"volumes_unknown": volumes.unknown}
        rows.append(row | {"last_rebalance_at": rebalanced.get(row["group_id"])})
        if before is None or before.state != row["state"]:
            changes.append(_change(row, before))
    upsert_rows(GroupState, ["group_id"], rows, keep=["last_rebalance_at"])
    with transaction.atomic():
        # The same range judged again finds its changes written.
        StateChange.objects.bulk_create(changes, ignore_conflicts=True)
    _delete_gone_groups(stored, {row["group_id"] for row in rows}, judged_at)


def _copied(judged: pa.Table) -> list[str]:
    """The columns that a row of a group has by the same name."""
    stored = {column.name for column in GroupState._meta.concrete_fields} - NOT_COPIED
    return [name for name in judged.column_names if name in stored]


def _row(
    one: dict[str, Any],
    group_id: int,
    before: GroupState | None,
    copied: Sequence[str],
    judged_at: datetime,
) -> dict[str, Any]:
    stays = before is not None and before.state == one["state"]
    return {
        "group_id": group_id,
        "detail": _detail(one),
        "since": before.since if before is not None and stays else one["since"] or judged_at,
        "judged_at": judged_at,
        **{name: one[name] for name in copied},
    }


def _detail(one: dict[str, Any]) -> dict[str, Any]:
    """The worst queue's numbers, and which queue that is."""
    if one["detail"] is None:
        return {"queues": one["queues"]}
    place = {name: one[f"worst_{name}"] for name in ("topic", "broker", "queue_id")}
    return {**json.loads(one["detail"]), **place, "queues": one["queues"]}


def _worst_queues(judged: pa.Table, queue_ids: pa.Table) -> list[int | None]:
    """The key of the worst queue of each, None where it has no row of the poll."""
    worst = judged.select(["cluster", *(f"worst_{name}" for name in TOPIC_QUEUE[1:])]).rename_columns(TOPIC_QUEUE)
    worst = worst.cast(pa.schema([QUEUE_IDS.field(name) for name in TOPIC_QUEUE]))
    place = matches(worst, queue_ids, TOPIC_QUEUE)
    found: list[int | None] = queue_ids["queue_pk"].combine_chunks().take(pa.array(place, mask=place < 0)).to_pylist()
    return found


def _change(row: dict[str, Any], before: GroupState | None) -> StateChange:
    copied = {name: row[name] for name in ("group_id", "rule", "detail")}
    was = None if before is None else before.state
    return StateChange(at=row["judged_at"], before=was, after=row["state"], **copied)


def _delete_gone_groups(stored: dict[int, GroupState], kept: set[int], judged_at: datetime) -> None:
    """Groups of which no queue is listed any more have no state."""
    gone = [pk for pk, row in stored.items() if pk not in kept and row.judged_at <= judged_at]
    for start in range(0, len(gone), 500):
        GroupState.objects.filter(group_id__in=gone[start : start + 500], judged_at__lte=judged_at).delete()


WIDER = [(60, 600), (600, 3600)]


def write_group_windows(
    windows: pa.Table, clusters: Sequence[str], since: datetime, until: datetime, reach: timedelta
) -> int:
    """`windows` are those of [since, until), one minute each. Returns the number of rows of one minute.

    `reach`: how long before a window the reading may lie that its volumes count from.
    """
    groups = {
        (cluster, name): pk
        for cluster, name, pk in ConsumerGroup.objects.filter(cluster__name__in=clusters).values_list(
            "cluster__name", "name", "id"
        )
    }
    rows = [
        {
            "group_id": groups[one["cluster"], one["group"]],
            "start": one["start"],
            **{name: one[name] for name in (*MEASURED, *VOLUMES)},
            "volumes_unknown": {name: one[f"{name}_unknown"] for name in VOLUMES if one[name] is None},
        }
        for one in windows.to_pylist()
        if (one["cluster"], one["group"]) in groups
    ]
    _write(rows, 60)
    for narrow, wide in WIDER:
        widen_groups(set(groups.values()), narrow, wide, since, until, reach)
    return len(rows)


def widen_groups(
    groups: Collection[int], narrow: int, wide: int, since: datetime, until: datetime, reach: timedelta
) -> None:
    """Writes the windows of `wide` seconds that have a moment in [since, until), from those of `narrow`."""
    step = timedelta(seconds=wide)
    start = floor(since, step)
    end = floor(until - timedelta(microseconds=1), step) + step
    stored = GroupWindow.objects.filter(step_seconds=narrow, start__gte=start, start__lt=end).order_by("start")
    parts = (row for row in stored.values("group_id", "start", *FIELDS).iterator() if row["group_id"] in groups)
    _write(list(joined_windows(parts, narrow, wide, reach)), wide)


def _write(rows: Sequence[Mapping[str, Any]], step_seconds: int) -> None:
    stepped = [{**row, "step_seconds": step_seconds} for row in rows]
    upsert_rows(GroupWindow, ["group_id", "step_seconds", "start"], stepped)
