"""Offsets that were somewhere already: another group's, the group's own of a past moment, a list's, those from before.

The general worker asks: the lake is read, and for a copy the masters.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from consumers.errands.ports import Ports
from consumers.models import Reset

from .wish import QueueKey


@dataclass(frozen=True)
class Given:
    """By queue its offset, or the sentence why it has none: every queue that was asked for is there.

    `warnings`: sentences for the plan's own.
    """

    offsets: Mapping[QueueKey, int | str]
    warnings: tuple[str, ...] = ()


def own_queues(reset: Reset, now: datetime) -> tuple[QueueKey, ...] | None:
    """The queues that the target itself names, for a wish that names none; null where it names none either (COPY).

    OFFSETS: those of the list. RESTORE: those that the other reset may have changed. MOMENT: those that the group had
    then, which brokers may have forgotten since; without its retry and dead-letter topics, unless they were chosen.
    Raises ResetRefused.
    """
    raise NotImplementedError


def given_for(reset: Reset, keys: Collection[QueueKey], ports: Ports, now: datetime) -> Given:
    """Of a COPY, MOMENT, OFFSETS or RESTORE. Not from within the wire's own loop. Raises ResetRefused."""
    raise NotImplementedError
