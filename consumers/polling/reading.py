"""What one reading of one cluster saw, before it is stored."""

from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from consumers.polling.brokers.dispatch_backlog import DispatchBacklog
from consumers.polling.delay_answers import DelayOffsets
from consumers.rocketmq.bodies.config_bodies import GroupConfig, TopicConfig
from consumers.rocketmq.wire.codes import RocketMQError


@dataclass(frozen=True)
class BrokerListing:
    """One broker process as the name server lists it; `cluster` is RocketMQ's own name of its cluster."""

    name: str
    broker_id: int
    address: str
    cluster: str | None = None


@dataclass(frozen=True)
class BrokerCost:
    """The cost of a broker's offsets, including its slave if that was asked. Members are not included."""

    calls: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class BrokerReading:
    """One broker name's part. If `error` is set, no other field counts; `cause` is the type of the error.

    `read_from` is the slave that answered in place of the master at `address`; `master_error` says why.
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
    delays: DelayOffsets | None = None
    dispatch: DispatchBacklog | None = None  # null: the broker was not asked
    broadcasting: frozenset[str] = frozenset()  # groups of which members report offsets of their own
    appeared: tuple[str, ...] = ()  # retry and dead-letter topics that it has, and had not when it was last asked

    @property
    def read(self) -> bool:
        return self.error is None

    @property
    def answered_by(self) -> str | None:
        return self.read_from or self.address


@dataclass(frozen=True)
class OffsetsReading:
    """All offsets of a cluster at `taken_at`.

    `error` is set if the list of brokers could not be read; remembered brokers are still read.
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
    """A member as the brokers list it, with the address of a broker that can reach it.

    `connections`: the addresses under which each broker lists the member, sorted. Two addresses at one broker are two
    processes under one id. Keys are broker names, or addresses of proxies: only a proxy's key contains a colon.
    """

    client_id: str
    address: str
    language: str
    version: str | None
    broker_address: str
    connections: dict[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class GroupMembers:
    """The answers of all brokers about one group, united. `error` is set if a broker did not answer.

    `answered_by`: the brokers that answered, including those that know no member, named as in a member's connections.
    `sub_version`: the newest version that a broker reported, by the members' clocks, without the group's own retry
    topics.
    """

    group: str
    members: tuple[Member, ...]
    consume_type: str | None
    message_model: str | None
    consume_from_where: str | None
    subscriptions: tuple[dict[str, str | None], ...]
    error: str | None = None
    sub_version: datetime | None = None
    answered_by: tuple[str, ...] = ()

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
    cached_mib: int | None = None


@dataclass(frozen=True)
class ClientReading:
    """A client's report about itself. If `error` is set, the client did not answer or was not asked, for that reason.

    `subscription`: "topic expression_type expression" a line, sorted. `sub_version`: the newest change of the client's
    queues or subscriptions, by its own clock. Both exclude the group's retry topics. `broker_assigned`: the queues that
    a broker assigns to the client, [{topic, broker, queue_id, mode}]; None if the client shares out queues itself, was
    not asked about it, or the call failed. `consume_status`: {topic: {consume_ok_tps, consume_failed_tps,
    consume_failed_messages, consume_rt, pull_rt, pull_tps}} as the client reports it.
    """

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
    sub_version: datetime | None = None
    subscription: str | None = None
    broker_assigned: tuple[dict[str, str | int], ...] | None = None
    broker_assigned_error: str | None = None
    consume_status: dict[str, dict[str, float | int | None]] | None = None


@dataclass(frozen=True)
class MembersReading:
    """`groups_hurried`: groups whose clients were asked out of turn, because the group changed, has not settled or is
    blocked.

    `clients_asked` counts calls to clients. `seconds` is the total time; two parts of it are given separately.
    """

    cluster: str
    taken_at: datetime
    groups: tuple[GroupMembers, ...] = ()
    clients: tuple[ClientReading, ...] = field(default=())
    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    sweep_seconds: float = 0.0
    running_info_seconds: float = 0.0
    groups_hurried: int = 0
    clients_asked: int = 0

    @property
    def summary(self) -> dict[str, int | float]:
        """The summary that is stored with the reading."""
        return {
            "groups_read": sum(answer.complete for answer in self.groups),
            "groups_hurried": self.groups_hurried,
            "clients_asked": self.clients_asked,
            "clients_read": sum(client.error is None for client in self.clients),
            "calls": self.calls,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 4),
            "sweep_seconds": round(self.sweep_seconds, 4),
            "running_info_seconds": round(self.running_info_seconds, 4),
        }
