"""Finds the rows of one table in another by group, topic and queue, as integers."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

QUEUE_ID_BITS = 32


@dataclass(frozen=True)
class Numbers:
    """A number for each row; where `known` is False it means nothing."""

    values: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> "Numbers":
        return cls(pc.fill_null(column, 0).to_numpy().astype(np.int64), _valid(column))

    @classmethod
    def none(cls, size: int) -> "Numbers":
        return cls(np.zeros(size, np.int64), np.zeros(size, bool))

    def above(self, other: "Numbers") -> np.ndarray:
        above: np.ndarray = self.known & other.known & (self.values > other.values)
        return above


@dataclass(frozen=True)
class QueueKeys:
    """The queues of some rows. A row without group, topic or queue id has no key and is found nowhere."""

    groups: pa.Array
    topics: pa.Array
    pairs: np.ndarray
    keys: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, rows: pa.Table) -> "QueueKeys":
        groups, topics = pc.unique(rows["group"]), pc.unique(rows["topic"])
        pair, known = _pair(rows, groups, topics)
        pairs = np.unique(pair)
        return cls(groups, topics, pairs, _keys(pair, pairs, rows), known)

    def look_up(self, other: pa.Table | None) -> Numbers:
        """The `offset` that `other` has for each queue; the lowest where it has several."""
        if other is None or not other.num_rows or not len(self.keys):
            return Numbers.none(len(self.keys))
        pair, known = _pair(other, self.groups, self.topics)
        offsets = Numbers.of(other["offset"])
        kept = known & offsets.known & np.isin(pair, self.pairs)
        keys, values = _keys(pair, self.pairs, other)[kept], offsets.values[kept]
        if not len(keys):
            return Numbers.none(len(self.keys))
        order = np.lexsort((values, keys))
        at = np.minimum(np.searchsorted(keys[order], self.keys), len(order) - 1)
        return Numbers(values[order][at], self.known & (keys[order][at] == self.keys))


def _pair(rows: pa.Table, groups: pa.Array, topics: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    codes = [
        pc.index_in(rows[name].cast(pa.string()), value_set=names)
        for name, names in (("group", groups), ("topic", topics))
    ]
    valid = _valid(rows["group"]) & _valid(rows["topic"]) & _valid(rows["queue_id"])
    known = valid & _valid(codes[0]) & _valid(codes[1])
    group, topic = (pc.fill_null(code, 0).to_numpy().astype(np.int64) for code in codes)
    return group * max(len(topics), 1) + topic, known


def _keys(pair: np.ndarray, pairs: np.ndarray, rows: pa.Table) -> np.ndarray:
    queue_ids = pc.fill_null(rows["queue_id"], 0).to_numpy().astype(np.int64)
    keys: np.ndarray = (np.searchsorted(pairs, pair) << QUEUE_ID_BITS) + queue_ids
    return keys


def _valid(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False), bool)
