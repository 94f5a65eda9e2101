"""Values of groups, and of their parts of a topic, from stored windows: what charts show is what is looked at."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import TextField
from django.db.models.functions import Cast

from consumers.alerts.measures.expiry import kept_seconds
from consumers.alerts.measures.unknown import NO_LAG
from consumers.lake import reader
from consumers.lake.paths import HOUR, folders_between
from consumers.models import Broker, ConsumerGroup, GroupWindow, Measure
from consumers.pipeline.kernel.arrays.columns import numbers
from consumers.pipeline.kernel.arrays.keys import matches
from consumers.pipeline.kernel.arrays.names import GROUP
from consumers.pipeline.kernel.group_windows import group_windows
from consumers.pipeline.kernel.trend import drain_seconds, expires_in
from consumers.pipeline.known import UNREAD
from consumers.pipeline.slices import microseconds
from consumers.vocabulary.brokers import MASTER
from consumers.vocabulary.unknown import UnknownReason

from .grid import Grid
from .values import Past, Values, batches, named_groups

# SQLite takes no more than some thousand parameters in one statement.
NAMED_AT_ONCE = 500
# Windows lie in the order of time: one that is looked up by its group costs as much as so many in their order.
LOOKED_UP_COSTS = 8
# A column of them takes 48 MB. Each time all windows of the range are read again.
VALUES_AT_ONCE = 6_000_000
# What a processor keeps at hand: of 20,000 each costs a third more.
ROWS_AT_ONCE = 2_000
# Of the lag in a window: known, or nothing is lacking; a broker explains it; it is the group's own matter.
KNOWN, EXPLAINED, OWN = 0.0, 1.0, 2.0
TOPIC_COLUMNS = (
    *(*GROUP, "start", "kind", "lag_messages", "time_lag_seconds", "time_lag_kind"),
    *("consume_rate", "produce_rate", "readings", "unknown_reason"),
)
# Columns of windows by name, a row a group and a column a moment; NaN where there is no window, or no value in it.
Stored = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Formula:
    """`of` makes of the windows of a grid, by their columns `names`, the values at its moments. Where it sums windows:
    those of the `seconds` that end with the moment, or the one window where that is wider."""

    names: tuple[str, ...]
    of: Callable[[Stored, int], np.ndarray]
    seconds: int = 0


def window_values(measure: Measure, places: Mapping[int, int], grid: Grid, past: Past) -> Iterator[Values]:
    """`places` by group id."""
    formula = FORMULAS[measure]
    summed = max(1, formula.seconds // grid.step_seconds)
    wide = grid.reaching_back(summed - 1)
    for some in batches(places, wide, VALUES_AT_ONCE):
        rows, stored = stored_windows(some, formula.names, wide, past)
        if measure == Measure.EXPIRY:
            stored = {**stored, **_kept(some, rows)}
        value = formula.of(stored, summed)[:, summed - 1 :]
        if measure == Measure.UNKNOWN:
            since = _known_until(value, grid)
            value = np.select([value == KNOWN, value == OWN], [0.0, (grid.at_us - since) / 1e6], np.nan)
            yield Values(rows, value, since)
        else:
            yield Values(rows, value)


def stored_windows(
    places: Mapping[int, int], names: Sequence[str], grid: Grid, past: Past
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
            stored[name].flat[cell] = column[is_mine]
    return np.array([places[group] for group in groups.tolist()], np.int64), stored


def _read(
    groups: np.ndarray, names: Sequence[str], grid: Grid, past: Past
) -> Iterator[tuple[np.ndarray, np.ndarray, list[np.ndarray]]]:
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
        yield np.array(group, np.int64), _times(start), [_numbers(*one) for one in zip(names, columns, strict=True)]


def _times(texts: list[str]) -> np.ndarray:
    """In microseconds. Few differ."""
    coded = pa.array(texts, pa.string()).dictionary_encode()
    known = [datetime.fromisoformat(text) for text in coded.dictionary.to_pylist()]
    # SQLite keeps times in UTC and does not say so.
    micros = [microseconds(at if at.tzinfo else at.replace(tzinfo=UTC)) for at in known]
    return np.array(micros, np.int64)[coded.indices.to_numpy()]


def _numbers(name: str, column: list[Any]) -> np.ndarray:
    if name != "unknown_reason":
        return numbers(pa.array(column, pa.float64()))
    codes = dict.fromkeys(NO_LAG, KNOWN) | {UnknownReason.BROKER_UNREAD: EXPLAINED}
    return np.array([codes.get(reason, OWN) for reason in column])


def _drain(stored: Stored, _: int) -> np.ndarray:
    """Nothing to drain is drained; what is not drained at this rate has no time."""
    lag = stored["lag_messages"]
    return np.where(lag == 0, 0.0, drain_seconds(lag, stored["consume_rate"], stored["produce_rate"]))


def _retry_share(stored: Stored, windows: int) -> np.ndarray:
    retried, consumed = (_sum(stored[name], windows) for name in ("into_retry", "consumed"))
    return np.divide(retried, consumed, out=np.full(consumed.shape, np.nan), where=consumed > 0)


def _sum(values: np.ndarray, windows: int) -> np.ndarray:
    """Of so many windows that end with each; NaN where one of them is missing, or does not know it."""
    known = ~np.isnan(values)
    count, total = (np.cumsum(one, axis=1, dtype=float) for one in (known, np.where(known, values, 0.0)))
    for sums in (count, total):
        sums[:, windows:] -= sums[:, :-windows].copy()
    return np.where(count == windows, total, np.nan)


def _expires(stored: Stored, _: int) -> np.ndarray:
    """Where nothing waits it is how long brokers keep a message."""
    left = expires_in(stored["agreed"], stored["time_lag_seconds"])
    return np.where(stored["lag_messages"] == 0, stored["shortest"], left)


def _kept(places: Mapping[int, int], rows: np.ndarray) -> Stored:
    """For how many seconds the brokers of each group's cluster keep messages, as they say today.

    `shortest` is NaN where one of them does not say, and `agreed` also where they differ: on which of them a message
    waited is not kept in windows of groups.
    """
    known, said = kept_seconds(), dict[int, list[float | None]]()
    for cluster, name in Broker.objects.filter(broker_id=MASTER).values_list("cluster_id", "name"):
        said.setdefault(cluster, []).append(known.get((cluster, name)))
    cluster_of = {places[group]: cluster for group, cluster in _clusters() if group in places}
    of_rows = [np.array(said.get(cluster_of.get(place, -1), [None]), float) for place in rows.tolist()]
    shortest, longest = np.array([(own.min(), own.max()) for own in of_rows]).reshape(-1, 2, 1).swapaxes(0, 1)
    return {"shortest": shortest, "agreed": np.where(shortest == longest, shortest, np.nan)}


def _clusters() -> Iterator[tuple[int, int]]:
    return ConsumerGroup.objects.order_by().values_list("pk", "cluster_id").iterator()


def _lag_code(stored: Stored, _: int) -> np.ndarray:
    """NaN where there is no window."""
    is_known = ~np.isnan(stored["lag_messages"]) & ~np.isnan(stored["unknown_reason"])
    return np.where(is_known, KNOWN, stored["unknown_reason"])


def _known_until(code: np.ndarray, grid: Grid) -> np.ndarray:
    """When the lag was known last, or the first window where it never was. A broker that was not read is another
    subject's, and what it explained is not counted; a group that has no lag by what it is lacks nothing."""
    never = float(grid.last_us)
    first = np.where(np.isnan(code), never, grid.at_us).min(axis=1, keepdims=True, initial=never)
    return np.maximum.accumulate(np.where(code <= EXPLAINED, grid.at_us, first), axis=1)


