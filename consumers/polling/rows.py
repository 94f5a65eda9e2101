"""Joins what one broker said into one row per group, topic and queue: columns and integers, no objects.

A queue of a topic that the group has, but without an offset of the group, is a row too: "never committed".
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.rocketmq.errors import RemoteProtocolError
from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX, topic_kind

from .reading import AHEAD, NEVER_COMMITTED, NO_BROKER_OFFSET, QUEUE_GONE, TOPIC_GONE

QUEUE_BITS = 20
REASONS = pa.array([NEVER_COMMITTED, TOPIC_GONE, QUEUE_GONE, NO_BROKER_OFFSET, AHEAD])


@dataclass(frozen=True)
class Codes:
    """Groups and topics of one broker as small integers."""

    groups: pa.Array
    topics: pa.Array

    def pair(self, table: pa.Table) -> np.ndarray:
        return _index(table["group"], self.groups) * len(self.topics) + _index(table["topic"], self.topics)


def join_rows(offsets: pa.Table, ends: pa.Table, subscribed: pa.Table, read_queues: Mapping[str, int]) -> pa.Table:
    """group, topic, queue_id, kind, consumer_offset, broker_offset, unknown_reason of one broker.

    `offsets`: group, topic, queue_id, consumer_offset, broadcast. `ends`: topic, queue_id, broker_offset.
    `subscribed`: group, topic of clustering groups that subscribe to it, committed or not.
    `read_queues`: the number of read queues of every topic that the broker has.
    """
    for table in (offsets, ends):
        _refuse_huge_queue_ids(table)
    codes = Codes(
        _distinct(offsets["group"], subscribed["group"]),
        _distinct(offsets["topic"], ends["topic"], subscribed["topic"]),
    )
    end_keys, end_values = _sorted(_key(_index(ends["topic"], codes.topics), ends), ends["broker_offset"])
    committed = codes.pair(offsets)
    offset_keys, offset_values = _sorted(_key(committed, offsets), offsets["consumer_offset"])
    # A broadcasting group's entry is the least of its members' own offsets: without one it is not "never committed".
    clustering = committed[~_numpy(offsets["broadcast"])]
    pairs = np.unique(np.concatenate([clustering, codes.pair(subscribed)]))
    keys = np.union1d(offset_keys, _expected_keys(pairs, end_keys, len(codes.topics)))

    pair, queue_id = keys >> QUEUE_BITS, keys & ((1 << QUEUE_BITS) - 1)
    topic = pair % len(codes.topics) if len(keys) else pair
    consumer, has_consumer = _look_up(keys, offset_keys, offset_values)
    broker, has_broker = _look_up((topic << QUEUE_BITS) | queue_id, end_keys, end_values)
    counts = np.array([read_queues.get(name, -1) for name in codes.topics.to_pylist()], dtype=np.int64)
    reason = np.select(
        [
            ~has_broker & (counts[topic] < 0),
            ~has_broker & (queue_id >= counts[topic]),
            ~has_broker,
            ~has_consumer,
            consumer > broker,
        ],
        [1, 2, 3, 0, 4],
        default=-1,
    )
    names = _pair_names(np.unique(pair), codes)
    at = np.searchsorted(names["pair"].to_numpy(), pair)
    return pa.table(
        {
            "group": names["group"].take(at),
            "topic": names["topic"].take(at),
            "queue_id": pa.array(queue_id.astype(np.int32)),
            "kind": names["kind"].take(at),
            "consumer_offset": pa.array(consumer, mask=~has_consumer),
            "broker_offset": pa.array(broker, mask=~has_broker),
            "unknown_reason": REASONS.take(pa.array(reason, mask=reason < 0)),
        }
    )


def _refuse_huge_queue_ids(table: pa.Table) -> None:
    ids = _numpy(table["queue_id"])
    if len(ids) and (ids.min() < 0 or ids.max() >= 1 << QUEUE_BITS):
        raise RemoteProtocolError(f"a queue id is not between 0 and {(1 << QUEUE_BITS) - 1}")


def kind_in_group(group: str, topic: str) -> str:
    """A group that consumes another group's retry or dead-letter topic sees a normal topic."""
    kind = topic_kind(topic)
    if kind == "retry":
        own = RETRY_PREFIX + group
        return "retry" if topic == own or topic.startswith((own + "_", own + "+")) else "normal"
    if kind == "dlq":
        return "dlq" if topic == DLQ_PREFIX + group else "normal"
    return kind


def _pair_names(pairs: np.ndarray, codes: Codes) -> pa.Table:
    groups = codes.groups.take(pa.array(pairs // max(len(codes.topics), 1)))
    topics = codes.topics.take(pa.array(pairs % max(len(codes.topics), 1)))
    kinds = [kind_in_group(group, topic) for group, topic in zip(groups.to_pylist(), topics.to_pylist(), strict=True)]
    return pa.table({"pair": pairs, "group": groups, "topic": topics, "kind": pa.array(kinds, pa.string())})


def _expected_keys(pairs: np.ndarray, end_keys: np.ndarray, topics: int) -> np.ndarray:
    """The key of every queue that the broker has of each pair's topic."""
    if not len(pairs) or not len(end_keys):
        return np.empty(0, dtype=np.int64)
    topic = pairs % topics
    first = np.searchsorted(end_keys, topic << QUEUE_BITS)
    count = np.searchsorted(end_keys, (topic + 1) << QUEUE_BITS) - first
    starts = np.cumsum(count) - count
    within = np.arange(int(count.sum())) - np.repeat(starts, count)
    queue_id = end_keys[np.repeat(first, count) + within] & ((1 << QUEUE_BITS) - 1)
    return (np.repeat(pairs, count) << QUEUE_BITS) | queue_id


def _distinct(*columns: pa.ChunkedArray) -> pa.Array:
    return pc.unique(
        pa.chunked_array([chunk.cast(pa.string()) for column in columns for chunk in column.chunks], pa.string())
    )


def _index(column: pa.ChunkedArray, values: pa.Array) -> np.ndarray:
    return pc.index_in(column.cast(pa.string()), value_set=values).to_numpy().astype(np.int64)


def _key(code: np.ndarray, table: pa.Table) -> np.ndarray:
    return (code << QUEUE_BITS) | _numpy(table["queue_id"]).astype(np.int64)


def _numpy(column: pa.ChunkedArray) -> np.ndarray:
    return column.to_numpy()


def _sorted(keys: np.ndarray, values: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(keys, kind="stable")
    return keys[order], _numpy(values).astype(np.int64)[order]


def _look_up(wanted: np.ndarray, keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The value of each wanted key, and whether there is one."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = keys[at] == wanted
    return np.where(found, values[at], 0), found
