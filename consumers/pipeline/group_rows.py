"""Rows of groups: states and windows, as a run found them."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa
from django.db import transaction

from consumers.models import ConsumerGroup, GroupState, GroupWindow, State, StateChange
from consumers.pipeline.kernel.columns import GROUP, TOPIC_QUEUE, matches
from consumers.polling.record.keyed_rows import upsert, upsert_rows
from consumers.vocabulary.states import RuleCode
from consumers.vocabulary.times import MICROSECOND

from .plain_rows import json_of, plain_rows, time_of
from .queue_rows import QUEUE_IDS
from .rebalance_rows import newest_rebalances
from .slices import floor, has_ended
from .volumes import FIELDS, MEASURED, NAMED_AT_ONCE, NOTHING_KNOWN, VOLUMES, Recent, joined_windows

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


class Stored(NamedTuple):
    """The stored row of a group, before a run overwrites it."""

    group_id: int
    state: str
    since: datetime
    judged_at: datetime


def write_group_states(
    judged: pa.Table,
    clusters: Sequence[str],
    judged_at: datetime,
    recent: Mapping[int, Recent] | None,
    queue_ids: pa.Table,
    interrupted: Mapping[int, datetime],
) -> None:
    """`recent` by group id; a group that is not in it has no window of the last day. None: rows keep what they have.
    `queue_ids`: as QueueIds has them. `interrupted`: since when groups were unknown that were not evaluated meanwhile,
    by their ids."""
    groups = group_ids(clusters)
    known = GroupState.objects.filter(group__cluster__name__in=clusters).values_list(*Stored._fields)
    stored = {row.group_id: row for row in map(Stored._make, known)}
    judged = judged.append_column("worst_queue", pa.array(_worst_queues(judged, queue_ids), pa.int64()))
    found = [one for one in judged.to_pylist() if (one["cluster"], one["group"]) in groups]
    # A group may have been rebalanced before it was first judged; the rows of the others keep when that was.
    rebalanced = newest_rebalances({groups[one["cluster"], one["group"]] for one in found} - stored.keys())
    rows, changes, copied = [], [], _copied(judged)
    for one in found:
        before = stored.get(groups[one["cluster"], one["group"]])
        if before is not None and before.judged_at > judged_at:
            continue
        if before is not None and before.state != State.UNKNOWN and before.group_id in interrupted:
            since = interrupted[before.group_id]
            changes.append(_interruption(before, since))
            before = before._replace(state=State.UNKNOWN, since=since)
        row = _row(one, groups[one["cluster"], one["group"]], before, copied, judged_at)
        volumes = (recent or {}).get(row["group_id"], NOTHING_KNOWN)
        row |= {name: getattr(volumes, name) for name in RECENT} | {"volumes_unknown": volumes.unknown}
        rows.append(row | {"last_rebalance_at": rebalanced.get(row["group_id"])})
        if before is None or before.state != row["state"]:
            changes.append(_change(row, before))
    unchanged = [] if recent is not None else [*RECENT, "volumes_unknown"]
    upsert_rows(GroupState, ["group_id"], rows, keep=["last_rebalance_at", *unchanged])
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
    before: Stored | None,
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


def _change(row: dict[str, Any], before: Stored | None) -> StateChange:
    copied = {name: row[name] for name in ("group_id", "rule", "detail")}
    was = None if before is None else before.state
    return StateChange(at=row["judged_at"], before=was, after=row["state"], **copied)


def _interruption(before: Stored, since: datetime) -> StateChange:
    was = before.state
    return StateChange(group_id=before.group_id, at=since, before=was, after=State.UNKNOWN, rule=RuleCode.NOT_READ)


def _delete_gone_groups(stored: Mapping[int, Stored], present: set[int], judged_at: datetime) -> None:
    """Groups of which no queue is listed any more have no state."""
    gone = [pk for pk, row in stored.items() if pk not in present and row.judged_at <= judged_at]
    for start in range(0, len(gone), 500):
        GroupState.objects.filter(group_id__in=gone[start : start + 500], judged_at__lte=judged_at).delete()


WIDER = [(60, 600), (600, 3600)]


def group_ids(clusters: Sequence[str]) -> dict[tuple[str, str], int]:
    """By the names of cluster and group."""
    rows = ConsumerGroup.objects.filter(cluster__name__in=clusters)
    return {(cluster, name): pk for cluster, name, pk in rows.values_list("cluster__name", "name", "id")}


def write_group_windows(
    windows: pa.Table, groups: Mapping[tuple[str, str], int], since: datetime, until: datetime, reach: timedelta
) -> int:
    """Writes windows of one minute, of some groups and of [since, until), and returns their number. A wider window is
    written again when another of its parts is complete. `groups`: as group_ids() returns them. `reach`: how long before
    a window the reading may lie from which its volumes count."""
    keys = [groups.get(name) for name in zip(*(windows[name].to_pylist() for name in GROUP), strict=True)]
    windows = windows.filter(pa.array([key is not None for key in keys], pa.bool_()))
    known = [key for key in keys if key is not None]
    columns: dict[str, Sequence[Any]] = {
        "group_id": known,
        **{name: windows[name].to_pylist() for name in ("start", *MEASURED, *VOLUMES)},
    }
    reasons = (zip(columns[name], windows[f"{name}_unknown"].to_pylist(), strict=True) for name in VOLUMES)
    columns["volumes_unknown"] = [
        {name: why for name, (value, why) in zip(VOLUMES, row, strict=True) if value is None}
        for row in zip(*reasons, strict=True)
    ]
    _write(columns, 60)
    for narrow, wide in WIDER:
        if has_ended(timedelta(seconds=narrow), since, until):
            widen_groups(set(known), narrow, wide, since, until, reach)
    return len(known)


def widen_groups(
    groups: Collection[int], narrow: int, wide: int, since: datetime, until: datetime, reach: timedelta
) -> None:
    """Writes the windows of `wide` seconds that have a moment in [since, until), from those of `narrow`."""
    step = timedelta(seconds=wide)
    start = floor(since, step)
    end = floor(until - MICROSECOND, step) + step
    names = ("group_id", "start", *FIELDS)
    wanted = sorted(groups)
    for first in range(0, len(wanted), NAMED_AT_ONCE):
        chosen = GroupWindow.objects.filter(group__in=wanted[first : first + NAMED_AT_ONCE], step_seconds=narrow)
        stored = chosen.filter(start__gte=start, start__lt=end)
        rows = list(plain_rows(stored.order_by("group_id", "start"), *names))
        if rows:
            parts: dict[str, Sequence[Any]] = dict(zip(names, zip(*rows, strict=True), strict=True))
            read = {"start": time_of, "volumes_unknown": json_of}
            parts |= {name: [made(value) for value in parts[name]] for name, made in read.items()}
            _write(joined_windows(parts, narrow, wide, reach), wide)


def _write(columns: Mapping[str, Sequence[Any]], step_seconds: int) -> None:
    steps = {"step_seconds": [step_seconds] * len(columns["start"])}
    upsert(GroupWindow, ["group_id", "step_seconds", "start"], {**columns, **steps})
