"""One client, over all groups that it is in, as polls last saw it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from consumers.groups.detail import group_queues
from consumers.groups.queue_rows import QueueRow
from consumers.models import Assignment, Client, ConsumerGroup
from consumers.ownership.members import member_list
from consumers.ownership.settings import OF_ONE_MEMBER
from consumers.queries.queues.overlay import NOT_SAMPLED
from consumers.rocketmq.client_defaults import DEFAULTS
from consumers.words.reasons import stored_words

from .rows import ClientDetail, ClientGroup, ClientQueue, ClientSetting, ClientTopic

# Groups that the client has left longer ago are not listed.
LEFT_WITHIN = timedelta(days=7)
NOT_SAID = gettext_lazy("not reported by the client")
GONE = gettext_lazy("no broker lists the client now")
STATUS = ("consume_rt", "consume_ok_tps", "consume_failed_tps", "consume_failed_messages", "pull_rt", "pull_tps")
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
    values = {"version": first.version, "started_at": first.started_at}
    reasons = {"version": gettext("not reported by the broker"), "started_at": silent}
    return ClientDetail(
        cluster=cluster,
        client_id=client_id,
        is_present=first.gone_by is None,
        address=first.address,
        connections=first.connections,
        language=first.language,
        last_seen=first.last_seen,
        groups=sorted((_group(row, now) for row in shown), key=lambda row: (row.gone_by is not None, row.group)),
        unknown={name: reasons[name] for name, value in values.items() if value is None},
        **values,  # type: ignore[arg-type]
    )


def _group(row: Client, now: datetime) -> ClientGroup:
    member = None
    if row.gone_by is None:
        member = next((one for one in member_list(row.group, now=now) if one.client_id == row.client_id), None)
    silent = stored_words(row.running_info_error) or str(NOT_SAMPLED)
    settings = None if row.settings is None else settings_of(row.settings)
    why = {"member": str(GONE), "settings": silent, "running_info_at": silent}
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
            unknown={name: str(NOT_SAID) for name in STATUS if said.get(name) is None},
            **{name: said.get(name) for name in STATUS},
        )
        for topic, said in sorted(status.items())
    ]


def settings_of(said: Mapping[str, str]) -> Sequence[ClientSetting]:
    """What is no default first, then by name."""
    rows = [ClientSetting(name, value, DEFAULTS.get(name)) for name, value in said.items() if name not in OF_ONE_MEMBER]
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
    said = {"cached_messages": held.cached_count} | {name: getattr(held, name) for name in OF_QUEUE}
    no_offset = gettext("the group has no offset in it yet")
    known = {name: getattr(row, name) if row else None for name in ("state", "time_lag_seconds", "time_lag_at")}
    why = row.unknown if row else dict.fromkeys(known, no_offset)
    topic, broker, queue_id = place
    return ClientQueue(
        topic=topic,
        broker=broker,
        queue_id=queue_id,
        kind=row.kind if row else held.queue.topic.kind,
        lag_messages=row.lag_messages if row else None,
        time_lag_kind=row.time_lag_kind if row else "unknown",  # type: ignore[arg-type]
        seen_since=held.seen_since,
        last_seen=held.last_seen,
        unknown_reason=row.unknown_reason if row else no_offset,
        unknown={name: str(NOT_SAID) for name, value in said.items() if value is None}
        | {name: why.get(name, no_offset) for name, value in known.items() if value is None},
        **said,
        **known,
    )
