"""One client, over all groups that it is in, as polls last saw it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils.translation import gettext, gettext_lazy

from consumers.groups.detail import group_queues
from consumers.groups.queue_rows import STALE, QueueRow
from consumers.models import Assignment, Client, ConsumerGroup, State, TimeLagKind, TopicKind
from consumers.ownership.members import OF_ONE_MEMBER, member_list, members_unknown
from consumers.ownership.rows import MemberRow
from consumers.queries.declared import answer, public
from consumers.queries.queues.overlay import NOT_SAMPLED
from consumers.rocketmq.bodies.client_bodies import DEFAULTS
from consumers.words.reasons import stored_words


# Everything that one client holds, over all groups it is in. Each null has its reason beside it.
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
    stale: bool = field(metadata=public(STALE))
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
    judged_at: datetime | None
    taken_at: datetime | None
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
    running_info_at: datetime | None = field(metadata=public("When it last reported its running info"))
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
    is_present: bool | None = field(metadata=public("A broker lists it now"))
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


# Groups that the client has left longer ago are not listed.
LEFT_WITHIN = timedelta(days=7)
NOT_SAID = gettext_lazy("not reported by the client")
GONE = gettext_lazy("no broker lists the client now")
STATUS = ("consume_rt", "consume_ok_tps", "consume_failed_tps", "consume_failed_messages", "pull_rt", "pull_tps")
OF_ROW = ("state", "time_lag_seconds", "time_lag_at", "judged_at", "taken_at")
OF_QUEUE = ("cached_mib", "locked", "last_pull_at", "last_consume_at", "last_lock_at")


def client_exists(cluster: str, client_id: str) -> bool:
    return Client.objects.filter(group__cluster__name=cluster, client_id=client_id).exists()


def client_detail(cluster: str, client_id: str, *, now: datetime) -> ClientDetail | None:
    """None where no poll has seen it. The number of queries depends on that of its groups."""
    rows = list(
        Client.objects.filter(group__cluster__name=cluster, client_id=client_id)
        .select_related("group__cluster", "group__judged")
        .order_by("-last_seen", "group__name")
    )
    if not rows:
        return None
    newest: dict[int, Client] = {}
    for row in sorted(rows, key=lambda row: (row.gone_by is None, row.last_seen), reverse=True):
        newest.setdefault(row.group_id, row)
    shown = [row for row in newest.values() if row.gone_by is None or row.gone_by >= now - LEFT_WITHIN]
    first = next(iter(newest.values()))
    silent = stored_words(first.running_info_error) or str(NOT_SAMPLED)
    presence = _presence(list(newest.values()), now)
    values = {"version": first.version, "started_at": first.started_at, "is_present": presence.known}
    reasons = {"version": gettext("not reported by the broker"), "started_at": silent, "is_present": presence.why}
    return ClientDetail(
        cluster=cluster,
        client_id=client_id,
        address=first.address,
        connections=first.connections,
        language=first.language,
        last_seen=first.last_seen,
        groups=sorted((_group(row, now) for row in shown), key=lambda row: (row.gone_by is not None, row.group)),
        unknown={name: reasons[name] for name, value in values.items() if value is None},
        **values,  # type: ignore[arg-type]
    )


class _Presence(NamedTuple):
    known: bool | None
    why: str


def _presence(newest: Sequence[Client], now: datetime) -> _Presence:
    """`newest`: of each group. A client that nobody could see of late may still be there, or have left since."""
    why = {row.pk: members_unknown(row.group, now=now) for row in newest}
    if any(row.gone_by is None and why[row.pk] is None for row in newest):
        return _Presence(True, "")
    reason = next((one for one in why.values() if one is not None), None)
    return _Presence(False, "") if reason is None else _Presence(None, reason)


def _group(row: Client, now: datetime) -> ClientGroup:
    member = None
    if row.gone_by is None:
        member = next((one for one in member_list(row.group, now=now) if one.client_id == row.client_id), None)
    silent = stored_words(row.running_info_error) or str(NOT_SAMPLED)
    settings = None if row.settings is None else settings_of(row.settings)
    why = {"member": members_unknown(row.group, now=now) or str(GONE), "settings": silent, "running_info_at": silent}
    values = {"member": member, "settings": settings, "running_info_at": row.running_info_at}
    return ClientGroup(
        group=row.group.name,
        seen_since=row.seen_since,
        last_seen=row.last_seen,
        gone_by=row.gone_by,
        running_info_error=stored_words(row.running_info_error),
        topics=topics_of(row.consume_status or {}) if row.gone_by is None else [],
        queues=_queues(row.group, row.client_id, now) if row.gone_by is None else [],
        unknown={name: why[name] for name, value in values.items() if value is None},
        **values,  # type: ignore[arg-type]
    )


def topics_of(status: Mapping[str, Mapping[str, Any]]) -> list[ClientTopic]:
    """`status` as it is stored: by topic."""
    return [
        ClientTopic(
            topic=topic,
            unknown={name: str(NOT_SAID) for name in STATUS if rates.get(name) is None},
            **{name: rates.get(name) for name in STATUS},
        )
        for topic, rates in sorted(status.items())
    ]


def settings_of(reported: Mapping[str, str]) -> Sequence[ClientSetting]:
    """What is no default first, then by name."""
    rows = [
        ClientSetting(name, value, DEFAULTS.get(name)) for name, value in reported.items() if name not in OF_ONE_MEMBER
    ]
    return sorted(rows, key=lambda row: (not row.differs, row.name))


def _queues(group: ConsumerGroup, client_id: str, now: datetime) -> list[ClientQueue]:
    held = (
        Assignment.objects.filter(group=group, client_id=client_id, gone_by=None)
        .select_related("queue__topic")
        .order_by("queue__topic__name", "queue__broker", "queue__queue_id")
    )
    rows = {(row.topic, row.broker, row.queue_id): row for row in group_queues(group, now=now)} if held else {}
    queues = []
    for one in held:
        place = one.queue.topic.name, one.queue.broker, one.queue.queue_id
        queues.append(_queue(one, place, rows.get(place)))
    return queues


def _queue(held: Assignment, place: tuple[str, str, int], row: QueueRow | None) -> ClientQueue:
    """`row` is null where no poll has seen an offset of the group in the queue."""
    values = {"cached_messages": held.cached_count} | {name: getattr(held, name) for name in OF_QUEUE}
    no_offset = gettext("the group has no offset in it yet")
    known = {name: getattr(row, name) if row else None for name in OF_ROW}
    why = row.unknown if row else dict.fromkeys(known, no_offset)
    topic, broker, queue_id = place
    return ClientQueue(
        topic=topic,
        broker=broker,
        queue_id=queue_id,
        kind=row.kind if row else held.queue.topic.kind,
        stale=row is not None and row.stale,
        lag_messages=row.lag_messages if row else None,
        time_lag_kind=row.time_lag_kind if row else "unknown",  # type: ignore[arg-type]
        seen_since=held.seen_since,
        last_seen=held.last_seen,
        unknown_reason=row.unknown_reason if row else no_offset,
        unknown={name: str(NOT_SAID) for name, value in values.items() if value is None}
        | {name: why.get(name, no_offset) for name, value in known.items() if value is None},
        **values,
        **known,
    )
