"""Heads that stand, with what is known of them: rows into plain facts, for one group or for many at once."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from consumers.models import Assignment, Client, ConsumerGroup, HeadMessage, QueueSnapshot
from consumers.polling.heads.standing import standing_heads
from consumers.selectors.brokers import BrokerAge, broker_ages
from consumers.selectors.limits import limits
from consumers.selectors.overlay import offsets
from consumers.selectors.ownership.patience import patience_of

from .blocked_rows import HeadFacts
from .refusals import refusals
from .sendbacks import LOOKED_BACK, CameBack, came_back
from .standing import Sendbacks, Standing

HeadKey = tuple[int, int, str]  # group id, queue id, client id
NOT_LOOKED_UP = "the message has not been looked up yet"


def blocked_heads(now: datetime, **of_groups: Any) -> QuerySet[Assignment]:
    """Those that stand for as long as the setting says, with all that `standings` needs."""
    rows = standing_heads(settings.CONSUMERSCOPE_BLOCKED_AFTER_SECONDS, now, **of_groups)
    return rows.select_related("group__cluster", "queue__topic")


def standings(rows: Collection[Assignment], now: datetime) -> list[Standing]:
    """In the order of the rows, in a fixed number of queries."""
    groups = {row.group_id: row.group for row in rows}
    clients = _clients(groups)
    ages = broker_ages({group.cluster_id for group in groups.values()})
    brokers = {cluster: age.brokers for cluster, age in ages.items()}
    returned = came_back(groups.values(), brokers, now)
    failing = {row.group_id: row.group for row in rows if _fails(clients.get((row.group_id, row.client_id)), row)}
    refused = refusals(list(failing.values()), now)
    snapshots = _snapshots(rows)
    found = []
    for row in rows:
        of_broker = {age.name: age for age in brokers.get(row.group.cluster_id, ())}
        found.append(
            _standing(
                row,
                clients.get((row.group_id, row.client_id)),
                _end(snapshots.get((row.group_id, row.queue_id)), of_broker, now),
                _sendbacks(row, returned[row.group_id], refused.get(row.group_id), now),
                now,
            )
        )
    return found


def message_facts(rows: Collection[Assignment]) -> dict[HeadKey, tuple[HeadFacts | None, str | None]]:
    """What the poll found of these very heads, or why it found nothing."""
    held = {_key(row): row.cached_min for row in rows}
    looked_up = HeadMessage.objects.filter(
        group__in={group for group, _, _ in held}, queue__in={queue for _, queue, _ in held}
    )
    facts: dict[HeadKey, tuple[HeadFacts | None, str | None]] = dict.fromkeys(held, (None, NOT_LOOKED_UP))
    for head in looked_up:
        key = (head.group_id, head.queue_id, head.client_id)
        if held.get(key) == head.offset:
            facts[key] = _message(head)
    return facts


def _key(row: Assignment) -> HeadKey:
    return row.group_id, row.queue_id, row.client_id


def _message(head: HeadMessage) -> tuple[HeadFacts | None, str | None]:
    known = (head.message_id, head.reconsume_times, head.size, head.born_at, head.stored_at)
    if head.error is not None or None in known:
        return None, head.error or NOT_LOOKED_UP
    names = ("message_id", "origin_topic", "keys", "tags", "reconsume_times", "size", "born_at", "stored_at")
    return HeadFacts(**{name: getattr(head, name) for name in names}), None


def _clients(groups: Collection[int]) -> dict[tuple[int, str], Client]:
    rows = Client.objects.filter(group__in=groups, gone_by=None).only(
        "group_id", "client_id", "address", "orderly", "settings", "consume_status", "running_info_error"
    )
    return {(row.group_id, row.client_id): row for row in rows}


def _status(client: Client, row: Assignment) -> dict[str, float | int | None]:
    return dict((client.consume_status or {}).get(row.queue.topic.name, {}))


def _fails(client: Client | None, row: Assignment) -> bool:
    return client is not None and bool(_status(client, row).get("consume_failed_tps"))


def _snapshots(rows: Collection[Assignment]) -> dict[tuple[int, int], QueueSnapshot]:
    found = QueueSnapshot.objects.filter(
        group__in={row.group_id for row in rows}, queue__in={row.queue_id for row in rows}
    ).select_related("queue")
    return {(row.group_id, row.queue_id): row for row in found}


def _end(
    snapshot: QueueSnapshot | None, brokers: Mapping[str, BrokerAge], now: datetime
) -> tuple[int | None, str | None]:
    """The broker offset, or why it is not known."""
    if snapshot is None:
        return None, "the queue's broker offset has not been read"
    read = offsets(snapshot, brokers.get(snapshot.queue.broker), now, limits())
    if read.broker_offset is None:
        return None, read.reason or "the broker offset was not read"
    return read.broker_offset, None


def _sendbacks(row: Assignment, returned: CameBack, refused: str | None, now: datetime) -> Sendbacks:
    assert row.head_since is not None
    arrive, why_unknown = returned.since(max(row.head_since, now - LOOKED_BACK))
    return Sendbacks(arrive, why_unknown, refused)


def _standing(
    row: Assignment, client: Client | None, end: tuple[int | None, str | None], sendbacks: Sendbacks, now: datetime
) -> Standing:
    assert row.head_since is not None
    assert row.cached_min is not None
    group: ConsumerGroup = row.group
    said: dict[str, Any] = {}
    if client is not None:
        said = {
            "address": client.address,
            "client_error": client.running_info_error,
            "orderly": client.orderly,
            "settings": client.settings or {},
            "status": _status(client, row),
        }
    return Standing(
        cluster=group.cluster.name,
        group=group.name,
        topic=row.queue.topic.name,
        broker=row.queue.broker,
        queue_id=row.queue.queue_id,
        offset=row.cached_min,
        since=row.head_since,
        told_at=row.last_seen,
        now=now,
        patience=patience_of(group).length,
        client_id=row.client_id,
        message_model=group.message_model,
        consume_type=group.consume_type,
        cached_max=row.cached_max,
        cached_count=row.cached_count,
        commit_offset=row.commit_offset,
        last_pull_at=row.last_pull_at,
        last_consume_at=row.last_consume_at,
        last_lock_at=row.last_lock_at,
        broker_offset=end[0],
        unread=end[1],
        sendbacks=sendbacks,
        **said,
    )
