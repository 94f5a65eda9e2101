"""Offsets from the past: another group's, the group's own at an earlier time, a list's, those from before a reset.

The general worker asks for them: it reads the lake, and for a copy it asks the masters.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from consumers.jobs.wires import Ports
from consumers.models import ConsumerGroup, Reset, ResetMethod, ResetOutcome, ResetQueue, ResetStep
from consumers.resets.planning.gather import Masters
from consumers.rocketmq.wire.codes import RocketMQError
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason, ResetWarning
from consumers.vocabulary.states import BROADCASTING, POPPING

from .moment_targets import queues_of_then, targets_of_then
from .values import QueueKey, ResetRefused, moment_of

# Where another group of the same cluster stands, asked of its masters queue by queue.


def offsets_of(source: str, keys: Collection[QueueKey], ports: Ports) -> dict[QueueKey, int | str]:
    """By queue: the offset, or why there is none."""
    return ports.wire.run(_asked(source, sorted(keys), ports))


def check_source(cluster: str, source: str) -> tuple[str, ...]:
    """Warnings. Raises ResetRefused for a group whose progress is not what brokers hold."""
    group = ConsumerGroup.objects.filter(cluster__name=cluster, name=source).first()
    if group is None:
        raise ResetRefused(stored_reason(PlanReason.COPY_NO_GROUP, group=source, cluster=cluster))
    if group.message_model == BROADCASTING:
        raise ResetRefused(stored_reason(PlanReason.COPY_BROADCASTING, group=source))
    if group.outside_store is not None:
        raise ResetRefused(stored_reason(PlanReason.COPY_OUTSIDE_STORE, group=source, store=group.outside_store))
    warnings = [ResetWarning.COPY_AT_PLAN, *([ResetWarning.COPY_POPS] if group.consume_type == POPPING else [])]
    return tuple(stored_reason(code, group=source) for code in warnings)


async def _asked(source: str, keys: list[QueueKey], ports: Ports) -> dict[QueueKey, int | str]:
    masters = Masters(ports)
    return dict(zip(keys, await asyncio.gather(*(_offset(masters, source, key) for key in keys)), strict=True))


async def _offset(masters: Masters, source: str, key: QueueKey) -> int | str:
    master = masters.get(key.broker)
    if master is None:
        return stored_reason(PlanReason.COPY_NO_MASTER)
    try:
        offset = await master.ask(
            lambda admin, within: admin.consumer_offset(source, key.topic, key.queue_id, deadline_seconds=within)
        )
    except RocketMQError as error:
        return stored_reason(PlanReason.COPY_UNREAD, group=source, error=str(error))
    return stored_reason(PlanReason.COPY_NO_COMMIT, group=source) if offset is None else offset


# A worker that died while it wrote may have changed the queue.
MAY_HAVE_CHANGED = (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED, ResetStep.READ_BACK)


@dataclass(frozen=True)
class Given:
    """By queue its offset, or the stored reason why it has none: every queue that was asked for is there.

    `warnings`: for the plan's own.
    """

    offsets: Mapping[QueueKey, int | str]
    warnings: tuple[str, ...] = ()


# Targets that stand in rows: a list of offsets that was handed in, or what another reset found before it wrote.


def listed_offsets(reset: Reset) -> dict[QueueKey, int]:
    """Of an OFFSETS reset."""
    rows: list[dict[str, Any]] = reset.value or []
    return {QueueKey.told(row): row["offset"] for row in rows}


def offsets_before(reset: Reset) -> dict[QueueKey, int | str]:
    """Of a RESTORE: of each queue that the other reset may have changed. Raises ResetRefused."""
    found = {QueueKey.of(row): _before(row) for row in touched(str(reset.value))}
    if not found:
        raise ResetRefused(stored_reason(PlanReason.NOTHING_TO_RESTORE))
    return found


def touched(reset_id: UUID | str) -> QuerySet[ResetQueue]:
    """Queues that the reset may have changed, also those that it left where they were after all."""
    rows = ResetQueue.objects.filter(reset_id=reset_id, step__in=MAY_HAVE_CHANGED)
    # No row is excluded for the method that it has not.
    return rows.filter(Q(method=None) | ~Q(method=ResetMethod.NOTHING))


def _before(row: ResetQueue) -> int | str:
    if row.outcome == ResetOutcome.UNCHANGED:
        return stored_reason(PlanReason.STAYED)
    if row.before is not None:
        return row.before
    return row.unknown.get("before") or stored_reason(PlanReason.NO_COMMIT_TO_RESTORE)


# What each target of the past gives. Not from within the wire's own loop. Raises ResetRefused.


def copied(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    source = str(reset.value)
    warnings = check_source(reset.cluster_name, source)
    return Given(offsets_of(source, keys, ports), warnings)


def of_then(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    at = moment_of(str(reset.value))
    return Given(*targets_of_then(reset.cluster_name, reset.group_name, at, keys, now))


def of_the_list(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    return Given(_of(listed_offsets(reset), keys, stored_reason(PlanReason.NOT_LISTED)))


def from_before(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    return Given(_of(offsets_before(reset), keys, stored_reason(PlanReason.NOT_CHANGED)))


def own_queues_of_then(reset: Reset) -> tuple[QueueKey, ...]:
    """Those that the group had then, which brokers may have forgotten since; without its retry and dead-letter topics,
    unless they were chosen. Raises ResetRefused.
    """
    return queues_of_then(reset.cluster_name, reset.group_name, moment_of(str(reset.value)), reset.topics)


def _of(
    offsets: Mapping[QueueKey, int] | Mapping[QueueKey, int | str], keys: Collection[QueueKey], why_not: str
) -> dict[QueueKey, int | str]:
    return {key: offsets.get(key, why_not) for key in keys}
