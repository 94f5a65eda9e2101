"""How many members groups had, from the answers about them that the lake keeps, and for how long they had been
changing, from rebalances and the readings that they were found by."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import zip_longest

import numpy as np

from consumers.alerts.preview.values import MICROSECOND, VALUES_AT_MOST, Grid
from consumers.lake import reader
from consumers.lake.paths import HOUR, folders_between
from consumers.models import ConsumerGroup, Rebalance
from consumers.pipeline.kernel.arrays.columns import numbers
from consumers.pipeline.kernel.arrays.keys import matches
from consumers.pipeline.kernel.arrays.names import GROUP
from consumers.pipeline.slices import microseconds
from consumers.rebalances.events import LONGEST
from consumers.rebalances.unsettled import (
    Newest,
    Span,
    comings,
    enough,
    is_over_by,
    is_rollout,
    quiet,
    seldom_asked,
    told_until,
    unread_spans,
)

from .values import SPAN, Past, PastScan, Values, batches, named_groups, sampled, spans_of


def member_values(scan: PastScan) -> Iterator[Values]:
    """NaN: not every broker answered. And since when there has been none.

    An answer holds until the next one, and for so long at most.
    """
    grid, holds_for, past = scan.grid, scan.retention.membership, scan.past
    # Of each moment there are several answers.
    for some in batches(scan.groups, grid, VALUES_AT_MOST // 2):
        place, taken_us, members = _answers(some, grid.since - holds_for, grid.until + MICROSECOND, past)
        yield from sampled(member_spans(place, taken_us, members, holds_for, grid), grid)


def _answers(
    places: Mapping[int, int], since: datetime, until: datetime, past: Past
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place, moment and number of members of every answer; hour by hour, as names take ten times as much."""
    named = named_groups(places)
    place_of = numbers(named["place"]).astype(np.int32)
    found = [(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.float32))]
    for cluster in sorted(set(named["cluster"].to_pylist())):
        for hour in folders_between("membership", since, until):
            past.go_on()
            span = max(hour, since), min(hour + HOUR, until)
            rows = reader.read(past.lake, "membership", cluster, *span, [*GROUP, "taken_at", "members"])
            number = matches(rows, named, GROUP)
            mine = number >= 0
            taken, members = numbers(rows["taken_at"])[mine], numbers(rows["members"])[mine]
            found.append((place_of[number[mine]], taken.astype(np.int64), members.astype(np.float32)))
    place, taken_us, count = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return place, taken_us, count


def member_spans(
    place: np.ndarray, taken_us: np.ndarray, members: np.ndarray, holds_for: timedelta, grid: Grid
) -> np.ndarray:
    """SPAN of each answer that counts at a moment of the grid. `since_us`: the first answer without members after the
    last with any."""
    if not len(place):
        return np.empty(0, SPAN)
    order = np.lexsort((taken_us, place))
    place, taken_us, members = place[order], taken_us[order], members[order]
    begins = np.ones(len(order), bool)
    begins[1:] = place[1:] != place[:-1]
    to_us = taken_us + holds_for // MICROSECOND
    to_us[:-1] = np.where(begins[1:], to_us[:-1], np.minimum(to_us[:-1], taken_us[1:]))
    counts = np.flatnonzero(grid.numbers(taken_us) < grid.numbers(to_us))
    begins |= members > 0
    first = np.minimum.reduceat(np.where(members == 0, taken_us, np.inf), np.flatnonzero(begins))
    spans = np.empty(len(counts), SPAN)
    spans["place"], spans["from_us"], spans["to_us"] = place[counts], taken_us[counts], to_us[counts]
    spans["value"], spans["is_spared"] = members[counts], False
    since = first[(np.cumsum(begins) - 1)[counts]]
    spans["since_us"] = np.where(spans["value"] == 0, since, np.nan)
    return spans


@dataclass(frozen=True)
class Piece:
    """In [begin, end) the value is what has passed since `since`, at the last change at most: 0 where they are one."""

    begin: datetime
    end: datetime
    since: datetime
    last: datetime
    is_rollout: bool = False


