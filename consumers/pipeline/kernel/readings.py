"""The readings of many queues as flat columns, and which of their steps are consumption.

A step lies between two good readings of a queue that follow one another. It is no consumption where the offset fell,
where an offset was set by hand meanwhile (a reset of ours, or one that was recognised), and where the topic was created
anew: rates, volumes and moves begin again behind it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.encoded import encoded
from consumers.vocabulary.states import UnknownReason

from .columns import QUEUE, Texts, dense, first_rows, matches, numbers, shared_numbers
from .segments import MICROSECONDS, Segments

LAST_COMMIT_SECONDS = 60
# A skip by somebody else is told from fast consumption by this many times the fastest step that was seen, and by
# at least so many messages: a client that catches up is not that much faster than itself.
SKIP_FACTOR = 10
SKIP_MESSAGES = 1000
# Fewer steps that move tell nothing of how fast the group is.
SKIP_STEPS = 3


@dataclass(frozen=True)
class Readings:
    """One row a reading. Times and offsets are floats, NaN where null; `reason` says why its lag is not known."""

    segments: Segments
    at_us: np.ndarray
    consumer_offset: np.ndarray
    broker_offset: np.ndarray
    min_offset: np.ndarray
    pull_offset: np.ndarray
    reason: Texts

    @classmethod
    def of(cls, lists: pa.ListArray) -> "Readings":
        """`lists`: of each queue its readings, oldest first, with the fields of readings_schema.READINGS."""
        rows = lists.flatten()
        fields = {name: numbers(rows.field(name)) for name in cls._numbers()}
        return cls(Segments.of_lists(lists), **fields, reason=Texts.of(rows.field("reason")))

    @staticmethod
    def _numbers() -> tuple[str, ...]:
        return "at_us", "consumer_offset", "broker_offset", "min_offset", "pull_offset"

    def kept(self, chosen: np.ndarray) -> "Readings":
        fields = {name: getattr(self, name)[chosen] for name in self._numbers()}
        return Readings(self.segments.kept(chosen), **fields, reason=self.reason.kept(chosen))

    @property
    def is_good(self) -> np.ndarray:
        """The lag of this reading is known."""
        known = ~np.isnan(self.consumer_offset) & ~np.isnan(self.broker_offset)
        return known & ~self.reason.is_known

    @cached_property
    def is_seen(self) -> np.ndarray:
        """The broker offset was read."""
        return ~np.isnan(self.broker_offset)

    @cached_property
    def is_gone(self) -> np.ndarray:
        """The broker answered that it has no such topic."""
        return self.reason.is_in([UnknownReason.TOPIC_GONE])

    def was_gone(self, chosen: np.ndarray) -> np.ndarray:
        """The chosen rows before which, and after the chosen row before, the topic was gone."""
        if not self.is_gone.any():
            return np.zeros(self.segments.rows, bool)
        gone = np.cumsum(self.is_gone)
        # What was gone before the first chosen row counts, too.
        begin = self.segments.spread(np.concatenate([[0], gone])[self.segments.starts[:-1]])
        before = self.segments.before(gone, chosen)
        return chosen & (gone > np.where(np.isnan(before), begin, before))

    def is_anew(self, chosen: np.ndarray) -> np.ndarray:
        """The chosen rows at which another topic with the name begins: its broker offset is below that of the chosen
        row before, or the topic was gone in between, however far its offsets are."""
        went_back = self.broker_offset < self.segments.before(self.broker_offset, chosen)
        return self.was_gone(chosen) | (chosen & went_back)

    @cached_property
    def begins(self) -> np.ndarray:
        """The rows that begin a life of their queue which is not its first."""
        return self.is_anew(self.is_seen)


@dataclass(frozen=True)
class Lives:
    """A topic that was created anew begins another life of its queues. `began`: the row at which each queue's newest
    life began, -1 where it is the first. `is_newest`: from there on."""

    began: np.ndarray
    is_newest: np.ndarray

    @classmethod
    def of(cls, readings: Readings) -> "Lives":
        segments = readings.segments
        began = segments.last(readings.begins)
        first = np.where(began >= 0, began, segments.starts[:-1])
        return cls(began, np.arange(segments.rows) >= segments.spread(first))


@dataclass(frozen=True)
class Steps:
    """Of each good row the step that ends there: how far the offset moved, and since when. NaN at a queue's first."""

    moved: np.ndarray
    since_us: np.ndarray
    is_by_hand: np.ndarray

    @property
    def is_consumption(self) -> np.ndarray:
        return (self.moved > 0) & ~self.is_by_hand

    @property
    def restarts_rates(self) -> np.ndarray:
        return (self.moved < 0) | self.is_by_hand


