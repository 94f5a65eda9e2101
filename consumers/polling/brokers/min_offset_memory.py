"""The min offsets of one broker's queues as far as they were asked for, and when that was, as sorted columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .topic_queues import QUEUE_BITS, QUEUE_MASK, codes, distinct_sorted, encoded, queue_ids

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = np.iinfo(np.int64).min


def microseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


@dataclass
class MinOffsets:
    """One row per queue that the broker has, by key: place of the topic in `topics` << 20 | queue id.

    `asked_at` is NEVER, or when the value was read, in microseconds since 1970.
    """

    topics: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    keys: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    values: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    asked_at: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def settle(self, queues: pa.Table) -> None:
        """Takes the queues of `queues` (topic, queue_id) and forgets the others."""
        topics = encoded(queues["topic"])
        keys = distinct_sorted(codes(topics, topics.dictionary) << QUEUE_BITS | queue_ids(queues))
        old, kept = self._places(keys, topics.dictionary)
        self.values = np.where(kept, self.values[old], 0) if len(self.keys) else np.zeros(len(keys), np.int64)
        self.asked_at = np.where(kept, self.asked_at[old], NEVER) if len(self.keys) else np.full(len(keys), NEVER)
        self.topics, self.keys = topics.dictionary, keys

    def doubt(self, ends: pa.Table) -> None:
        """Forgets what lies beyond the end of its queue: it is from before the topic was created anew."""
        if not len(self.keys):
            return
        topic = codes(encoded(ends["topic"]), self.topics)
        at, found = _find(self.keys, topic << QUEUE_BITS | queue_ids(ends))
        beyond = found & (topic >= 0) & (self.values[at] > ends["broker_offset"].to_numpy())
        self.asked_at[at[beyond]] = NEVER

    def note(self, places: np.ndarray, answers: Sequence[int], now: datetime) -> None:
        self.values[places] = answers
        self.asked_at[places] = microseconds(now)

    def names(self, places: np.ndarray) -> list[tuple[str, int]]:
        """Topic and queue id of the rows in these places."""
        keys = self.keys[places]
        topics = self.topics.take(pa.array(keys >> QUEUE_BITS)).to_pylist()
        return list(zip(topics, (keys & QUEUE_MASK).tolist(), strict=True))

    def of(self, table: pa.Table) -> pa.Array:
        """The min offset of each row of `table` (topic, queue_id), null where it was never read."""
        if not len(self.keys):
            return pa.nulls(table.num_rows, pa.int64())
        topics = encoded(table["topic"])
        topic = codes(topics, self.topics)
        at, found = _find(self.keys, topic << QUEUE_BITS | queue_ids(table))
        known = found & (topic >= 0) & (self.asked_at[at] != NEVER)
        return pa.array(self.values[at], mask=~known)

    def lagging(self, rows: pa.Table) -> np.ndarray:
        """Which queues a group of `rows` (topic, queue_id, consumer_offset, broker_offset) has lag on."""
        lag = pc.fill_null(pc.less(rows["consumer_offset"], rows["broker_offset"]), False).to_numpy()
        wanted = codes(encoded(rows["topic"]), self.topics)[lag] << QUEUE_BITS | queue_ids(rows)[lag]
        marked = np.zeros(len(self.keys), bool)
        if len(self.keys):
            at, found = _find(self.keys, wanted)
            marked[at[found]] = True
        return marked

    def _places(self, keys: np.ndarray, topics: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Where each key, coded by `topics`, stands in the columns as they are, and whether it does."""
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
        before = pc.index_in(topics, value_set=self.topics).fill_null(-1).to_numpy().astype(np.int64)
        topic = before[keys >> QUEUE_BITS]
        at, found = _find(self.keys, topic << QUEUE_BITS | (keys & QUEUE_MASK))
        return at, found & (topic >= 0)


def _find(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted
