"""Which groups have offsets of which topics on one broker: what tells a lost offset from one that never was."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from consumers.rocketmq.names import dlq_topic

Pair = tuple[str, str]  # group, topic
NAMES = ["group", "topic", "broadcast"]


@dataclass
class CommittedPairs:
    """Taken from one table after the other; a table with the same names costs one comparison.

    `broadcasting`: groups whose members report offsets of their own, which leave the broker with them.
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
    """Those whose group and topic a broker lists. A group does not consume its own dead letters."""
    has_group, has_topic = set(groups), set(topics)
    return frozenset(
        (group, topic)
        for group, topic in pairs
        if group in has_group and topic in has_topic and topic != dlq_topic(group)
    )
