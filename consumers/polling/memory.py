"""What a process remembers of a cluster between two readings, so that slow things are not asked every time.

Losing it costs a few calls, never a figure.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from consumers.polling.brokers.circuit import Circuit, Patience
from consumers.polling.brokers.committed_pairs import CommittedPairs, Pair
from consumers.polling.brokers.min_offset_memory import MinOffsets
from consumers.rocketmq.bodies.broker_values import GroupConfig, TopicConfig
from consumers.rocketmq.bodies.offset_memory import OffsetMemory


@dataclass
class BrokerMemory:
    """`committed`: the pairs of its last consumer offsets; `missing`: those that it had before, and had no
    more when its topics and groups were last listed for it."""

    address: str
    version: str | None = None
    topics: dict[str, TopicConfig] = field(default_factory=dict)
    groups: dict[str, GroupConfig] = field(default_factory=dict)
    configured_at: datetime | None = None
    consumer_offsets: OffsetMemory = field(default_factory=OffsetMemory)
    min_offsets: MinOffsets = field(default_factory=MinOffsets)
    committed: CommittedPairs = field(default_factory=CommittedPairs)
    missing: frozenset[Pair] = frozenset()

    @property
    def read_queues(self) -> dict[str, int]:
        return {name: topic.read_queues for name, topic in self.topics.items()}


@dataclass
class ClusterMemory:
    """One per cluster and process. `subscribed`: the topics of each clustering group, by its last membership answer.

    `brokers` and `clusters`, RocketMQ's own, by broker name, `slaves` and `circuits` by address. `name_server` is the
    one that answered last. `committed` by broker name: groups and topics with an offset there at any reading, until the
    broker lists one of them no more.
    """

    brokers: dict[str, BrokerMemory] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    subscribed: dict[str, frozenset[str]] = field(default_factory=dict)
    slaves: dict[str, BrokerMemory] = field(default_factory=dict)
    circuits: dict[str, Circuit] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    name_server: str | None = None
    committed: dict[str, frozenset[Pair]] = field(default_factory=dict)

    @property
    def topics(self) -> frozenset[str] | None:
        """Those of any broker; None before one was asked."""
        listed = [broker.topics.keys() for broker in (*self.brokers.values(), *self.slaves.values()) if broker.topics]
        return frozenset().union(*listed) if listed else None

    def circuit(self, address: str) -> Circuit:
        return self.circuits.setdefault(address, Circuit(self.patience))

    def broker(self, name: str, address: str) -> BrokerMemory:
        known = self.brokers.get(name)
        if known is None or known.address != address:
            known = self.brokers[name] = BrokerMemory(address)
        return known

    def is_slave(self, known: BrokerMemory) -> bool:
        return any(known is slave for slave in self.slaves.values())

    def give_up(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        """Broker, group, topic: nobody expects an offset there any more."""
        for broker, group, topic in pairs:
            self.committed[broker] = self.committed.get(broker, frozenset()) - {(group, topic)}

    def subscriptions(self, topics: Iterable[str], also: Iterable[Pair] = ()) -> pa.Table:
        """group, topic of what is subscribed among the topics that a broker has, and of `also`."""
        present = set(topics)
        rows = [(group, topic) for group, wanted in self.subscribed.items() for topic in wanted & present]
        rows += sorted(set(also) - set(rows))
        return pa.table(
            {
                "group": pa.array([group for group, _ in rows], pa.string()),
                "topic": pa.array([topic for _, topic in rows], pa.string()),
            }
        )