def steps(
    readings: Readings, good: np.ndarray, hands: "Hands", groups: np.ndarray, empty_since_us: np.ndarray
) -> Steps:
    """`groups`: of each queue the number of its group. `empty_since_us`: since when its group has had no member by
    every answer, NaN where it has, or where its members register with a proxy."""
    before = readings.segments.before(readings.consumer_offset, good)
    since = readings.segments.before(readings.at_us, good)
    moved = np.where(good, readings.consumer_offset - before, np.nan)
    by_hand = hands.touches(readings, since) & good & ~np.isnan(moved) & (moved != 0)
    # The last commit of a member that left is read up to a minute later.
    nobody = readings.segments.spread(empty_since_us) + LAST_COMMIT_SECONDS * MICROSECONDS
    by_hand |= (since >= nobody) & (np.nan_to_num(moved) != 0)
    by_hand |= _skips(readings, good, moved, since, groups)
    return Steps(moved, since, by_hand)


@dataclass(frozen=True)
class Hands:
    """Spans in which an offset of a queue was set, `queue` sorted; as rows, any number a queue."""

    queue: np.ndarray
    from_us: np.ndarray
    to_us: np.ndarray

    @classmethod
    def of(cls, lists: pa.ListArray) -> "Hands":
        """`lists`: of each queue its spans, {from_us, to_us}."""
        spans = Segments.of_lists(lists)
        rows = lists.flatten()
        return cls(spans.queue, numbers(rows.field("from_us")), numbers(rows.field("to_us")))

    def meet(self, queue: np.ndarray, begin_us: np.ndarray, end_us: np.ndarray) -> np.ndarray:
        """Whether the step of a queue from `begin` to `end` shares a moment with a span of it; any number a queue."""
        found = np.zeros(len(queue), bool)
        # Few queues are ever reset at once.
        for mine, begin, end in zip(self.queue.tolist(), self.from_us.tolist(), self.to_us.tolist(), strict=True):
            rows = np.flatnonzero(queue == mine)
            found[rows] |= (begin < end_us[rows]) & (end >= begin_us[rows])
        return found

    def touches(self, readings: Readings, since_us: np.ndarray) -> np.ndarray:
        """The rows whose step from `since_us` shares a moment with a span of their queue."""
        found = np.zeros(readings.segments.rows, bool)
        starts = readings.segments.starts
        # Few queues are ever reset at once.
        for queue, begin, end in zip(self.queue.tolist(), self.from_us.tolist(), self.to_us.tolist(), strict=True):
            rows = slice(starts[queue], starts[queue + 1])
            found[rows] |= (since_us[rows] < end) & (readings.at_us[rows] >= begin)
        return found


def no_hands() -> Hands:
    return Hands(np.empty(0, np.int64), np.empty(0), np.empty(0))


