"""What one broker said, joined into one row per group, topic and queue: columns and integers, no objects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.encoded import encoded
from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX, dlq_topic, topic_kind
from consumers.rocketmq.wire.codes import RemoteProtocolError
from consumers.vocabulary.states import UnknownReason

# The queues of one broker's topics as integers: the topic's place in a list of names, and the queue id.
QUEUE_BITS = 20

QUEUE_MASK = (1 << QUEUE_BITS) - 1


def codes(column: pa.DictionaryArray, names: pa.Array) -> np.ndarray:
    """The place of each row's text in `names`, -1 if it is not there. The column has no nulls."""
    places = pc.index_in(column.dictionary, value_set=names).fill_null(-1).to_numpy().astype(np.int64)
    return places[column.indices.to_numpy()] if len(places) else np.empty(0, np.int64)


def distinct(*columns: pa.DictionaryArray) -> pa.Array:
    """Every text of the columns once, sorted: rows sorted by these codes are sorted by their texts."""
    texts = pc.unique(pa.chunked_array([column.dictionary for column in columns], pa.string()))
    return texts.take(pc.sort_indices(texts))


def queue_ids(table: pa.Table) -> np.ndarray:
    return table["queue_id"].to_numpy().astype(np.int64)


def distinct_sorted(values: np.ndarray) -> np.ndarray:
    """Distinct values, sorted. Far faster than np.unique for values that are nearly in order."""
    values = np.sort(values, kind="stable")
    return values[np.append(True, values[1:] != values[:-1])] if len(values) else values


# A queue of a topic that the group has, but without an offset of the group, is a row too: "never committed".
REASONS = pa.array(
    [
        UnknownReason.NEVER_COMMITTED,
        UnknownReason.TOPIC_GONE,
        UnknownReason.QUEUE_GONE,
        UnknownReason.NO_BROKER_OFFSET,
        UnknownReason.CONSUMER_AHEAD,
    ]
)

KINDS = ("normal", "retry", "dlq", "system")


def join_rows(offsets: pa.Table, ends: pa.Table, subscribed: pa.Table, read_queues: Mapping[str, int]) -> pa.Table:
    """group, topic, queue_id, kind, consumer_offset, broker_offset, unknown_reason of one broker.

    `offsets`: group, topic, queue_id, consumer_offset, broadcast. `ends`: topic, queue_id, broker_offset.
    `subscribed`: group, topic of clustering groups that subscribe to it, committed or not.
    `read_queues`: the number of read queues of every topic that the broker has.
    """
    for table in (offsets, ends):
        _refuse_huge_queue_ids(table)
    names = _Names.of(offsets, ends, subscribed)
    end_keys, end_values = _sorted(names.topic(ends) << QUEUE_BITS | queue_ids(ends), ends["broker_offset"])
    committed = names.pair(offsets)
    offset_keys, offset_values = _sorted(committed << QUEUE_BITS | queue_ids(offsets), offsets["consumer_offset"])
    # A broadcasting group's entry is the minimum of its members' own offsets: a queue without one is not "never
    # committed".
    clustering = committed[~offsets["broadcast"].to_numpy()]
    pairs = distinct_sorted(np.concatenate([clustering, names.pair(subscribed)]))
    keys = distinct_sorted(np.concatenate([offset_keys, _expected_keys(pairs, end_keys, len(names.topics))]))

    pair, queue_id = keys >> QUEUE_BITS, keys & QUEUE_MASK
    group, topic = np.divmod(pair, max(len(names.topics), 1))
    consumer, has_consumer = _look_up(keys, offset_keys, offset_values)
    broker, has_broker = _look_up((topic << QUEUE_BITS) | queue_id, end_keys, end_values)
    counts = np.array([read_queues.get(name, -1) for name in names.topics.to_pylist()], dtype=np.int64)
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
    return pa.table(
        {
            "group": _texts(group, names.groups),
            "topic": _texts(topic, names.topics),
            "queue_id": pa.array(queue_id.astype(np.int32)),
            "kind": _texts(names.kinds(group, topic), pa.array(KINDS)),
            "consumer_offset": pa.array(consumer, mask=~has_consumer),
            "broker_offset": pa.array(broker, mask=~has_broker),
            "unknown_reason": _texts(reason, REASONS),
        }
    )


