"""A topic as its groups and brokers have it. Each null has its reason beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from consumers.models import State, TimeLagKind, TopicKind
from consumers.queries.declared import answer, public


class QueueAccess(StrEnum):
    """What a topic's configuration on one broker lets clients do with its queues. UNEVEN: not the same with each."""

    READ_WRITE = "read_write"
    READ_ONLY = "read_only"
    WRITE_ONLY = "write_only"
    NONE = "none"
    UNEVEN = "uneven"
    UNKNOWN = "unknown"


@answer("A topic on one broker. A null has its reason in `unknown`.", name="TopicBroker")
@dataclass(frozen=True, kw_only=True)
class TopicBroker:
    """`access` is of the topic; a broker that is set to read-only (`broker_writable`) refuses messages all the same."""

    broker: str
    queues: int
    readable_queues: int | None
    writable_queues: int | None
    access: str = field(metadata=public(of=QueueAccess))
    broker_readable: bool | None = field(metadata=public("By the broker's own configuration"))
    broker_writable: bool | None = field(metadata=public("By the broker's own configuration"))
    bytes_per_second: float | None = field(metadata=public("Stored of the topic, in the broker's last minute"))
    taken_at: datetime | None
    unknown: dict[str, str] = field(default_factory=dict)


@answer("A group that consumes the topic. Lag and time lag are of this topic alone.", name="TopicGroup")
@dataclass(frozen=True, kw_only=True)
class TopicGroup:
    """`state` is that of the group as a whole. `queues` is 0 where it subscribes and has no offset yet."""

    group: str
    state: State
    stale: bool
    state_detail: str
    members: int | None
    expressions: Sequence[str] | None = field(metadata=public("What its present members subscribe to"))
    queues: int
    never_committed_queues: int | None
    lag_messages: int | None
    lag_messages_at_least: int | None
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    time_lag_at: datetime | None
    retired_since: datetime | None = field(metadata=public("No member subscribes to it since"))
    unknown_reason: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@answer("A topic: its brokers, and the groups that consume it. A null has its reason in `unknown`.", name="TopicDetail")
@dataclass(frozen=True, kw_only=True)
class TopicDetail:
    """`produce_rate` is of the newest complete window of a group that has an offset in each queue."""

    cluster: str
    topic: str
    kind: str = field(metadata=public(of=TopicKind))
    first_seen_at: datetime
    queues: int
    produce_rate: float | None = field(metadata=public("Messages per second, by its broker offsets"))
    produce_rate_at: datetime | None = field(metadata=public("The end of the window of the produce rate"))
    brokers: list[TopicBroker]
    groups: list[TopicGroup]
    unknown: dict[str, str] = field(default_factory=dict)
