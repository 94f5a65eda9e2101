"""Rows of a group's offset stores. Each null has its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consumers.models import TopicKind
from consumers.queries.declared import answer, public
from consumers.stores.exposure import Exposure

BROKER_MEMORY = "broker_memory"
BROKER_FILE = "broker_file"
CONSUMER_FILE = "consumer_file"
CLIENT_MEMORY = "client_memory"
STORE_KINDS = (BROKER_MEMORY, BROKER_FILE, CONSUMER_FILE, CLIENT_MEMORY)
# Its room stands below this one, so that it is described here; its fields have their metadata as it is.
answer("Messages that would be consumed again. A null has its reason in the queue's `unknown`, as `exposure.low`.")(
    Exposure
)


@dataclass(frozen=True, kw_only=True)
class StoreRow:
    """One store's offset of one queue."""

    kind: str = field(metadata=public(of=STORE_KINDS))
    offset: int | None
    at: datetime | None = field(metadata=public("When the store was read last"))
    source: str | None = field(metadata=public("The broker, the file's path, or the client id"))
    finding: str | None = field(default=None, metadata=public("Why there is no offset, or what is wrong with it"))
    client_id: str | None = None
    persisted_at: datetime | None = field(default=None, metadata=public("When a file was last written; null in memory"))
    usual_period_seconds: float | None = field(default=None, metadata=public("How often the store is usually written"))
    lag_messages: int | None = field(default=None, metadata=public("Counted from this offset"))


@answer("`would_start_at`: the first message for a member that would take over the queue now.")
@dataclass(frozen=True, kw_only=True)
class OffsetRow:
    """One queue. `broker` is null for what a file says of a queue whose broker neither path nor content tells."""

    topic: str
    broker: str | None = field(metadata=public("Null for a queue of a file that does not name its broker"))
    queue_id: int
    kind: str = field(metadata=public(of=TopicKind))
    min_offset: int | None
    broker_offset: int | None
    stores: list[StoreRow]
    exposure: Exposure
    would_start_at: int | None
    would_start_rule: str | None
    never_committed: bool | None = field(metadata=public("The group has the topic, but no offset of this queue"))
    taken_at: datetime | None
    unknown: dict[str, str] = field(default_factory=dict)

    def of_kind(self, kind: str) -> list[StoreRow]:
        return [store for store in self.stores if store.kind == kind]


@dataclass(frozen=True, kw_only=True)
class FileRow:
    """A file of the cluster that may speak of the group. `read_at` null: it was never read, `error` says why."""

    path: str
    kind: str
    broker: str | None
    client_id: str | None
    modified_at: datetime | None
    read_at: datetime | None
    from_backup: bool
    findings: list[dict[str, Any]]
    error: str | None


@dataclass(frozen=True, kw_only=True)
class PopRow:
    """What a client that pops has not acknowledged yet. `queue_id` -1: of any queue of the topic on that broker."""

    client_id: str
    topic: str
    broker: str
    queue_id: int
    wait_ack_count: int | None
    last_pop_at: str | None


@dataclass(frozen=True, kw_only=True)
class GroupOffsets:
    """`names_files`: the cluster was registered with offset files. `pop_unknown`: why un-acked counts are not known."""

    rows: list[OffsetRow]
    files: list[FileRow]
    names_files: bool
    is_broadcasting: bool
    is_popping: bool
    pops: list[PopRow]
    pop_unknown: str | None
    commit_interval_seconds: float | None
