"""Retries of a group in the last hour and dead-letter messages of the last day, summed from its widest windows."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from django.db.models import Count, Max, Min, Q, Sum

from consumers.lake.schemas import TEXT
from consumers.models import GroupBroker, GroupWindow, Reading
from consumers.vocabulary.reasons import VolumeReason
from consumers.vocabulary.times import EPOCH, MICROSECOND, from_microseconds, microseconds

from .kernel.segments import MICROSECONDS
from .plain_rows import plain_rows, time_of
from .slices import MINUTE, TEN_MINUTES, floor

# The volumes of a window. Why one of them is not known: consumers/vocabulary/reasons.py.

VOLUMES = ("into_retry", "out_of_retry", "into_dlq", "consumed")


LAST = ("lag_messages", "time_lag_seconds")
MEASURED = (*LAST, "consume_rate", "produce_rate", "readings", "unknown_reason")
FIELDS = (*MEASURED, *VOLUMES, "volumes_unknown")


def joined_windows(
    parts: Mapping[str, Sequence[Any]], narrow_seconds: int, wide_seconds: int, reach: timedelta
) -> dict[str, list[Any]]:
    """group_id, start and FIELDS of each wide window that has a part. `parts`: the same, in order of group and start.

    Lag and time lag are those of the last part; a rate is known only where every part has one.
    """
    group, start_us = np.array(parts["group_id"], np.int64), _microseconds(parts["start"])
    if not len(group):
        return {name: [] for name in ("group_id", "start", *FIELDS)}
    wide_us = wide_seconds * MICROSECONDS
    wide_start = start_us // wide_us * wide_us
    begins = np.append(True, (group[1:] != group[:-1]) | (wide_start[1:] != wide_start[:-1]))
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(group)) - 1
    lengths = last + 1 - first
    rates = {name: np.add.reduceat(_floats(parts[name]), first) / lengths for name in ("consume_rate", "produce_rate")}
    span = Spanned(first, wide_start[first], wide_start[first] + wide_us)
    return {
        "group_id": group[first].tolist(),
        "start": [from_microseconds(at) for at in wide_start[first].tolist()],
        **{name: [parts[name][row] for row in last.tolist()] for name in (*LAST, "unknown_reason")},
        **{name: _known(values) for name, values in rates.items()},
        "readings": np.add.reduceat(np.array(parts["readings"], np.int64), first).tolist(),
        **span.volumes(parts, start_us, narrow_seconds * MICROSECONDS, reach),
    }


def whole_volumes(
    parts: Sequence[Mapping[str, Any]], step: timedelta, start: datetime, end: datetime, reach: timedelta
) -> dict[str, Any]:
    """Each of VOLUMES over [start, end), and volumes_unknown with the reason of each null. `parts`: windows of `step`
    in order, with start, VOLUMES and volumes_unknown; one at least."""
    columns = {name: [part[name] for part in parts] for name in ("start", "volumes_unknown", *VOLUMES)}
    span = Spanned(np.array([0]), *(np.array([microseconds(at)]) for at in (start, end)))
    found = span.volumes(columns, _microseconds(columns["start"]), microseconds(EPOCH + step), reach)
    return {name: values[0] for name, values in found.items()}


@dataclass(frozen=True)
class Spanned:
    """Spans of time from `start_us` to `end_us`, and the row of the first part of each."""

    first: np.ndarray
    start_us: np.ndarray
    end_us: np.ndarray

    def volumes(
        self, parts: Mapping[str, Sequence[Any]], at_us: np.ndarray, step_us: int, reach: timedelta
    ) -> dict[str, list[Any]]:
        """VOLUMES of each span, and volumes_unknown with the reason of each null. Null while one of its parts is, or is
        not there; but where readings are rarer than windows the next one counts from before it, as long as that is in
        `reach`."""
        is_whole = self._is_whole(at_us, step_us, microseconds(EPOCH + reach))
        values: dict[str, list[Any]] = {}
        # Of each volume the first part of each span that does not tell it; the number of rows where all do.
        unknown, none = {}, len(at_us)
        for name in VOLUMES:
            numbers = _floats(parts[name])
            unknown[name] = np.minimum.reduceat(np.where(np.isnan(numbers), np.arange(none), none), self.first)
            total = np.where(is_whole, np.add.reduceat(numbers, self.first), np.nan)
            values[name] = [None if math.isnan(value) else int(value) for value in total.tolist()]
        reasons: list[dict[str, str]] = [{} for _ in self.first]
        for row in np.flatnonzero(~is_whole | np.any([rows < none for rows in unknown.values()], axis=0)).tolist():
            for name in VOLUMES:
                if values[name][row] is None:
                    part = int(unknown[name][row])
                    known = parts["volumes_unknown"][part] if part < none else {name: VolumeReason.PART_MISSING}
                    reasons[row][name] = known.get(name, VolumeReason.NOT_RECORDED)
        return values | {"volumes_unknown": reasons}

    def _is_whole(self, at_us: np.ndarray, step_us: int, reach_us: int) -> np.ndarray:
        """Whether no long time is without a part: before the first of a span, between two of them, behind the last."""
        since = np.append(0, at_us[:-1] + step_us)
        since[self.first] = self.start_us
        last = np.append(self.first[1:], len(at_us)) - 1
        behind = self.end_us - (at_us[last] + step_us)
        whole: np.ndarray = np.maximum(np.maximum.reduceat(at_us - since, self.first), behind) < reach_us
        return whole


def _microseconds(times: Sequence[datetime]) -> np.ndarray:
    """Of many rows few times differ."""
    known = {at: microseconds(at) for at in set(times)}
    return np.array([known[at] for at in times], np.int64)


def _floats(values: Sequence[float | None]) -> np.ndarray:
    return np.array(values, float)


def _known(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


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
    # A share is of windows in which both numbers are known.
    part = hour.together if hour is not None and hour.partly is not None and hour.together["consumed"] else None
    return Recent(
        share,
        dead,
        unknown,
        dlq_day_messages_at_least=day.known["into_dlq"] if day.has_known else None,
        dlq_day_since=day.since,
        retry_share_known=part["into_retry"] / part["consumed"] if part else None,
        retry_share_since=hour.since if hour and part else None,
    )


@dataclass(frozen=True)
class _Sums:
    """The known sum of each number, and of the windows in which all numbers are known. `partly`: for how much of the
    time the sum is known, null where for all of it. `since`: when the first known window begins, where something before
    it is unknown."""

    known: dict[str, int]
    together: dict[str, int]
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
    times = {"first": Min("start"), "first_known": Min("start", filter=is_known), "last": Max("start")}
    sums = {
        "windows": Count("pk"),
        "whole": Count("pk", filter=is_known),
        "seconds": Sum("step_seconds", filter=is_known),
        **{f"sum_{name}": Sum(name) for name in names},
        **{f"together_{name}": Sum(name, filter=is_known) for name in names},
    }
    rows = found.filter(chosen).order_by().values("group").annotate(**sums, **times)
    columns = ["group", *sums, *times]
    summed = {}
    for values in plain_rows(rows, *columns):
        row: dict[str, Any] = dict(zip(columns, values, strict=True))
        if only is None or row["group"] in only:
            row |= {name: time_of(row[name]) for name in times}
            # PostgreSQL's sums of whole numbers are decimals.
            row |= {name: int(row[name]) for name in sums if row[name] is not None}
            summed[row["group"]] = _summed(row, names, covered, reach)
    return summed


def _summed(row: dict[str, Any], names: Sequence[str], covered: Sequence[Tile], reach: timedelta) -> _Sums:
    partly = _partly(row, covered, reach)
    begins_late = partly is not None and row["whole"] and row["first_known"] > covered[0][1]
    return _Sums(
        {name: row[f"sum_{name}"] or 0 for name in names},
        {name: row[f"together_{name}"] or 0 for name in names},
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
    first, last = floor(start + step - MICROSECOND, step), floor(end, step)
    if first >= last:
        yield from tiles(start, end, narrower)
        return
    yield from tiles(start, first, narrower)
    yield step, first, last
    yield from tiles(last, end, narrower)


APPEARED = pa.schema(
    [("cluster", TEXT), ("topic", TEXT), ("broker", TEXT), ("appeared_us", pa.list_(pa.int64()))],
)
TOPICS = pa.schema([("cluster", TEXT), ("group", TEXT), ("has_retry", pa.bool_()), ("has_dead", pa.bool_())])


def appeared_topics(clusters: Sequence[str], since: datetime, until: datetime, reach: timedelta) -> pa.Table:
    """When a broker that had been read within `reach` before was seen to have a topic that it had not had then."""
    rows = Reading.objects.filter(cluster__name__in=clusters, taken_at__gte=since - reach, taken_at__lt=until)
    found: dict[tuple[str, str, str], list[int]] = {}
    read_at: dict[tuple[str, str], datetime] = {}
    for cluster, at, brokers in rows.order_by("taken_at").values_list("cluster__name", "taken_at", "brokers"):
        for one in brokers:
            # A slave may lack what its master has.
            if not one["read"] or one.get("read_from"):
                continue
            before = read_at.get((cluster, one["name"]))
            read_at[cluster, one["name"]] = at
            if before is not None and at - before <= reach and at >= since:
                for topic in one.get("topics_appeared", ()):
                    found.setdefault((cluster, topic, one["name"]), []).append(microseconds(at))
    return pa.Table.from_pylist(
        [dict(zip(APPEARED.names, (*key, times), strict=True)) for key, times in found.items()], APPEARED
    )


def group_topics(clusters: Sequence[str]) -> pa.Table:
    """Whether a group has a retry and a dead-letter topic: yes where a broker says so, no where all were asked."""
    rows: list[dict[str, object]] = []
    for cluster in clusters:
        newest = Reading.objects.filter(cluster__name=cluster).exclude(brokers=[]).first()
        names = [one["name"] for one in newest.brokers] if newest else []
        counted = GroupBroker.objects.filter(group__cluster__name=cluster).values("group__name")
        counted = counted.annotate(
            asked=Count("pk", filter=Q(broker__in=names)),
            retry=Count("pk", filter=~Q(retry_permissions={})),
            dead=Count("pk", filter=Q(dlq_permission__isnull=False)),
        )
        for one in counted:
            is_whole = bool(names) and one["asked"] == len(names)
            rows.append(
                {
                    "cluster": cluster,
                    "group": one["group__name"],
                    "has_retry": True if one["retry"] else (False if is_whole else None),
                    "has_dead": True if one["dead"] else (False if is_whole else None),
                }
            )
    return pa.Table.from_pylist(rows, TOPICS)
