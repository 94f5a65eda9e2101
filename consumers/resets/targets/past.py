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
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.jobs.wires import Ports
from consumers.models import ConsumerGroup, Reset, ResetMethod, ResetOutcome, ResetQueue, ResetStep
from consumers.resets.planning.masters import Masters
from consumers.resets.wish import QueueKey, ResetRefused
from consumers.rocketmq.wire.errors import RocketMQError
from consumers.vocabulary.groups import BROADCASTING, POPPING

from .moment_targets import queues_of_then, targets_of_then
from .values import moment_of

# Where another group of the same cluster stands, asked of its masters queue by queue.


def offsets_of(source: str, keys: Collection[QueueKey], ports: Ports) -> dict[QueueKey, int | str]:
    """By queue: the offset, or why there is none."""
    return ports.wire.run(_asked(source, sorted(keys), ports))


def check_source(cluster: str, source: str) -> tuple[str, ...]:
    """Warnings. Raises ResetRefused for a group whose progress is not what brokers hold."""
    group = ConsumerGroup.objects.filter(cluster__name=cluster, name=source).first()
    if group is None:
        words = {"group": source, "cluster": cluster}
        raise ResetRefused(_("There is no group %(group)s in %(cluster)s: choose one that is listed.") % words)
    if group.message_model == BROADCASTING:
        raise ResetRefused(
            _(
                "%s is broadcasting: each of its members goes on from its own file, so that there is no offset to "
                "copy. Give the offsets yourself."
            )
            % source
        )
    if group.outside_store is not None:
        raise ResetRefused(
            _(
                "%(group)s keeps its offsets outside of RocketMQ (%(store)s), so that there is none to copy. Give the "
                "offsets yourself."
            )
            % {"group": source, "store": group.outside_store}
        )
    warnings = [_("Where %s stands is taken as it was at the time of the plan; it may go on meanwhile.") % source]
    if group.consume_type == POPPING:
        warnings.append(
            _("%s pops: its offsets pass messages that it has not acknowledged; they are skipped.") % source
        )
    return tuple(warnings)


async def _asked(source: str, keys: list[QueueKey], ports: Ports) -> dict[QueueKey, int | str]:
    masters = Masters(ports)
    return dict(zip(keys, await asyncio.gather(*(_offset(masters, source, key) for key in keys)), strict=True))


async def _offset(masters: Masters, source: str, key: QueueKey) -> int | str:
    master = masters.get(key.broker)
    if master is None:
        return _("No master of its broker is known: it is down, or only its slave is up.")
    try:
        offset = await master.ask(
            lambda admin, within: admin.consumer_offset(source, key.topic, key.queue_id, deadline_seconds=within)
        )
    except RocketMQError as error:
        return _("Where %(group)s stands could not be read: %(error)s") % {"group": source, "error": error}
    return _("%s has committed nothing there.") % source if offset is None else offset


NOT_LISTED = gettext_lazy("The list has no offset for it.")
NOT_CHANGED = gettext_lazy("The reset to be restored did not change it.")
# A worker that died while it wrote may have changed the queue.
MAY_HAVE_CHANGED = (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED, ResetStep.READ_BACK)
NO_COMMIT = gettext_lazy("It had no commit before: no call of RocketMQ takes an offset away.")
STAYED = gettext_lazy("It was read back where it was: the reset did not move it.")


@dataclass(frozen=True)
class Given:
    """By queue its offset, or the sentence why it has none: every queue that was asked for is there.

    `warnings`: sentences for the plan's own.
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
        raise ResetRefused(_("The reset to be restored changed no queue: there is nothing to return to."))
    return found


def touched(reset_id: UUID | str) -> QuerySet[ResetQueue]:
    """Queues that the reset may have changed, also those that it left where they were after all."""
    rows = ResetQueue.objects.filter(reset_id=reset_id, step__in=MAY_HAVE_CHANGED)
    # No row is excluded for the method that it has not.
    return rows.filter(Q(method=None) | ~Q(method=ResetMethod.NOTHING))


def _before(row: ResetQueue) -> int | str:
    if row.outcome == ResetOutcome.UNCHANGED:
        return str(STAYED)
    if row.before is not None:
        return row.before
    return row.unknown.get("before") or str(NO_COMMIT)


# What each target of the past gives. Not from within the wire's own loop. Raises ResetRefused.


def copied(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    source = str(reset.value)
    warnings = check_source(reset.cluster_name, source)
    return Given(offsets_of(source, keys, ports), warnings)


def of_then(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    at = moment_of(str(reset.value))
    return Given(*targets_of_then(reset.cluster_name, reset.group_name, at, keys, now))


def of_the_list(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    return Given(_of(listed_offsets(reset), keys, str(NOT_LISTED)))


def from_before(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    return Given(_of(offsets_before(reset), keys, str(NOT_CHANGED)))


def own_queues_of_then(reset: Reset) -> tuple[QueueKey, ...]:
    """Those that the group had then, which brokers may have forgotten since; without its retry and dead-letter topics,
    unless they were chosen. Raises ResetRefused.
    """
    return queues_of_then(reset.cluster_name, reset.group_name, moment_of(str(reset.value)), reset.topics)


def _of(
    offsets: Mapping[QueueKey, int] | Mapping[QueueKey, int | str], keys: Collection[QueueKey], why_not: str
) -> dict[QueueKey, int | str]:
    return {key: offsets.get(key, why_not) for key in keys}
