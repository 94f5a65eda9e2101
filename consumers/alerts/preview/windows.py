"""Values of groups, and of their parts of a topic, from stored windows: what charts show is what is looked at."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import TextField
from django.db.models.functions import Cast

from consumers.alerts.preview.values import Grid
from consumers.lake import reader
from consumers.lake.paths import HOUR, folders_between
from consumers.models import ConsumerGroup, GroupWindow
from consumers.pipeline.kernel.arrays.columns import numbers
from consumers.pipeline.kernel.arrays.keys import matches
from consumers.pipeline.kernel.arrays.names import GROUP
from consumers.pipeline.kernel.group_windows import group_windows
from consumers.pipeline.known import UNREAD
from consumers.pipeline.slices import microseconds
from consumers.vocabulary.unknown import UnknownReason

from .values import Past, PastScan, PastSource, Values, batches, named_groups

# SQLite takes no more than some thousand parameters in one statement.
NAMED_AT_ONCE = 500
# Windows lie in the order of time: one that is looked up by its group costs as much as so many in their order.
LOOKED_UP_COSTS = 8
# A column of them takes 48 MB. Each time all windows of the range are read again.
VALUES_AT_ONCE = 6_000_000
# What a processor keeps at hand: of 20,000 each costs a third more.
ROWS_AT_ONCE = 2_000
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
    those of the `seconds` that end with the moment, or the one window where that is wider.

    `beside`: further columns, of the groups' places and their rows. `code_of`: the number that stands for a reason in
    `unknown_reason`. `values`: what becomes of the numbers of each row.
    """

    names: tuple[str, ...]
    of: Callable[[Stored, int], np.ndarray]
    seconds: int = 0
    beside: Beside | None = None
    code_of: Callable[[str], float] | None = None
    values: Callable[[np.ndarray, np.ndarray, Grid], Values] = _as_they_are


def windowed(formula: Formula, topic_column: str | None = None) -> PastSource:
    """A past that windows of groups tell. `topic_column`: of the lake's windows of queues, which tell it by topic."""
    return PastSource(
        table="windows_600",
        read=lambda scan: window_values(formula, scan.groups, scan.grid, scan.past),
        read_topic=None if topic_column is None else partial(topic_values, topic_column),
        is_windowed=True,
    )


def window_values(formula: Formula, places: Mapping[int, int], grid: Grid, past: Past) -> Iterator[Values]:
    """`places` by group id."""
    windows = max(1, formula.seconds // grid.step_seconds)
    wide = grid.reaching_back(windows - 1)
    for some in batches(places, wide, VALUES_AT_ONCE):
        rows, stored = stored_windows(some, formula.names, wide, past, formula.code_of)
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
    stored = {name: np.full((len(groups), grid.count), np.nan) for name in names}
    row_of = np.full(int(groups.max(initial=0)) + 2, -1, np.int64)
    row_of[groups] = np.arange(len(groups))
    for group, start, columns in _read(groups, names, grid, past):
        # A group of a later id is the last, which is nobody's.
        row = row_of[np.minimum(group, len(row_of) - 1)]
        is_mine = row >= 0
        cell = row[is_mine] * grid.count + grid.numbers(start[is_mine] + grid.step_us)
        for name, column in zip(names, columns, strict=True):
            stored[name].flat[cell] = _numbers(column, code_of if name == "unknown_reason" else None)[is_mine]
    return np.array([places[group] for group in groups.tolist()], np.int64), stored


def _read(
    groups: np.ndarray, names: Sequence[str], grid: Grid, past: Past
) -> Iterator[tuple[np.ndarray, np.ndarray, list[list[Any]]]]:
    """Group, start in microseconds, and `names`, of some windows at a time."""
    found = GroupWindow.objects.filter(step_seconds=grid.step_seconds, start__gte=grid.since, start__lt=grid.until)
    if len(groups) <= NAMED_AT_ONCE and len(groups) * LOOKED_UP_COSTS <= ConsumerGroup.objects.count():
        found = found.filter(group__in=groups.tolist())
    elif len(groups):
        found = found.filter(group__gte=int(groups.min()), group__lte=int(groups.max()))
    # The time as a text: making a time of every row takes longer than all the rest.
    rows = found.order_by().values_list("group_id", Cast("start", TextField()), *names)
    every = rows.iterator(chunk_size=ROWS_AT_ONCE)
    while some := list(islice(every, ROWS_AT_ONCE)):
        past.go_on()
        # No zip of all rows: the collector of garbage would look through their iterators again and again.
        group, start, *columns = ([row[number] for row in some] for number in range(len(names) + 2))
        yield np.array(group, np.int64), _times(start), columns


def _times(texts: list[str]) -> np.ndarray:
    """In microseconds. Few differ."""
    coded = pa.array(texts, pa.string()).dictionary_encode()
    known = [datetime.fromisoformat(text) for text in coded.dictionary.to_pylist()]
    # SQLite keeps times in UTC and does not say so.
    micros = [microseconds(at if at.tzinfo else at.replace(tzinfo=UTC)) for at in known]
    return np.array(micros, np.int64)[coded.indices.to_numpy()]


def _numbers(column: list[Any], code_of: Callable[[str], float] | None) -> np.ndarray:
    if code_of is None:
        return numbers(pa.array(column, pa.float64()))
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
