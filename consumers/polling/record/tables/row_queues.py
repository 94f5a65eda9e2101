"""The queue of each row of a reading, among the few queues that its groups share."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from consumers.polling.brokers.joined import QUEUE_BITS, QUEUE_MASK, encoded, queue_ids

from .ids import QueueKey

HeldKey = tuple[str, str, str, int]  # group, topic, broker, queue id


@dataclass(frozen=True)
class RowQueues:
    """`keys`: the queues, each once; `places`: the place of each row's queue in `keys`."""

    keys: list[QueueKey]
    places: np.ndarray

    @classmethod
    def of(cls, rows: pa.Table) -> "RowQueues":
        topics, brokers = encoded(rows["topic"]), encoded(rows["broker"])
        topic = topics.indices.to_numpy().astype(np.int64)
        pair = topic * max(len(brokers.dictionary), 1) + brokers.indices.to_numpy()
        # Hashing is several times as fast as the sort of np.unique.
        queues = pa.array(pair << QUEUE_BITS | queue_ids(rows)).dictionary_encode()
        distinct = queues.dictionary.to_numpy()
        topic, broker = np.divmod(distinct >> QUEUE_BITS, max(len(brokers.dictionary), 1))
        names = [
            topics.dictionary.take(pa.array(topic)).to_pylist(),
            brokers.dictionary.take(pa.array(broker)).to_pylist(),
            (distinct & QUEUE_MASK).tolist(),
        ]
        return cls(list(zip(*names, strict=True)), queues.indices.to_numpy())

    def keyed(self, known: Mapping[QueueKey, int]) -> np.ndarray:
        """The primary key of each row's queue."""
        return np.array([known[key] for key in self.keys], np.int64)[self.places]


def numbers_at(rows: pa.Table, numbers: Mapping[HeldKey, int]) -> pa.Array:
    """The number of each row's group and queue, null if `numbers` has none."""
    columns = [encoded(rows[name]) for name in ("group", "topic", "broker")]
    known = [{name: code for code, name in enumerate(column.dictionary.to_pylist())} for column in columns]
    sizes = [max(len(names), 1) for names in known]

    def composite(group: np.ndarray, topic: np.ndarray, broker: np.ndarray, queue_id: np.ndarray) -> np.ndarray:
        return ((group * sizes[1] + topic) * sizes[2] + broker) << QUEUE_BITS | queue_id

    wanted = [
        (*(names[part] for names, part in zip(known, key, strict=False)), key[3], number)
        for key, number in numbers.items()
        if all(part in names for names, part in zip(known, key, strict=False))
    ]
    if not wanted:
        return pa.nulls(rows.num_rows, pa.int64())
    group, topic, broker, queue_id, values = np.array(wanted, np.int64).T
    keys = composite(group, topic, broker, queue_id)
    order = np.argsort(keys)
    keys, values = keys[order], values[order]
    group, topic, broker = (column.indices.to_numpy().astype(np.int64) for column in columns)
    mine = composite(group, topic, broker, queue_ids(rows))
    at = np.minimum(np.searchsorted(keys, mine), len(keys) - 1)
    return pa.array(values[at], mask=keys[at] != mine)
