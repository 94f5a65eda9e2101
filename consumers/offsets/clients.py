"""Offsets that the members of a group report for the queues they hold: the client side of the stores."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from consumers.models import Assignment, Client, ConsumerGroup, TopicKind
from consumers.ownership.assignments import no_owner_reason
from consumers.queries.declared import answer, public
from consumers.queries.queues.starts import reported_start
from consumers.rocketmq.bodies.fields import count_of
from consumers.stores.exposure import Exposure, Held
from consumers.vocabulary.offset_files import ExposureReason
from consumers.vocabulary.states import BROADCASTING, POPPING
from consumers.words.reasons import coded_reason, stored_words

# Rows of a group's offset stores. Each null has its reason beside it.

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
    usual_period_seconds: float | None = field(
        default=None,
        metadata=public(
            "How often the store is usually written; null where the broker's flushConsumerOffsetInterval was not read"
        ),
    )
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


# RocketMQ 5.4.0, ClientConfig.persistConsumerOffsetInterval: used where no member reports its own.
USUAL_COMMIT_SECONDS = 5.0
INTERVAL = "persistConsumerOffsetInterval"
NOBODY_HOLDS = gettext_lazy(
    "popping: no member owns a queue; messages that are popped and not acknowledged are redelivered"
)
SPOKE = ("client_id", "running_info_at", "running_info_error", "settings", "pop_queues", "started_at", "orderly")
HELD = ("queue_id", "client_id", "last_seen", "commit_offset", "cached_min", "cached_max", "cached_count", "head_since")


@dataclass(frozen=True)
class Members:
    """`held` by the queue's key in the database; `silent`: why a member that did not answer last reported nothing."""

    clients: tuple[dict[str, Any], ...]
    held: dict[int, list[Held]]
    silent: dict[str, str]
    no_owner: str
    is_broadcasting: bool
    is_popping: bool

    @property
    def reported_commit_seconds(self) -> float | None:
        """The longest commit interval that a member reports; null where none does."""
        reported = [count_of((client["settings"] or {}).get(INTERVAL)) for client in self.clients]
        milliseconds = [value for value in reported if value is not None]
        return max(milliseconds) / 1000 if milliseconds else None

    @property
    def commit_seconds(self) -> float:
        return self.reported_commit_seconds or USUAL_COMMIT_SECONDS

    @property
    def start(self) -> tuple[str | None, datetime | None]:
        """consumeTimestamp, and the start time of the member that reports it: the newest member."""
        return reported_start(self.clients)

    def pops(self) -> list[PopRow]:
        return [
            PopRow(
                client_id=client["client_id"],
                topic=queue["topic"],
                broker=queue["broker"],
                queue_id=queue["queue_id"],
                wait_ack_count=queue.get("wait_ack_count"),
                last_pop_at=queue.get("last_pop_at"),
            )
            for client in self.clients
            for queue in client["pop_queues"] or ()
        ]

    def pop_unknown(self) -> str | None:
        """Why the un-acknowledged messages of some member are unknown."""
        for client in self.clients:
            if client["pop_queues"] is None:
                client_id = client["client_id"]
                return f"{client_id}: {self.silent.get(client_id) or coded_reason(ExposureReason.NOT_SAMPLED)}"
        return None if self.clients else self.no_owner

    def stores(self, queue: int | None, broker_offset: int | None) -> list[StoreRow]:
        """One per owner; without an owner one that says why there is none."""
        owners = self.held.get(queue, ()) if queue is not None else ()
        if not owners:
            return [StoreRow(kind=CLIENT_MEMORY, offset=None, at=None, source=None, finding=self.no_owner)]
        return [self._store(owner, broker_offset) for owner in owners]

    def _store(self, owner: Held, broker_offset: int | None) -> StoreRow:
        finding = self.silent.get(owner.client_id)
        if owner.commit_offset is None:
            none = (
                coded_reason(ExposureReason.NOT_SAMPLED)
                if owner.cached_count is None
                else gettext("the client's memory has no offset of this queue")
            )
            finding = finding or none
        return StoreRow(
            kind=CLIENT_MEMORY,
            offset=owner.commit_offset,
            at=owner.reported_at,
            source=owner.client_id,
            client_id=owner.client_id,
            finding=finding,
            lag_messages=behind(owner.commit_offset, broker_offset),
        )


def members_of(group: ConsumerGroup) -> Members:
    """Two queries."""
    clients = tuple(Client.objects.filter(group=group, gone_by=None).order_by("client_id").values(*SPOKE))
    orderly = {client["client_id"] for client in clients if client["orderly"]}
    held: dict[int, list[Held]] = defaultdict(list)
    rows = Assignment.objects.filter(group=group, gone_by=None).order_by("client_id").values_list(*HELD)
    for queue, client_id, at, offset, first, last, count, since in rows:
        held[queue].append(Held(client_id, at, offset, first, last, count, since, client_id in orderly))
    is_popping = group.consume_type == POPPING or any(client["pop_queues"] for client in clients)
    answers = [client["running_info_at"] is not None and client["running_info_error"] is None for client in clients]
    return Members(
        clients=clients,
        held=held,
        silent={c["client_id"]: _silence(c["running_info_error"]) for c in clients if c["running_info_error"]},
        no_owner=str(NOBODY_HOLDS) if is_popping else no_owner_reason(group, answers),
        is_broadcasting=group.message_model == BROADCASTING,
        is_popping=is_popping,
    )


def behind(offset: int | None, broker_offset: int | None) -> int | None:
    """Null where the end is unknown, and where the offset is ahead of the broker."""
    if offset is None or broker_offset is None or offset > broker_offset:
        return None
    return broker_offset - offset


def _silence(error: str) -> str:
    return gettext("no answer to the last request: %(error)s") % {"error": stored_words(error)}
