"""Volumes of a long window from those of its parts."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from .names import NOT_RECORDED, PART_MISSING, VOLUMES


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
        untold = [part["volumes_unknown"].get(name, NOT_RECORDED) for part in parts if part[name] is None]
        if untold or not is_whole:
            values[name], unknown[name] = None, (untold or [PART_MISSING])[0]
        else:
            values[name] = sum(part[name] for part in parts)
    return values | {"volumes_unknown": unknown}