FORMULAS: dict[Measure, Formula] = {
    Measure.LAG: Formula(("lag_messages",), lambda stored, _: stored["lag_messages"]),
    Measure.TIME_LAG: Formula(("time_lag_seconds",), lambda stored, _: stored["time_lag_seconds"]),
    Measure.EXPIRY: Formula(("lag_messages", "time_lag_seconds"), _expires),
    Measure.DRAIN: Formula(("lag_messages", "consume_rate", "produce_rate"), _drain),
    Measure.RETRY_SHARE: Formula(("into_retry", "consumed"), _retry_share, seconds=3600),
    Measure.DLQ_INFLOW: Formula(("into_dlq",), lambda stored, windows: _sum(stored["into_dlq"], windows), seconds=300),
    Measure.UNKNOWN: Formula(("lag_messages", "unknown_reason"), _lag_code),
}
FIELDS = {Measure.LAG: "lag_messages", Measure.TIME_LAG: "time_lag_seconds"}


def topic_values(measure: Measure, topic: str, places: Mapping[int, int], grid: Grid, past: Past) -> Iterator[Values]:
    """Of groups' parts of one topic: sums over its queues. `places` by group id.

    The lake's windows end at ten minutes. A broker that was not read makes what the group has there unknown: which
    queues of the topic are on it is not kept.
    """
    table = f"windows_{min(grid.step_seconds, 600)}"
    of_topic = pc.field("topic") == topic
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
                value[np.searchsorted(rows, place), column] = numbers(found[FIELDS[measure]])
        yield Values(rows, value)


def _unread(places: Mapping[int, int], grid: Grid) -> pa.Table:
    """The groups' windows in which a broker that holds queues of theirs was not read."""
    rows = GroupWindow.objects.filter(step_seconds=grid.step_seconds, start__gte=grid.since, start__lt=grid.until)
    names = ("group_id", "group__cluster__name", "group__name", "start")
    found = rows.filter(unknown_reason=UnknownReason.BROKER_UNREAD).order_by().values_list(*names).iterator()
    mine = [dict(zip(UNREAD.names, row[1:], strict=True)) for row in found if row[0] in places]
    return pa.Table.from_pylist(mine, UNREAD)
