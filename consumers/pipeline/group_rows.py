"""QueueState rows from judged queues. Compared by column with what is stored: only differences become objects."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction
from django.db.models import Count, Max, QuerySet

from consumers.lake.schemas import TEXT
from consumers.models import Cluster, ConsumerGroup, GroupState, GroupWindow, Queue, QueueState, StateChange
from consumers.pipeline.kernel.columns import GROUP, QUEUE, TOPIC_QUEUE, beside, matches
from consumers.pipeline.kernel.readings import encoded
from consumers.polling.record.keyed_rows import BATCH, upsert, upsert_rows

from .plain_rows import json_of, plain_batches, plain_rows, time_of
from .rebalance_rows import newest_rebalances
from .slices import floor
from .volumes import FIELDS, HOUR, MEASURED, NOTHING_KNOWN, VOLUMES, Recent, joined_windows

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


@dataclass
class StateRows:
    """The rows of queues' states as a run left them, and where each judged queue is placed: kept from run to run of a
    process. Read again where rows came or went, where another run judged, and in every hour."""

    rows: pa.Table = field(default_factory=STORED.empty_table)
    of_clusters: tuple[str, ...] = ()
    judged_at: datetime | None = None
    # Names of the judged queues, the keys that they were looked up in, and those that were found.
    names: tuple[pa.Table, ...] = ()
    keys: pa.Table | None = None

    def taken(self, clusters: Sequence[str], judged_at: datetime) -> pa.Table:
        """For a run that puts back what it leaves: after one that failed half-way they are read again."""
        was, self.judged_at = self.judged_at, None
        is_kept = (
            was is not None
            and self.of_clusters == tuple(clusters)
            and floor(was, HOUR) == floor(judged_at, HOUR)
            and GroupState.objects.aggregate(newest=Max("judged_at"))["newest"] == was
            and self._are_all(was)
        )
        if not is_kept:
            rows = QueueState.objects.filter(group__cluster__name__in=clusters)
            names = ["group_id", "queue_id", "state", "rule", "provisional", "time_lag_seconds", "time_lag_kind"]
            self.rows = _read(rows, names, STORED)
        self.of_clusters = tuple(clusters)
        return self.rows

    def _are_all(self, judged_at: datetime) -> bool:
        """No other process has written or deleted since, even one that ended before the states of groups."""
        found = QueueState.objects.aggregate(count=Count("pk"), newest=Max("judged_at"))
        return found["count"] == self.rows.num_rows and (found["newest"] or judged_at) <= judged_at

    def put_back(self, placed: pa.Table, others: pa.Table, judged_at: datetime) -> None:
        """`placed` were judged, `others` have rows all the same."""
        rows = placed.select([*STATE_KEY, *COMPARED]).rename_columns(STORED.names).cast(STORED)
        self.rows = pa.concat_tables([rows, others]).combine_chunks()
        self.judged_at = judged_at

    def placed(self, judged: pa.Table, group_ids: pa.Table, queue_ids: pa.Table) -> pa.Table:
        """The keys of each judged queue, null where it has no row."""
        names = (judged.select(QUEUE), group_ids, queue_ids)
        if self.keys is None or any(not one.equals(was) for one, was in zip(names, self.names, strict=True)):
            places = {"group_id": (group_ids, GROUP), "queue_pk": (queue_ids, TOPIC_QUEUE)}
            found = {}
            for name, (keys, key) in places.items():
                place = matches(judged, keys, key)
                found[name] = keys[name].combine_chunks().take(pa.array(place, mask=place < 0))
            self.names, self.keys = names, pa.table(found)
        return self.keys


def write_queue_states(
    judged: pa.Table,
    clusters: Sequence[str],
    judged_at: datetime,
    queue_ids: pa.Table,
    kept: StateRows | None = None,
) -> int:
    """Returns how many of `judged` have rows of the poll to stand beside; the others wait until they have. `kept`: what
    the run before this one left in this process."""
    kept = kept or StateRows()
    stored = kept.taken(clusters, judged_at)
    groups = ConsumerGroup.objects.filter(cluster__name__in=clusters)
    later = set(GroupState.objects.filter(judged_at__gt=judged_at).values_list("group_id", flat=True))
    placed = _placed(judged, groups, queue_ids, kept)
    if later:
        is_later = pc.is_in(placed["group_id"], value_set=pa.array(sorted(later), pa.int64()))
        placed = placed.filter(pc.invert(is_later))
    compared = beside(placed, stored, STATE_KEY)
    changed = compared.filter(_has_changed(compared))
    # A state that stays has its old beginning, whatever its newest evidence reaches back to.
    stays = pc.fill_null(pc.equal(changed["state"], changed["was_state"]), False)
    _upsert(changed.filter(stays), judged_at, keep=["since"])
    _upsert(changed.filter(pc.invert(stays)), judged_at)
    kept.put_back(placed, _delete_gone_queues(placed, stored, later), judged_at)
    return placed.num_rows


def _placed(judged: pa.Table, groups: QuerySet[ConsumerGroup], queue_ids: pa.Table, kept: StateRows) -> pa.Table:
    """Without those that have no row of their group or queue."""
    keys = kept.placed(judged, _read(groups, ["cluster__name", "name", "id"], GROUP_IDS), queue_ids)
    columns = judged.select(["detail", "since", "time_lag_error_seconds", *COMPARED])
    for name in keys.column_names:
        columns = columns.append_column(name, keys[name])
    is_placed = pc.and_(*(pc.is_valid(column) for column in keys.columns))
    return columns if pc.all(is_placed).as_py() else columns.filter(is_placed)


def _read(rows: QuerySet, names: list[str], schema: pa.Schema) -> pa.Table:
    found = [schema.empty_table()]
    for batch in plain_batches(rows, *names):
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


def _delete_gone_queues(placed: pa.Table, stored: pa.Table, later: set[int]) -> pa.Table:
    """States of queues that the brokers no longer list for the group: their topic, offset or group was deleted. Returns
    the others that are not judged: they were, later."""
    others = stored.filter(pa.array(matches(stored, placed, STATE_KEY) < 0))
    is_later = pc.is_in(others["group_id"], value_set=pa.array(sorted(later), pa.int64()))
    for row in others.filter(pc.invert(is_later)).to_pylist():
        QueueState.objects.filter(group_id=row["group_id"], queue_id=row["queue_pk"]).delete()
    return others.filter(is_later)


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
    names = ("group_id", "start", *FIELDS)
    rows = (dict(zip(names, row, strict=True)) for row in plain_rows(stored, *names) if row[0] in groups)
    parts = (row | {"start": time_of(row["start"]), "volumes_unknown": json_of(row["volumes_unknown"])} for row in rows)
    _write(list(joined_windows(parts, narrow, wide, reach)), wide)


def _write(rows: Sequence[Mapping[str, Any]], step_seconds: int) -> None:
    stepped = [{**row, "step_seconds": step_seconds} for row in rows]
    upsert_rows(GroupWindow, ["group_id", "step_seconds", "start"], stepped)