def _skips(
    readings: Readings, good: np.ndarray, moved: np.ndarray, since_us: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    """Steps in which every queue of a group that had lag jumped to its end at once, much faster than the group ever
    consumed: somebody skipped. A single queue proves nothing: one slow message holds an offset back, too."""
    segments = readings.segments
    end_before = segments.before(readings.broker_offset, good)
    offset_before = readings.consumer_offset - moved
    had_lag = good & (end_before > offset_before)
    to_end = had_lag & (readings.consumer_offset >= end_before) & (moved > 0)
    if not to_end.any():
        return np.zeros(segments.rows, bool)
    # Readings of a cluster are taken for all of its queues at once: their time names the step.
    row_group = groups[segments.queue]
    moment = dense(readings.at_us[had_lag])
    step = dense(row_group[had_lag] * (int(moment.max()) + 1) + moment)
    first = np.flatnonzero(had_lag)[first_rows(step)]
    queues = np.bincount(step)
    ended = np.bincount(step, weights=to_end[had_lag])
    messages = np.bincount(step, weights=np.where(to_end, moved, 0)[had_lag])
    rate = np.where(had_lag, moved / np.maximum((readings.at_us - since_us) / 1e6, 1e-6), np.nan)
    fastest = np.zeros(len(first))
    np.maximum.at(fastest, step, np.nan_to_num(rate[had_lag]))
    is_jump = (ended == queues) & (messages >= SKIP_MESSAGES)
    for place in np.flatnonzero(is_jump):
        group, at = row_group[first[place]], readings.at_us[first[place]]
        others = (row_group == group) & good & (moved > 0) & (readings.at_us != at)
        rates = moved[others] / ((readings.at_us[others] - since_us[others]) / 1e6)
        is_jump[place] = len(rates) >= SKIP_STEPS and fastest[place] > SKIP_FACTOR * rates.max()
    found = np.zeros(segments.rows, bool)
    found[np.flatnonzero(had_lag)] = is_jump[step] & to_end[had_lag]
    return found


# Rows of the lake's readings, brought together: one row a queue, and its readings one after another.

OFFSETS = ("consumer_offset", "broker_offset", "min_offset", "pull_offset")
KEY = [*QUEUE, "kind"]
NUMBERED = [*OFFSETS, "taken_at", "first_stored_at", "unknown_reason"]


@dataclass(frozen=True)
class Block:
    """Readings of the same queues in the same order. `names`: KEY of one reading; `numbers`: the other columns of all
    `times` readings, one reading after another, oldest first."""

    names: pa.Table
    numbers: pa.Table
    times: int = 1

    def only(self, chosen: np.ndarray) -> "Block":
        """Of the chosen rows of names alone."""
        if chosen.all():
            return self
        every = pa.array(np.tile(chosen, self.times))
        return Block(self.names.filter(pa.array(chosen)), self.numbers.filter(every), self.times)


@dataclass(frozen=True)
class Gathered:
    """`queues`: QUEUE and kind, a row each; the segments of `readings` are theirs. `first_us`: when the first
    unconsumed message was stored, by the broker's clock; NaN where nobody asked."""

    queues: pa.Table
    readings: Readings
    first_us: np.ndarray

    @classmethod
    def of(cls, rows: pa.Table) -> "Gathered":
        """`rows`: the columns of the lake's readings, in any order."""
        return cls.of_blocks([Block(rows.select(KEY), rows)])

    @classmethod
    def of_blocks(cls, blocks: Sequence[Block]) -> "Gathered":
        named = shared_numbers([block.names for block in blocks], KEY)
        queue = np.concatenate([np.tile(one, block.times) for one, block in zip(named, blocks, strict=True)])
        rows = pa.concat_tables([block.numbers.select(NUMBERED) for block in blocks])
        at = np.asarray(_microseconds(rows["taken_at"]))
        # Files come by time, so that mostly rows are in order already; a compacted hour is not.
        is_by_time = bool((at[1:] >= at[:-1]).all())
        first = first_rows(np.concatenate(named))
        order = _by_queue(queue, len(first)) if is_by_time else np.lexsort((at, queue))
        segments = Segments.of_lengths(np.bincount(queue, minlength=len(first)))
        offsets = {name: numbers(rows[name])[order] for name in OFFSETS}
        reason = Texts.of(rows["unknown_reason"]).kept(order)
        readings = Readings(segments, at[order].astype(float), **offsets, reason=reason)
        names = pa.concat_tables([block.names for block in blocks])
        return cls(with_encoded_names(names.take(pa.array(first))), readings, numbers(rows["first_stored_at"])[order])

    def with_silent(self, silent: pa.Table) -> "Gathered":
        """And the queues of `silent`, without any reading. One that has some was read since `silent` was asked for."""
        if silent.num_rows:
            silent = silent.filter(pa.array(matches(silent, self.queues, QUEUE) < 0))
        if not silent.num_rows:
            return self
        lengths = np.concatenate([np.diff(self.readings.segments.starts), np.zeros(silent.num_rows, np.int64)])
        queues = pa.concat_tables([written_out(self.queues), silent.select(KEY)], promote_options="permissive")
        return replace(
            self,
            queues=with_encoded_names(queues),
            readings=replace(self.readings, segments=Segments.of_lengths(lengths)),
        )

    def only(self, chosen: np.ndarray) -> "Gathered":
        """The chosen queues alone."""
        if chosen.all():
            return self
        rows = self.readings.segments.spread(chosen)
        lengths = np.diff(self.readings.segments.starts)[chosen]
        readings = replace(self.readings.kept(rows), segments=Segments.of_lengths(lengths))
        return Gathered(self.queues.filter(pa.array(chosen)), readings, self.first_us[rows])

    @property
    def kind(self) -> Texts:
        return Texts.of(self.queues["kind"])


def _by_queue(queue: np.ndarray, count: int) -> np.ndarray:
    """The order of rows by queue, and by place: mostly every reading has the same queues in the same order."""
    if count and not len(queue) % count and (queue.reshape(-1, count) == np.arange(count)).all():
        return np.arange(len(queue)).reshape(-1, count).T.ravel()
    return np.argsort(queue, kind="stable")


def _microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.int64())


def with_encoded_names(table: pa.Table) -> pa.Table:
    """Returns the table with encoded names, which joins compare faster, and with the kind as text."""
    for place, field in enumerate(table.schema):
        if field.name == "kind":
            table = table.set_column(place, field.name, pc.cast(table["kind"], pa.string()))
        elif pa.types.is_dictionary(field.type) or field.type == pa.string():
            table = table.set_column(place, field.name, encoded(table[field.name]))
    return table.combine_chunks()


def coded(table: pa.Table, besides: Collection[str] = ()) -> pa.Table:
    """Returns the table with encoded texts, except in the columns `besides`, whose texts hardly repeat."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and field.name not in besides:
            table = table.set_column(place, field.name, table[field.name].dictionary_encode())
    return table


def written_out(table: pa.Table) -> pa.Table:
    """Names as texts: tables of several buckets have dictionaries of their own."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, pc.cast(table[field.name], field.type.value_type))
    return table
