"""Long windows of groups from those of their parts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from consumers.pipeline.slices import floor
from consumers.vocabulary.volumes import VolumeReason

from .names import VOLUMES

MEASURED = ("lag_messages", "time_lag_seconds", "consume_rate", "produce_rate", "readings", "unknown_reason")
FIELDS = (*MEASURED, *VOLUMES, "volumes_unknown")


def joined_windows(
    parts: Iterable[Mapping[str, Any]], narrow_seconds: int, wide_seconds: int, reach: timedelta
) -> Iterator[dict[str, Any]]:
    """group_id, start and FIELDS of each wide window that has a part. `parts`: the same, by start."""
    narrow, wide = timedelta(seconds=narrow_seconds), timedelta(seconds=wide_seconds)
    together: dict[tuple[int, datetime], list[Mapping[str, Any]]] = {}
    for part in parts:
        together.setdefault((part["group_id"], floor(part["start"], wide)), []).append(part)
    for (group, start), of_window in together.items():
        volumes = whole_volumes(of_window, narrow, start, start + wide, reach)
        yield {"group_id": group, "start": start} | _measured(of_window) | volumes


def _measured(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Lag and time lag of the last one; a rate only where every part has one."""
    last = parts[-1]
    return {
        "lag_messages": last["lag_messages"],
        "time_lag_seconds": last["time_lag_seconds"],
        "unknown_reason": last["unknown_reason"],
        "readings": sum(part["readings"] for part in parts),
        "consume_rate": _mean([part["consume_rate"] for part in parts]),
        "produce_rate": _mean([part["produce_rate"] for part in parts]),
    }


def _mean(rates: Sequence[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if len(known) == len(rates) else None


def whole_volumes(
    parts: Sequence[Mapping[str, Any]], step: timedelta, start: datetime, end: datetime, reach: timedelta
) -> dict[str, Any]:
    """Each of VOLUMES over [start, end), and volumes_unknown with the reason of each null.

    `parts`: windows of `step` in order, with start, VOLUMES and volumes_unknown. Null while one of them is, or is not
    there; but where readings are rarer than windows the next one counts from before it, as long as that is in `reach`.
    """
    edges = [start, *(edge for part in parts for edge in (part["start"], part["start"] + step)), end]
    is_whole = all(later - earlier < reach for earlier, later in zip(edges[::2], edges[1::2], strict=True))
    values: dict[str, Any] = {}
    unknown: dict[str, str] = {}
    for name in VOLUMES:
        untold = [part["volumes_unknown"].get(name, VolumeReason.NOT_RECORDED) for part in parts if part[name] is None]
        if untold or not is_whole:
            values[name], unknown[name] = None, (untold or [VolumeReason.PART_MISSING])[0]
        else:
            values[name] = sum(part[name] for part in parts)
    return values | {"volumes_unknown": unknown}
