"""Values of groups, and of their parts of a topic, from stored windows: previews compare what charts show."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from itertools import chain, groupby, islice, zip_longest
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import TextField
from django.db.models.functions import Cast

from consumers.lake import reader
from consumers.lake.store import HOUR, folders_between
from consumers.models import ConsumerGroup, GroupWindow, Rebalance
from consumers.pipeline.kernel.columns import GROUP, matches, numbers
from consumers.pipeline.kernel.group_windows import group_windows
from consumers.pipeline.known import UNREAD
from consumers.queries.groups import NAMED_AT_ONCE
from consumers.queries.unwatched import Span, quiet, unread_spans
from consumers.rebalances.events import LONGEST
from consumers.rebalances.flapping import (
    Newest,
    enough,
    is_over_by,
    known_until,
    seldom_asked,
)
from consumers.vocabulary.states import UnknownReason
from consumers.vocabulary.times import MICROSECOND, microseconds

from .values import (
    SPAN,
    VALUES_AT_MOST,
    Grid,
    Need,
    Past,
    PastScan,
    PastSource,
    Values,
    batches,
    named_groups,
    sampled,
    spans_of,
)

# Windows lie in the order of time: one that is looked up by its group costs as much as so many in their order.
LOOKED_UP_COSTS = 8
# To compare the ids of all windows costs more than to read the few of others, too.
NEARLY_ALL = 0.9
# A column of them takes 48 MB. Each time all windows of the range are read again.
VALUES_AT_ONCE = 6_000_000
# What a processor keeps at hand: of 20,000 each costs a third more.
ROWS_AT_ONCE = 2_000
# A week has so many minutes.
TIMES_AT_HAND = 10_080
TOPIC_COLUMNS = (
    *(*GROUP, "start", "kind", "lag_messages", "time_lag_seconds", "time_lag_kind"),
    *("consume_rate", "produce_rate", "readings", "unknown_reason"),
)
# Columns of windows by name, a row a group and a column a moment; NaN where there is no window, or no value in it.
Stored = Mapping[str, np.ndarray]


Beside = Callable[[Mapping[int, int], np.ndarray], Stored]


def _as_they_are(rows: np.ndarray, value: np.ndarray, _: Grid) -> Values:
    return Values(rows, value)


@dataclass(frozen=True)
class Formula:
    """`of` makes of the windows of a grid, by their columns `names`, the values at its moments. Where it sums windows:
    those of the `seconds` that end with the moment, or the one window where that is wider; `least` windows in any case.
    Beside the columns they have `step_seconds`, of one window.

    `beside`: further columns, of the groups' places and their rows. `code_of`: the number that stands for a reason in
    `unknown_reason`. `values`: what becomes of the numbers of each row.
    """

    names: tuple[str, ...]
    of: Callable[[Stored, int], np.ndarray]
    seconds: int = 0
    least: int = 1
    beside: Beside | None = None
    code_of: Callable[[str], float] | None = None
    values: Callable[[np.ndarray, np.ndarray, Grid], Values] = _as_they_are


def windowed(formula: Formula, topic_column: str | None = None, *, needs: Iterable[Need]) -> PastSource:
    """Returns a past that is read from windows of groups. `topic_column`: the column of the history store's windows of
    queues that has the value by topic."""
    return PastSource(
        table="windows_600",
        read=lambda scan: window_values(formula, scan.groups, scan.grid, scan.past),
        read_topic=None if topic_column is None else partial(topic_values, topic_column),
        is_windowed=True,
        needs=frozenset({Need.SCRAPED, *needs}),
    )


def window_values(formula: Formula, places: Mapping[int, int], grid: Grid, past: Past) -> Iterator[Values]:
    """`places` by group id."""
    windows = max(formula.least, formula.seconds // grid.step_seconds)
    wide = grid.reaching_back(windows - 1)
    for some in batches(places, wide, VALUES_AT_ONCE):
        rows, stored = stored_windows(some, formula.names, wide, past, formula.code_of)
        stored = {**stored, "step_seconds": np.array(float(grid.step_seconds))}
        if formula.beside is not None:
            stored = {**stored, **formula.beside(some, rows)}
        yield formula.values(rows, formula.of(stored, windows)[:, windows - 1 :], grid)


def stored_windows(
    places: Mapping[int, int],
    names: Sequence[str],
    grid: Grid,
    past: Past,
    code_of: Callable[[str], float] | None = None,
) -> tuple[np.ndarray, Stored]:
    """The places in order, and the columns of their windows."""
    groups = np.array(sorted(places, key=lambda group: places[group]), np.int64)
    # What is read of other groups goes into one more row, which is dropped.
    stored = {name: np.full((len(groups) + 1) * grid.count, np.nan) for name in names}
    row_of = np.full(int(groups.max(initial=0)) + 2, len(groups), np.int64)
    row_of[groups] = np.arange(len(groups))
    for group, start, columns in _read(groups, names, grid, past):
        # A group of a later id is the last, which is nobody's.
        cell = row_of[np.minimum(group, len(row_of) - 1)] * grid.count + grid.numbers(start + grid.step_us)
        for name, column in zip(names, columns, strict=True):
            stored[name][cell] = _numbers(column, code_of if name == "unknown_reason" else None)
    mine = {name: column.reshape(len(groups) + 1, grid.count)[:-1] for name, column in stored.items()}
    return np.array([places[group] for group in groups.tolist()], np.int64), mine


def _read(
    groups: np.ndarray, names: Sequence[str], grid: Grid, past: Past
) -> Iterator[tuple[np.ndarray, np.ndarray, list[list[Any]]]]:
    """Group, start in microseconds, and `names`, of some windows at a time."""
    found = GroupWindow.objects.filter(step_seconds=grid.step_seconds, start__gte=grid.since, start__lt=grid.until)
    every_group = ConsumerGroup.objects.count()
    if len(groups) <= NAMED_AT_ONCE and len(groups) * LOOKED_UP_COSTS <= every_group:
        found = found.filter(group__in=groups.tolist())
    elif len(groups) < NEARLY_ALL * every_group:
        found = found.filter(group__gte=int(groups.min()), group__lte=int(groups.max()))
    # The time as a text: making a time of every row takes longer than all the rest.
    rows = found.order_by().values_list("group_id", Cast("start", TextField()), *names)
    every = rows.iterator(chunk_size=ROWS_AT_ONCE)
    width = len(names) + 2
    while some := list(chain.from_iterable(islice(every, ROWS_AT_ONCE))):
        past.go_on()
        group, start, *columns = (some[number::width] for number in range(width))
        yield np.array(group, np.int64), _times(start), columns


def _times(texts: list[str]) -> np.ndarray:
    """In microseconds. Those that follow each other are mostly the same."""
    runs = [(_micros(text), len(list(same))) for text, same in groupby(texts)]
    micros, lengths = np.array(runs, np.int64).T
    return np.repeat(micros, lengths)


@lru_cache(TIMES_AT_HAND)
def _micros(text: str) -> int:
    at = datetime.fromisoformat(text)
    # SQLite keeps times in UTC and does not say so.
    return microseconds(at if at.tzinfo else at.replace(tzinfo=UTC))


def _numbers(column: list[Any], code_of: Callable[[str], float] | None) -> np.ndarray:
    """NaN where it is null."""
    if code_of is None:
        return np.array(column, float)
    codes = {reason: code_of(reason) for reason in set(column)}
    return np.array([codes[reason] for reason in column])


def summed(values: np.ndarray, windows: int) -> np.ndarray:
    """Of so many windows that end with each; NaN where one of them is missing, or does not know it."""
    known = ~np.isnan(values)
    count, total = (np.cumsum(one, axis=1, dtype=float) for one in (known, np.where(known, values, 0.0)))
    for sums in (count, total):
        sums[:, windows:] -= sums[:, :-windows].copy()
    return np.where(count == windows, total, np.nan)


def topic_values(name: str, scan: PastScan) -> Iterator[Values]:
    """Of groups' parts of one topic, by a column of windows: sums over its queues.

    The lake's windows end at ten minutes. A broker that was not read makes what the group has there unknown: which
    queues of the topic are on it is not kept.
    """
    places, grid, past = scan.groups, scan.grid, scan.past
    table = f"windows_{min(grid.step_seconds, 600)}"
    of_topic = pc.field("topic") == scan.topic
    for some in batches(places, grid):
        named, unread = named_groups(some), _unread(some, grid)
        rows = np.array(sorted(some.values()), np.int64)
        value = np.full((len(rows), grid.count), np.nan)
        for cluster in sorted(set(named["cluster"].to_pylist())):
            for hour in folders_between(table, grid.since, grid.until):
                past.go_on()
                span = max(hour, grid.since), min(hour + HOUR, grid.until)
                found = reader.read(past.lake, table, cluster, *span, TOPIC_COLUMNS, of_topic)
                found = group_windows(found.filter(pa.array(matches(found, named, GROUP) >= 0)), unread)
                place = numbers(named["place"])[matches(found, named, GROUP)]
                column = grid.numbers(numbers(found["start"]).astype(np.int64) + grid.step_us)
                value[np.searchsorted(rows, place), column] = numbers(found[name])
        yield Values(rows, value)


def _unread(places: Mapping[int, int], grid: Grid) -> pa.Table:
    """The groups' windows in which a broker that holds queues of theirs was not read."""
    rows = GroupWindow.objects.filter(step_seconds=grid.step_seconds, start__gte=grid.since, start__lt=grid.until)
    names = ("group_id", "group__cluster__name", "group__name", "start")
    found = rows.filter(unknown_reason=UnknownReason.BROKER_UNREAD).order_by().values_list(*names).iterator()
    mine = [dict(zip(UNREAD.names, row[1:], strict=True)) for row in found if row[0] in places]
    return pa.Table.from_pylist(mine, UNREAD)


