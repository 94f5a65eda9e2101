"""What of a group was retried in the last hour, and died in the last day: sums of its windows, the widest that fit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum

from consumers.models import GroupWindow
from consumers.pipeline.slices import MINUTE, TEN_MINUTES, floor
from consumers.vocabulary.volumes import VolumeReason

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WIDEST_FIRST = (HOUR, TEN_MINUTES, MINUTE)
# SQLite takes no more than some thousand parameters in one statement.
NAMED_AT_ONCE = 500

Tile = tuple[timedelta, datetime, datetime]
# A code, or an object of a code and what it needs.
Unknown = str | dict[str, Any]


@dataclass(frozen=True)
class Recent:
    """`retry_share`: redeliveries per message consumed. `unknown`: the reason of each that is null.

    What is known of them all the same: `dlq_day_messages_at_least`, and `retry_share_known`, over a part of the hour;
    `…_since` is when that part begins, null where it begins with the hour or the day.
    """

    retry_share: float | None
    dlq_day_messages: int | None
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    dlq_day_messages_at_least: int | None = None
    dlq_day_since: datetime | None = None
    retry_share_known: float | None = None
    retry_share_since: datetime | None = None


NOTHING_KNOWN = Recent(None, None, dict.fromkeys(("retry_share", "dlq_day_messages"), VolumeReason.NO_WINDOW))


def recent_volumes(until: datetime, reach: timedelta) -> dict[int, Recent]:
    """Of all clusters, by group id, of the whole minutes before `until`; groups without a window in that day are left
    out.

    `reach`: how long before a window its last reading may lie. Two queries, each of some thirty rows a group; two more,
    of the minutes of the last hour, where a long window of a group is not known: what is known of it counts.
    """
    end = floor(until, MINUTE)
    hour_ago, day_ago = end - HOUR, end - DAY
    minutes = (MINUTE, hour_ago, end)
    share, dead = (("into_retry", "consumed"), ("into_dlq",))
    hour = _sums(list(tiles(hour_ago, end)), share, reach)
    hour |= _sums([minutes], share, reach, _partly_known(hour))
    day = _sums(list(tiles(day_ago, end)), dead, reach)
    day |= _sums([*tiles(day_ago, hour_ago), minutes], dead, reach, _partly_known(day))
    return {group: _recent(hour.get(group), sums) for group, sums in day.items()}


def _partly_known(sums: "Mapping[int, _Sums]") -> set[int]:
    return {group for group, one in sums.items() if one.partly}


def _recent(hour: "_Sums | None", day: "_Sums") -> Recent:
    share, dead = None, None
    unknown: dict[str, Unknown] = {}
    if hour is None:
        unknown["retry_share"] = VolumeReason.NO_WINDOW
    elif hour.partly:
        unknown["retry_share"] = hour.partly | {"at_least": hour.known}
    elif hour.known["consumed"]:
        share = hour.known["into_retry"] / hour.known["consumed"]
    else:
        unknown["retry_share"] = VolumeReason.NOTHING_CONSUMED
    if day.partly:
        unknown["dlq_day_messages"] = day.partly | {"at_least": day.known}
    else:
        dead = day.known["into_dlq"]
    is_part = hour is not None and bool(hour.known["consumed"]) and hour.partly is not None
    return Recent(
        share,
        dead,
        unknown,
        dlq_day_messages_at_least=day.known["into_dlq"] if day.has_known else None,
        dlq_day_since=day.since,
        retry_share_known=hour.known["into_retry"] / hour.known["consumed"] if hour and is_part else None,
        retry_share_since=hour.since if hour and is_part else None,
    )


@dataclass(frozen=True)
class _Sums:
    """What is known of each number; `partly` says of how much of the time that is, null where of all of it. `since`:
    when the first window begins that is known, where something before it is not."""

    known: dict[str, int]
    partly: dict[str, Any] | None
    since: datetime | None
    has_known: bool


def _sums(
    covered: Sequence[Tile],
    names: Sequence[str],
    reach: timedelta,
    only: Collection[int] | None = None,
) -> dict[int, _Sums]:
    """By group id; of the groups in `only`, where that is given."""
    if only is not None and not only:
        return {}
    found = GroupWindow.objects.all()
    if only is not None and len(only) <= NAMED_AT_ONCE:
        found = found.filter(group__in=only)
    chosen = Q(pk__in=[])
    for step, first, last in covered:
        chosen |= Q(step_seconds=step.total_seconds(), start__gte=first, start__lt=last)
    is_known = Q(**{f"{name}__isnull": False for name in names})
    rows: Any = (
        found.filter(chosen)
        .order_by()
        .values("group")
        .annotate(
            windows=Count("pk"),
            whole=Count("pk", filter=is_known),
            seconds=Sum("step_seconds", filter=is_known),
            first=Min("start"),
            first_known=Min("start", filter=is_known),
            last=Max("start"),
            **{f"sum_{name}": Sum(name) for name in names},
        )
    )
    return {
        row["group"]: _summed(row, names, covered, reach)
        for row in rows.iterator()
        if only is None or row["group"] in only
    }


def _summed(row: dict[str, Any], names: Sequence[str], covered: Sequence[Tile], reach: timedelta) -> _Sums:
    partly = _partly(row, covered, reach)
    begins_late = partly is not None and row["whole"] and row["first_known"] > covered[0][1]
    return _Sums(
        {name: row[f"sum_{name}"] or 0 for name in names},
        partly,
        row["first_known"] if begins_late else None,
        bool(row["whole"]),
    )


def _partly(row: dict[str, Any], covered: Sequence[Tile], reach: timedelta) -> dict[str, Any] | None:
    """Where readings are rarer than minutes a minute without one is no hole: the next one counts from before it, or is
    not known."""
    start, end = covered[0][1], covered[-1][2]
    last_end = next(row["last"] + step for step, first, last in covered if first <= row["last"] < last)
    if reach > MINUTE:
        is_whole = row["first"] - start < reach and end - last_end < reach
    else:
        is_whole = row["seconds"] == (end - start).total_seconds()
    if is_whole and row["whole"] == row["windows"]:
        return None
    if not row["whole"]:
        return {"code": VolumeReason.NO_KNOWN_WINDOW}
    if row["seconds"] == (end - row["first_known"]).total_seconds():
        since = f"{row['first_known'].astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        return {"code": VolumeReason.KNOWN_SINCE, "since": since}
    minutes = {"minutes": round(row["seconds"] / 60), "of": round((end - start) / MINUTE)}
    return {"code": VolumeReason.KNOWN_OF_MINUTES, **minutes}


def tiles(start: datetime, end: datetime, steps: Sequence[timedelta] = WIDEST_FIRST) -> Iterator[Tile]:
    """Step and stretch of the windows that make up [start, end), whole minutes, each moment once, in order."""
    if start >= end:
        return
    step, narrower = steps[0], steps[1:]
    first, last = floor(start + step - timedelta(microseconds=1), step), floor(end, step)
    if first >= last:
        yield from tiles(start, end, narrower)
        return
    yield from tiles(start, first, narrower)
    yield step, first, last
    yield from tiles(last, end, narrower)
