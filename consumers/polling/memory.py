"""What a process remembers of a cluster between two readings, and when a broker is not asked.

Losing it costs a few calls, never a figure.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pyarrow as pa

from consumers.polling.brokers.dispatch_backlog import DispatchMemory
from consumers.polling.brokers.joined import CommittedPairs, Pair
from consumers.polling.brokers.remembered import MinOffsets
from consumers.rocketmq.bodies.config_bodies import GroupConfig, TopicConfig
from consumers.rocketmq.bodies.offsets import OffsetMemory
from consumers.rocketmq.wire.codes import BrokerRefused, ResponseCode, RocketMQError
from consumers.vocabulary.reasons import PollProblem, stored_reason
from consumers.vocabulary.times import iso


@dataclass(frozen=True)
class Cadence:
    """How often slow data is fetched, and how many calls min offsets may cost a reading."""

    config_seconds: float
    min_offset_seconds: float
    min_offset_calls: int = 500


# When a broker is not asked: while it reports that it is busy, and after failures in a row.
#
# A broker that returned is read again by the next poll once name servers list it again, else at most `open_seconds` and
# one poll later; a busy one, at most `busy_limit_seconds` later.
@dataclass(frozen=True)
class Patience:
    """`failures` in a row open a circuit; `busy_seconds` is the first pause for a busy broker, doubled each time."""

    failures: int = 5
    open_seconds: float = 30.0
    busy_seconds: float = 10.0
    busy_limit_seconds: float = 120.0


@dataclass
class Circuit:
    """One per address and process. Callers pass in the time and a random number between 0 and 1."""

    patience: Patience = field(default_factory=Patience)
    failures: int = 0
    refusals: int = 0
    asked_from: datetime | None = None
    reason: str | None = None

    def not_asked(self, now: datetime) -> str | None:
        """Why the broker is not asked; None if its turn has come."""
        return self.reason if self.asked_from is not None and now < self.asked_from else None

    @property
    def is_open(self) -> bool:
        """Whether one small call must succeed before a complete reading."""
        return self.failures >= self.patience.failures

    def note(self, outcome: RocketMQError | None, now: datetime, chance: float) -> str | None:
        """Records the outcome of a turn (None: success); returns the reason to put into the reading."""
        self.asked_from = self.reason = None
        if outcome is None or isinstance(outcome, BrokerRefused):
            # A refusal is an answer too: the broker is alive.
            self.failures = 0
        if is_busy(outcome):
            self._wait(self._busy_pause(chance), now)
            self.refusals += 1
        else:
            self.refusals = 0
        if outcome is not None and not isinstance(outcome, BrokerRefused):
            self.failures += 1
            if self.is_open:
                self._wait(self.patience.open_seconds, now)
        if outcome is not None:
            self.reason = str(outcome) if self.asked_from is None else self._paused(outcome)
        return self.reason

    def ask_at_once(self) -> None:
        """Ends the pause. After failures one small call still comes first."""
        self.asked_from = self.reason = None

    def _busy_pause(self, chance: float) -> float:
        # Randomness keeps the clusters of one busy machine from returning all at once.
        longest = self.patience.busy_seconds * 2 ** min(self.refusals, 16)
        return min(longest, self.patience.busy_limit_seconds) * (0.5 + chance / 2)

    def _wait(self, seconds: float, now: datetime) -> None:
        self.asked_from = now + timedelta(seconds=seconds)

    def _paused(self, outcome: RocketMQError) -> str:
        assert self.asked_from is not None
        values = {"error": str(outcome), "until": iso(self.asked_from)}
        if not self.failures:
            return stored_reason(PollProblem.NOT_ASKED_UNTIL, **values)
        return stored_reason(PollProblem.NOT_ASKED_AFTER_FAILURES, **values, failures=self.failures)


def is_busy(outcome: object) -> bool:
    return isinstance(outcome, BrokerRefused) and outcome.code == ResponseCode.SYSTEM_BUSY


@dataclass
class BrokerMemory:
    """`committed`: the pairs of its last consumer offsets. `missing`: pairs that it had before, and no longer had when
    its topics and groups were last listed.
    """

    address: str
    version: str | None = None
    topics: dict[str, TopicConfig] = field(default_factory=dict)
    groups: dict[str, GroupConfig] = field(default_factory=dict)
    configured_at: datetime | None = None
    consumer_offsets: OffsetMemory = field(default_factory=OffsetMemory)
    min_offsets: MinOffsets = field(default_factory=MinOffsets)
    committed: CommittedPairs = field(default_factory=CommittedPairs)
    missing: frozenset[Pair] = frozenset()
    dispatch: DispatchMemory = field(default_factory=DispatchMemory)

    @property
    def read_queues(self) -> dict[str, int]:
        return {name: topic.read_queues for name, topic in self.topics.items()}


@dataclass
class ClusterMemory:
    """One per cluster and process. `subscribed`: the topics of each clustering group, by its last membership answer.

    `brokers` and `clusters` (RocketMQ's own) are by broker name, `slaves` and `circuits` by address. `name_server` is
    the name server that answered last, `listed` the addresses of brokers in its answer. `committed`, by broker name:
    groups and topics that had an offset at any reading, until the broker no longer lists the group or the topic.
    """

    brokers: dict[str, BrokerMemory] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    subscribed: dict[str, frozenset[str]] = field(default_factory=dict)
    slaves: dict[str, BrokerMemory] = field(default_factory=dict)
    circuits: dict[str, Circuit] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    name_server: str | None = None
    listed: frozenset[str] = frozenset()
    committed: dict[str, frozenset[Pair]] = field(default_factory=dict)

    @property
    def topics(self) -> frozenset[str] | None:
        """The topics of all brokers; None before a broker was asked."""
        listed = [broker.topics.keys() for broker in (*self.brokers.values(), *self.slaves.values()) if broker.topics]
        return frozenset().union(*listed) if listed else None

    def circuit(self, address: str) -> Circuit:
        return self.circuits.setdefault(address, Circuit(self.patience))

    def note_listed(self, addresses: Iterable[str]) -> None:
        """A broker registers with name servers as soon as it serves (RocketMQ 5.4.0, BrokerController.start), and they
        remove it when its connection ends. A broker that is listed again has returned, so its pause ends."""
        listed = frozenset(addresses)
        for address in listed - self.listed:
            self.circuit(address).ask_at_once()
        self.listed = listed

    def broker(self, name: str, address: str) -> BrokerMemory:
        known = self.brokers.get(name)
        if known is None or known.address != address:
            known = self.brokers[name] = BrokerMemory(address)
        return known

    def is_slave(self, known: BrokerMemory) -> bool:
        return any(known is slave for slave in self.slaves.values())

    def give_up(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        """Removes these pairs (broker, group, topic): no offset is expected there any more."""
        for broker, group, topic in pairs:
            self.committed[broker] = self.committed.get(broker, frozenset()) - {(group, topic)}

    def subscriptions(self, topics: Iterable[str], also: Iterable[Pair] = ()) -> pa.Table:
        """group, topic of the subscriptions to the topics that a broker has, and of `also`."""
        present = set(topics)
        rows = [(group, topic) for group, wanted in self.subscribed.items() for topic in wanted & present]
        rows += sorted(set(also) - set(rows))
        return pa.table(
            {
                "group": pa.array([group for group, _ in rows], pa.string()),
                "topic": pa.array([topic for _, topic in rows], pa.string()),
            }
        )
