"""Rows of the lake's readings, brought together: one row a queue, and its readings one after another."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.pipeline.kernel.readings import Readings

from .columns import numbers
from .keys import first_rows, key_numbers
from .names import QUEUE
from .segments import Segments
from .texts import Texts

OFFSETS = ("consumer_offset", "broker_offset", "min_offset", "pull_offset")
KEY = [*QUEUE, "kind"]


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
        queue = key_numbers(rows, KEY)
        at = np.asarray(_microseconds(rows["taken_at"]))
        # Files come by time, so that mostly rows are in order already; a compacted hour is not.
        is_by_time = bool((at[1:] >= at[:-1]).all())
        order = np.argsort(queue, kind="stable") if is_by_time else np.lexsort((at, queue))
        first = first_rows(queue)
        segments = Segments.of_lengths(np.bincount(queue, minlength=len(first)))
        offsets = {name: numbers(rows[name])[order] for name in OFFSETS}
        reason = Texts.of(rows["unknown_reason"]).kept(order)
        readings = Readings(segments, at[order].astype(float), **offsets, reason=reason)
        return cls(encoded(rows.select(KEY).take(pa.array(first))), readings, numbers(rows["first_stored_at"])[order])

    def with_silent(self, silent: pa.Table) -> "Gathered":
        """And the queues of `silent`, without any reading."""
        if not silent.num_rows:
            return self
        lengths = np.concatenate([np.diff(self.readings.segments.starts), np.zeros(silent.num_rows, np.int64)])
        queues = pa.concat_tables([written_out(self.queues), silent.select(KEY)], promote_options="permissive")
        return replace(
            self,
            queues=encoded(queues),
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


def _microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.int64())


def encoded(table: pa.Table) -> pa.Table:
    """Names as numbers, which other tables are put beside more quickly; the kind as it is."""
    for place, field in enumerate(table.schema):
        column, is_encoded = table[field.name], pa.types.is_dictionary(field.type)
        if field.name == "kind":
            column = pc.cast(column, pa.string())
        elif is_encoded:
            column = column.unify_dictionaries()
        elif field.type == pa.string():
            column = column.dictionary_encode()
        table = table.set_column(place, field.name, column)
    return table.combine_chunks()


def written_out(table: pa.Table) -> pa.Table:
    """Names as texts: tables of several buckets have dictionaries of their own."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, pc.cast(table[field.name], field.type.value_type))
    return table
