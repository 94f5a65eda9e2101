"""GroupWindow rows of one minute as the run found them; of ten minutes and an hour from the step below."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from consumers.models import ConsumerGroup, GroupWindow
from consumers.pipeline.slices import floor
from consumers.pipeline.volumes.joined import FIELDS, MEASURED, joined_windows
from consumers.pipeline.volumes.names import VOLUMES
from consumers.polling.record.tables.keyed_rows import upsert_rows

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
