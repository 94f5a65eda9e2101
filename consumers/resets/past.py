"""Offsets that were somewhere already: another group's, the group's own of a past moment, a list's, those from before.

The general worker asks: the lake is read, and for a copy the masters.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_lazy

from consumers.errands.ports import Ports
from consumers.models import Reset, ResetKind

from .copied import check_source, offsets_of
from .listed import listed_offsets, offsets_before
from .moment_targets import queues_of_then, targets_of_then
from .wish import QueueKey

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