@dataclass(frozen=True)
class _Names:
    """Groups and topics of one broker as small integers. The code of a pair is group * number of topics + topic."""

    groups: pa.Array
    topics: pa.Array

    @classmethod
    def of(cls, offsets: pa.Table, ends: pa.Table, subscribed: pa.Table) -> "_Names":
        return cls(
            distinct(encoded(offsets["group"]), encoded(subscribed["group"])),
            distinct(*(encoded(table["topic"]) for table in (offsets, ends, subscribed))),
        )

    def topic(self, table: pa.Table) -> np.ndarray:
        return codes(encoded(table["topic"]), self.topics)

    def pair(self, table: pa.Table) -> np.ndarray:
        return codes(encoded(table["group"]), self.groups) * len(self.topics) + self.topic(table)

    def kinds(self, group: np.ndarray, topic: np.ndarray) -> np.ndarray:
        """The place in KINDS of each row's topic, as its group uses the topic."""
        names = self.topics.to_pylist()
        kinds = np.array([KINDS.index(topic_kind(name)) for name in names], np.int64)[topic]
        owned = np.flatnonzero((kinds == KINDS.index("retry")) | (kinds == KINDS.index("dlq")))
        groups = self.groups.take(pa.array(group[owned])).to_pylist()
        kinds[owned] = [
            KINDS.index(kind_in_group(name, names[number]))
            for name, number in zip(groups, topic[owned].tolist(), strict=True)
        ]
        return kinds


def _texts(places: np.ndarray, texts: pa.Array) -> pa.DictionaryArray:
    """The texts at these places, null if the place is -1."""
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32), mask=places < 0), texts)


def _refuse_huge_queue_ids(table: pa.Table) -> None:
    ids = table["queue_id"].to_numpy()
    if len(ids) and (ids.min() < 0 or ids.max() > QUEUE_MASK):
        raise RemoteProtocolError(f"a queue id is not between 0 and {QUEUE_MASK}")


def kind_in_group(group: str, topic: str) -> str:
    """The kind of a topic for a group. The retry or dead-letter topic of another group is a normal topic for this
    group.
    """
    kind = topic_kind(topic)
    if kind == "retry":
        own = RETRY_PREFIX + group
        return "retry" if topic == own or topic.startswith((own + "_", own + "+")) else "normal"
    if kind == "dlq":
        return "dlq" if topic == DLQ_PREFIX + group else "normal"
    return kind


def _expected_keys(pairs: np.ndarray, end_keys: np.ndarray, topics: int) -> np.ndarray:
    """The key of every queue that the broker has of each pair's topic."""
    if not len(pairs) or not len(end_keys):
        return np.empty(0, dtype=np.int64)
    topic = pairs % topics
    first = np.searchsorted(end_keys, topic << QUEUE_BITS)
    count = np.searchsorted(end_keys, (topic + 1) << QUEUE_BITS) - first
    starts = np.cumsum(count) - count
    within = np.arange(int(count.sum())) - np.repeat(starts, count)
    queue_id = end_keys[np.repeat(first, count) + within] & QUEUE_MASK
    return (np.repeat(pairs, count) << QUEUE_BITS) | queue_id


def _sorted(keys: np.ndarray, values: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(keys, kind="stable")
    return keys[order], values.to_numpy().astype(np.int64)[order]


def _look_up(wanted: np.ndarray, keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The value of each wanted key, and whether the key exists."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = keys[at] == wanted
    return np.where(found, values[at], 0), found


# Which groups have offsets of which topics on one broker. This distinguishes a lost offset from one that never existed.
Pair = tuple[str, str]  # group, topic

NAMES = ["group", "topic", "broadcast"]


@dataclass
class CommittedPairs:
    """Taken from one table after another; a table with the same names costs one comparison.

    `broadcasting`: groups whose members report offsets of their own. Such offsets leave the broker with their members.
    """

    pairs: frozenset[Pair] = frozenset()
    broadcasting: frozenset[str] = frozenset()
    _names: pa.Table | None = field(default=None, repr=False)

    def take(self, offsets: pa.Table) -> None:
        """`offsets`: group, topic, queue_id, consumer_offset, broadcast."""
        names = offsets.select(NAMES)
        if self._names is not None and names.equals(self._names):
            return
        is_broadcast = names["broadcast"]
        clustering = (
            names.filter(pc.invert(is_broadcast)).unify_dictionaries().group_by(["group", "topic"]).aggregate([])
        )
        self.pairs = frozenset(zip(clustering["group"].to_pylist(), clustering["topic"].to_pylist(), strict=True))
        self.broadcasting = frozenset(pc.unique(names.filter(is_broadcast)["group"]).to_pylist())
        self._names = names


def listed_pairs(pairs: Iterable[Pair], groups: Iterable[str], topics: Iterable[str]) -> frozenset[Pair]:
    """The pairs whose group and topic a broker lists. A group does not consume its own dead-letter topic."""
    has_group, has_topic = set(groups), set(topics)
    return frozenset(
        (group, topic)
        for group, topic in pairs
        if group in has_group and topic in has_topic and topic != dlq_topic(group)
    )
