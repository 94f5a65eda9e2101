"""Everything that one client holds, over all groups it is in. Each null has its reason beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import State, TimeLagKind, TopicKind
from consumers.ownership.rows import MemberRow
from consumers.queries.declared import answer, public


@answer("How a client consumes a topic, as it says: averages of its last minute. A null has its reason in `unknown`.")
@dataclass(frozen=True, kw_only=True)
class ClientTopic:
    topic: str
    consume_rt: float | None = field(metadata=public("Milliseconds in the listener"))
    consume_ok_tps: float | None = field(metadata=public("Messages per second"))
    consume_failed_tps: float | None = field(metadata=public("Messages per second"))
    consume_failed_messages: int | None = field(metadata=public("Of the last hour"))
    pull_rt: float | None = field(metadata=public("Milliseconds"))
    pull_tps: float | None = field(metadata=public("Messages per second"))
    unknown: dict[str, str] = field(default_factory=dict)


@answer("A queue that a client owns: how far its group is, and what the client says of it.")
@dataclass(frozen=True, kw_only=True)
class ClientQueue:
    topic: str
    broker: str
    queue_id: int
    kind: str = field(metadata=public(of=TopicKind))
    state: State | None
    lag_messages: int | None
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    time_lag_at: datetime | None
    seen_since: datetime = field(metadata=public("The first answer that reported it"))
    last_seen: datetime = field(metadata=public("The last answer that reported it"))
    cached_messages: int | None = field(metadata=public("Pulled and not finished"))
    cached_mib: int | None = field(metadata=public("Their size, in whole MiB"))
    locked: bool | None = field(metadata=public("Of orderly members"))
    last_pull_at: datetime | None
    last_consume_at: datetime | None
    last_lock_at: datetime | None
    unknown_reason: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@answer("What a client is set to. `default` is RocketMQ's; null where that is not known.")
@dataclass(frozen=True)
class ClientSetting:
    name: str
    value: str
    default: str | None

    @property
    def differs(self) -> bool:
        return self.default is not None and self.value != self.default


@answer("A client as a member of one group. `member` is null once no broker lists it any more.")
@dataclass(frozen=True, kw_only=True)
class ClientGroup:
    group: str
    seen_since: datetime
    last_seen: datetime
    gone_by: datetime | None = field(metadata=public("The answer that no longer listed it; null while it is listed"))
    running_info_at: datetime | None = field(metadata=public("When it last said how it is doing"))
    running_info_error: str | None
    member: MemberRow | None
    topics: list[ClientTopic]
    queues: list[ClientQueue]
    settings: Sequence[ClientSetting] | None = field(metadata=public("What is no default first"))
    unknown: dict[str, str] = field(default_factory=dict)


@answer("A client, by its client ID, with every group that it is or was a member of.", name="ClientDetail")
@dataclass(frozen=True, kw_only=True)
class ClientDetail:
    cluster: str
    client_id: str
    is_present: bool = field(metadata=public("A broker lists it now"))
    address: str = field(metadata=public("Of its first connection"))
    connections: dict[str, list[str]] = field(metadata=public("Addresses, by the broker that lists them"))
    language: str
    version: str | None
    started_at: datetime | None
    last_seen: datetime
    groups: list[ClientGroup]
    unknown: dict[str, str] = field(default_factory=dict)


@answer("A thread of a client.", name="ClientThread")
@dataclass(frozen=True)
class ThreadRow:
    name: str
    tid: int
    state: str
    is_consuming: bool = field(metadata=public("A thread that runs listeners"))
    is_working: bool = field(metadata=public("Within a listener now"))
    frames: Sequence[str] = field(metadata=public("Innermost first"))


@answer("The threads of a client at one time.", name="ThreadDump")
@dataclass(frozen=True)
class ThreadDumpRow:
    cluster: str
    client_id: str
    at: datetime
    broker: str = field(metadata=public("The broker that passed the question on"))
    is_cut: bool = field(metadata=public("The client reported more than is taken"))
    threads: list[ThreadRow]