# How many members groups had, from the answers about them that the lake keeps, and for how long they had been
# changing, from rebalances and the readings that they were found by.


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
    spans["value"], spans["is_suppressed"] = members[counts], False
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
    """For how long members had been changing, since when, and suppressed: it was a rollout.

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


def pieces(found: Sequence[Newest], since: datetime, until: datetime) -> Iterator[Piece]:
    """`found`: the rebalances of one group in order. Where nobody knows is none."""
    begin = since
    for row, later in zip_longest(found, found[1:]):
        end = until if later is None else later.started_before
        yield _rest(begin, row.started_before)
        begin = max(since, min(end, is_over_by(row)))
        if not seldom_asked(row):
            changing_until = min(begin, known_until(row))
            begun = max(since, row.started_before)
            yield Piece(begun, changing_until, row.episode_since, row.last_change_at, row.rollout)
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


def _rebalances(watched: set[int], grid: Grid) -> dict[int, list[Newest]]:
    """Those that may count within the range, by group and in order."""
    begun = Rebalance.objects.filter(started_before__gte=grid.since - LONGEST, started_before__lt=grid.until)
    every = begun.order_by("started_before").values_list(*Newest._fields).iterator()
    rows = [Newest._make(values) for values in every if values[0] in watched]
    found: dict[int, list[Newest]] = {}
    for row in rows:
        found.setdefault(row.group_id, []).append(row)
    return found
