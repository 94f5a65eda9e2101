"""Offsets that were somewhere already: another group's, the group's own of a past moment, a list's, those from before.

The general worker asks: the lake is read, and for a copy the masters.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.jobs.wires import Ports
from consumers.models import ConsumerGroup, Reset, ResetKind
from consumers.resets.planning.masters import Masters
from consumers.resets.wish import QueueKey, ResetRefused
from consumers.rocketmq.wire.errors import RocketMQError
from consumers.vocabulary.groups import BROADCASTING, POPPING

from .listed import listed_offsets, offsets_before
from .moment_targets import queues_of_then, targets_of_then

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


@dataclass(frozen=True)
class Given:
    """By queue its offset, or the sentence why it has none: every queue that was asked for is there.

    `warnings`: sentences for the plan's own.
    """

    offsets: Mapping[QueueKey, int | str]
    warnings: tuple[str, ...] = ()


def own_queues(reset: Reset) -> tuple[QueueKey, ...] | None:
    """The queues that the target itself names, for a wish that names none; null where it names none either (COPY).

    OFFSETS: those of the list. RESTORE: those that the other reset may have changed. MOMENT: those that the group had
    then, which brokers may have forgotten since; without its retry and dead-letter topics, unless they were chosen.
    Raises ResetRefused.
    """
    match reset.kind:
        case ResetKind.OFFSETS:
            return tuple(listed_offsets(reset))
        case ResetKind.RESTORE:
            return tuple(offsets_before(reset))
        case ResetKind.MOMENT:
            return queues_of_then(reset.cluster_name, reset.group_name, _moment(reset), reset.topics)
    return None


def given_for(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    """Of a COPY, MOMENT, OFFSETS or RESTORE. Not from within the wire's own loop. Raises ResetRefused."""
    match reset.kind:
        case ResetKind.COPY:
            source = str(reset.value)
            warnings = check_source(reset.cluster_name, source)
            return Given(offsets_of(source, keys, ports), warnings)
        case ResetKind.MOMENT:
            return Given(*targets_of_then(reset.cluster_name, reset.group_name, _moment(reset), keys, now))
        case ResetKind.OFFSETS:
            return Given(_of(listed_offsets(reset), keys, str(NOT_LISTED)))
        case ResetKind.RESTORE:
            return Given(_of(offsets_before(reset), keys, str(NOT_CHANGED)))
    raise ValueError(f"{reset.kind} is not a target of the past")


def _of(
    offsets: Mapping[QueueKey, int] | Mapping[QueueKey, int | str], keys: Collection[QueueKey], why_not: str
) -> dict[QueueKey, int | str]:
    return {key: offsets.get(key, why_not) for key in keys}


def _moment(reset: Reset) -> datetime:
    return datetime.fromisoformat(str(reset.value))
