"""What one reading of one cluster saw, before anything of it is stored."""

from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from consumers.rocketmq.broker_values import GroupConfig, TopicConfig
from consumers.rocketmq.errors import RocketMQError

# Why a queue has no lag. The first three are answers of the broker, not failures: they leave a group's sum whole.
NEVER_COMMITTED = "never committed"
TOPIC_GONE = "the broker has no such topic"
QUEUE_GONE = "not among the topic's read queues"
NOT_REPORTED = "no member reports its offset to the broker"
AHEAD = "the consumer offset is ahead of the broker offset"
NOT_CAUGHT_UP = "the slave that was read has not caught up with what its master had said"
NO_BROKER_OFFSET = "the broker did not give this queue's offset"
NO_LAG_REASONS = (NEVER_COMMITTED, TOPIC_GONE, QUEUE_GONE)


@dataclass(frozen=True)
class BrokerListing:
    """One broker process as the name server lists it."""

    name: str
    broker_id: int
    address: str


@dataclass(frozen=True)
class BrokerCost:
    """Of a broker's offsets, its slave's among them where that was asked too; members are not in it."""

    calls: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class BrokerReading:
    """One broker name's part. Where `error` is set nothing else of it counts; `cause` is its type.

    `read_from` is the slave that answered in the place of the master at `address`, for the `master_error`.
    """

    name: str
    address: str | None
    error: str | None = None
    cause: RocketMQError | None = None
    read_from: str | None = None
    master_error: str | None = None
    cost: BrokerCost | None = None
    version: str | None = None
    rows: pa.Table | None = (
        None  # group, topic, queue_id, kind, consumer_offset, broker_offset, min_offset, unknown_reason
    )
    dead_letters: pa.Table | None = None  # topic, queue_id, broker_offset, min_offset
    topics: tuple[TopicConfig, ...] | None = None
    groups: tuple[GroupConfig, ...] | None = None

    @property
    def read(self) -> bool:
        return self.error is None

    @property
    def answered_by(self) -> str | None:
        return self.read_from or self.address


@dataclass(frozen=True)
class OffsetsReading:
    """All offsets of a cluster at `taken_at`.

    `error` is set when the list of brokers could not be read; brokers that are remembered are read all the same.
    """

    cluster: str
    taken_at: datetime
    brokers: tuple[BrokerReading, ...]
    listed: tuple[BrokerListing, ...]
    calls: int
    bytes: int
    seconds: float
    error: str | None = None

    @property
    def complete(self) -> bool:
        return self.error is None and bool(self.brokers) and all(broker.read for broker in self.brokers)

    @property
    def nothing_read(self) -> bool:
        return not any(broker.read for broker in self.brokers)

    @property
    def queues(self) -> int:
        return sum(broker.rows.num_rows for broker in self.brokers if broker.rows is not None)


@dataclass(frozen=True)
class Member:
    """A member as the brokers list it, with the address of a broker that can reach it."""

    client_id: str
    address: str
    language: str
    version: str | None
    broker_address: str


@dataclass(frozen=True)
class GroupMembers:
    """The answers of all brokers about one group, united. `error` is set where one of them did not answer."""

    group: str
    members: tuple[Member, ...]
    consume_type: str | None
    message_model: str | None
    consume_from_where: str | None
    subscriptions: tuple[dict[str, str | None], ...]
    error: str | None = None

    @property
    def complete(self) -> bool:
        return self.error is None


@dataclass(frozen=True)
class OwnedQueue:
    topic: str
    broker: str
    queue_id: int
    commit_offset: int | None
    cached_min: int | None
    cached_max: int | None
    cached_count: int | None
    locked: bool | None
    dropped: bool | None
    last_pull_at: datetime | None
    last_consume_at: datetime | None
    last_lock_at: datetime | None


@dataclass(frozen=True)
class ClientReading:
    """What a client said of itself. Where `error` is set it did not."""

    group: str
    client_id: str
    error: str | None = None
    queues: tuple[OwnedQueue, ...] = ()
    strategy: str | None = None
    orderly: bool | None = None
    started_at: datetime | None = None
    subscriptions: tuple[dict[str, str | None], ...] | None = None
    settings: dict[str, str] | None = None
    pop_queues: tuple[dict[str, str | int | None], ...] | None = None


@dataclass(frozen=True)
class MembersReading:
    cluster: str
    taken_at: datetime
    groups: tuple[GroupMembers, ...] = ()
    clients: tuple[ClientReading, ...] = field(default=())
    calls: int = 0
    seconds: float = 0.0
