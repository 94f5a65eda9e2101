"""GroupWindow rows of one minute as the run found them; of ten minutes and an hour from the step below."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from consumers.models import ConsumerGroup, GroupWindow
from consumers.pipeline.slices import floor
from consumers.pipeline.volumes.joined import whole_volumes
from consumers.pipeline.volumes.names import VOLUMES

from .batches import upsert

MEASURED = ["lag_messages", "time_lag_seconds", "consume_rate", "produce_rate", "readings", "unknown_reason"]
FIELDS = [*MEASURED, *VOLUMES, "volumes_unknown"]
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
        GroupWindow(
            group_id=groups[one["cluster"], one["group"]],
            step_seconds=60,
            start=one["start"],
            **{name: one[name] for name in (*MEASURED, *VOLUMES)},
            volumes_unknown={name: one[f"{name}_unknown"] for name in VOLUMES if one[name] is None},
        )
        for one in windows.to_pylist()
        if (one["cluster"], one["group"]) in groups
    ]
    _upsert(rows)
    for narrow, wide in WIDER:
        _upsert(_widened(list(groups.values()), narrow, wide, since, until, reach))
    return len(rows)


def _upsert(rows: list[GroupWindow]) -> None:
    upsert(rows, ["group", "step_seconds", "start"], FIELDS)


def _widened(
    groups: list[int], narrow: int, wide: int, since: datetime, until: datetime, reach: timedelta
) -> list[GroupWindow]:
    step = timedelta(seconds=wide)
    start = floor(since, step)
    end = floor(until - timedelta(microseconds=1), step) + step
    names = ("group_id", "start", *FIELDS)
    stored = GroupWindow.objects.filter(step_seconds=narrow, start__gte=start, start__lt=end).order_by("start")
    wanted = set(groups)
    parts: dict[tuple[int, datetime], list[dict[str, Any]]] = {}
    for row in stored.values(*names).iterator():
        if row["group_id"] in wanted:
            parts.setdefault((row["group_id"], floor(row["start"], step)), []).append(row)
    return [
        GroupWindow(
            group_id=group,
            step_seconds=wide,
            start=at,
            **_joined(rows),
            **whole_volumes(rows, timedelta(seconds=narrow), at, at + step, reach),
        )
        for (group, at), rows in parts.items()
    ]


def _joined(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Lag and time lag of the last one; a rate only where every part has one."""
    last = rows[-1]
    return {
        "lag_messages": last["lag_messages"],
        "time_lag_seconds": last["time_lag_seconds"],
        "unknown_reason": last["unknown_reason"],
        "readings": sum(row["readings"] for row in rows),
        "consume_rate": _mean(row["consume_rate"] for row in rows),
        "produce_rate": _mean(row["produce_rate"] for row in rows),
    }


def _mean(rates: Iterable[float | None]) -> float | None:
    values = list(rates)
    known = [rate for rate in values if rate is not None]
    return sum(known) / len(known) if len(known) == len(values) else None