def unsettled_values(places: Mapping[int, int], grid: Grid, judged: np.ndarray) -> Iterator[Values]:
    """For how long members had been changing, since when, and spared: it was a rollout.

    Of groups whose members were never asked for nobody can say that they did not change.
    """
    asked = ConsumerGroup.objects.filter(membership_at__isnull=False).values_list("pk", flat=True)
    watched = {group for group in asked if group in places}
    unread = unread_spans(watched, grid.since - LONGEST, grid.until, quiet())
    found = _rebalances(watched, grid)
    rows = [
        _span(places[group], piece)
        for group in watched
        for piece in read_only(
            pieces(found.get(group, ()), grid.since, grid.until + MICROSECOND), unread.get(group, ())
        )
    ]

    def value_at(spans: np.ndarray, at_us: np.ndarray) -> np.ndarray:
        # Where nothing changes there is no since.
        return np.where(np.isnan(spans["since_us"]), 0.0, (np.minimum(at_us, spans["value"]) - spans["since_us"]) / 1e6)

    yield from sampled(spans_of(rows), grid, value_at=value_at, known=judged)


def _span(place: int, piece: Piece) -> tuple[object, ...]:
    """Its value is the moment of the last change, of which `value_at` makes the time that it went on."""
    times = (microseconds(piece.begin), microseconds(piece.end), microseconds(piece.last))
    since = microseconds(piece.since) if piece.last > piece.since else np.nan
    return place, *times, since, piece.is_rollout


def pieces(found: Sequence[tuple[Newest, bool]], since: datetime, until: datetime) -> Iterator[Piece]:
    """`found`: the rebalances of one group in order, and whether each is a rollout. Where nobody knows is none."""
    begin = since
    for (row, rollout), later in zip_longest(found, found[1:]):
        end = until if later is None else later[0].started_before
        yield _rest(begin, row.started_before)
        begin = max(since, min(end, is_over_by(row)))
        if not seldom_asked(row):
            told = min(begin, told_until(row))
            yield Piece(max(since, row.started_before), told, row.episode_since, row.last_change_at, rollout)
    yield _rest(begin, until)


def read_only(found: Iterable[Piece], spans: Sequence[Span]) -> Iterator[Piece]:
    """Less what was not read: after that an episode counts from its end, once that is long enough to tell."""
    for piece in found:
        left: Piece | None = piece
        for before, after in spans:
            if left is None or before >= left.end:
                break
            if after > left.since:
                yield replace(left, end=min(left.end, before))
                left = _read_again(left, after)
        if left is not None:
            yield left


def _read_again(piece: Piece, after: datetime) -> Piece | None:
    if piece.since == piece.last:
        return _rest(max(piece.begin, after), piece.end)
    if piece.last - after < enough():
        return None
    return replace(piece, begin=max(piece.begin, after + enough()), since=after)


def _rest(begin: datetime, end: datetime) -> Piece:
    return Piece(begin, end, begin, begin)


def _rebalances(watched: set[int], grid: Grid) -> dict[int, list[tuple[Newest, bool]]]:
    """Those that may count within the range, by group and in order."""
    begun = Rebalance.objects.filter(started_before__gte=grid.since - LONGEST, started_before__lt=grid.until)
    every = begun.order_by("started_before").values_list(*Newest._fields).iterator()
    rows = [Newest._make(values) for values in every if values[0] in watched]
    since: dict[int, datetime] = {}
    for row in rows:
        if row.rollout:
            since[row.group_id] = min(row.episode_since, since.get(row.group_id, row.episode_since))
    came = {group: sorted(times) for group, times in comings(since).items()}
    found: dict[int, list[tuple[Newest, bool]]] = {}
    for row in rows:
        times = came.get(row.group_id, [])
        own = times[bisect_left(times, row.episode_since) : bisect_right(times, row.last_change_at)]
        found.setdefault(row.group_id, []).append((row, is_rollout(row, own)))
    return found
