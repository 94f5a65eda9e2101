"""Where each queue is to go, before it is clipped: rules over what was read, by kind of target."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from consumers.models import ResetKind
from consumers.resets.facts import QueueFacts
from consumers.resets.value_of import moment_of
from consumers.resets.wish import QueueKey

# Their targets are no rule over the queue: see `consumers.resets.past`.
OF_THE_PAST = frozenset({ResetKind.COPY, ResetKind.MOMENT, ResetKind.OFFSETS, ResetKind.RESTORE})


def searched_time(kind: ResetKind, value: Any, now: datetime) -> datetime | None:
    """The store time whose offset the brokers are asked for; null where the target is no matter of time."""
    if kind == ResetKind.TIME:
        return moment_of(value)
    return now - timedelta(seconds=value) if kind == ResetKind.SKIP_OLDER else None


def target_of(kind: ResetKind, value: Any, queue: QueueFacts, found: Mapping[QueueKey, int | str]) -> int | str:
    """An offset, or the sentence why the queue has none. `queue` was read. `found`: what brokers answered for the
    searched time, or what the past gives."""
    if queue.min_offset is None or queue.max_offset is None:
        raise ValueError(f"{queue.key} was not read, so that it has no target")
    match kind:
        case ResetKind.EARLIEST:
            return queue.min_offset
        case ResetKind.LATEST:
            return queue.max_offset
        case ResetKind.OFFSET:
            return int(value)
        case ResetKind.SHIFT:
            return _shifted(queue, value)
        case ResetKind.SKIP_OLDER:
            return _not_back(queue, found[queue.key])
    return found[queue.key]


def _shifted(queue: QueueFacts, by: int) -> int | str:
    if queue.now_offset is None:
        return _("Nothing was ever committed there, so that there is nothing to count from: choose another target.")
    return queue.now_offset + by


def _not_back(queue: QueueFacts, found: int | str) -> int | str:
    if isinstance(found, str) or queue.now_offset is None:
        return found
    return max(queue.now_offset, found)
