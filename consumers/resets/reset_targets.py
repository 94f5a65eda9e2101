"""The targets of resets: all that the site knows of each kind, declared in one place.

The form, REST, the checks of a request, planning and writing are made of these declarations; where a reset goes in the
middle of a sentence is in dashboard/wording/resets.py.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext as _, gettext_lazy

from consumers.jobs.hold import Ports, WithHeartbeat
from consumers.models import ConsumerGroup, Reset, ResetKind
from consumers.resets import past_offsets, target_values
from consumers.resets.planning.queue_plan import QueueOffsets
from consumers.resets.target_values import QueueKey, ResetRefused, moment_of
from consumers.rocketmq.writes import EARLIEST_MS, LATEST_MS
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason
from consumers.words.spans import when
from consumers.words.times import EXAMPLE_TIME

# By queue what brokers answered for the searched time, or what the past gives: an offset, or why there is none.
FoundOffsets = Mapping[QueueKey, int | str]
Words = str | Promise


class Typed(Enum):
    """How the value is typed into the form."""

    WORD = "word"
    TIME = "time"
    LENGTH = "length"
    LIST = "list"


def _as_found(_value: Any, queue: QueueOffsets, found: FoundOffsets) -> int | str:
    return found[queue.key]


def _always_allowed(_group: ConsumerGroup, _value: Any, _now: datetime) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class ResetTarget:
    """`label`, `meaning` and `hint` are of the form; `field` is its input, "" where the target needs no value; without
    `label` the form does not offer it. `rest_value` is of the REST document.

    `parse`: what `Reset.value` stores, see target_values.py. `check`: by rows and the clock alone; raises ResetRefused.
    `offset`: where one queue is to go, before it is clipped, or why it has no target. `searched_time`: the store time
    whose offset brokers are asked for. `given`: of targets of the past, which the history, rows or another group tell.
    `own_queues`: the queues that the target itself names, where nobody chose any. `names_queues`: a listed queue that
    is not there is a mistake. `notified_as_ms`: what members are told where the broker moves nothing itself: a time is
    the only way to say where to.
    """

    code: ResetKind
    label: Words = ""
    meaning: Words = ""
    hint: Words = ""
    field: str = ""
    typed: Typed = Typed.WORD
    longest: int = 40
    rest_value: str = "none"
    parse: Callable[[Any, datetime], Any] = target_values.nothing
    check: Callable[[ConsumerGroup, Any, datetime], None] = _always_allowed
    offset: Callable[[Any, QueueOffsets, FoundOffsets], int | str] = _as_found
    searched_time: Callable[[Any, datetime], datetime | None] = lambda value, now: None
    given: Callable[[Reset, Collection[QueueKey], Ports, datetime, WithHeartbeat], past_offsets.Given] | None = None
    own_queues: Callable[[Reset, WithHeartbeat], tuple[QueueKey, ...] | None] = lambda reset, kept: None
    names_queues: bool = False
    notified_as_ms: Callable[[Any], int] | None = None


def target_of(kind: ResetKind, value: Any, queue: QueueOffsets, found: FoundOffsets) -> int | str:
    """An offset, or the stored reason why the queue has none. `queue` was read."""
    if queue.min_offset is None or queue.max_offset is None:
        raise ValueError(f"{queue.key} was not read, so that it has no target")
    return TARGETS[kind].offset(value, queue, found)


def value_of(kind: ResetKind, entered: Any, now: datetime) -> Any:
    """What `Reset.value` stores. Raises ValueRefused."""
    return TARGETS[kind].parse(entered, now)


def restored(group: ConsumerGroup, reset_id: str) -> Reset:
    """Raises ResetRefused."""
    found = Reset.objects.filter(pk=UUID(reset_id), group=group).first()
    if found is None:
        raise ResetRefused(_("There is no reset %s of this group.") % reset_id)
    return found


def _check_restored(group: ConsumerGroup, reset_id: str, _now: datetime) -> None:
    restored(group, reset_id)


def check_moment(cluster: str, at: datetime, now: datetime) -> None:
    """By the clock alone: what the history really holds then, the plan tells. Raises ResetRefused."""
    if at > now:
        raise ResetRefused(_("The point in time is in the future: choose an earlier one."))
    retention = timedelta(hours=settings.LAKE_RAW_HOURS)
    if at < now - retention:
        words = {
            "hours": f"{settings.LAKE_RAW_HOURS:g}",
            "first": when(now - retention),
            "cluster": cluster,
        }
        raise ResetRefused(
            _(
                "Offsets of %(cluster)s are stored for %(hours)s hours (CONSUMERSCOPE_LAKE_RAW_HOURS). Choose a "
                "point in time after %(first)s, or reset to a time, which uses the store time of messages."
            )
            % words
        )


def _check_copied(group: ConsumerGroup, name: str, _now: datetime) -> None:
    if name == group.name:
        raise ResetRefused(_("A group cannot be copied from itself: choose another group."))
    if name not in ConsumerGroup.objects.filter(cluster=group.cluster_id, name=name).values_list("name", flat=True):
        words = {"cluster": group.cluster.name, "group": name}
        raise ResetRefused(_("No poll of the cluster %(cluster)s has found the group %(group)s.") % words)


def _shifted(by: int, queue: QueueOffsets, _found: FoundOffsets) -> int | str:
    if queue.now_offset is None:
        return stored_reason(PlanReason.NOTHING_TO_COUNT_FROM)
    return queue.now_offset + by


def _not_back(_value: Any, queue: QueueOffsets, offsets: FoundOffsets) -> int | str:
    found = offsets[queue.key]
    if isinstance(found, str) or queue.now_offset is None:
        return found
    return max(queue.now_offset, found)


def _earliest(_value: Any, queue: QueueOffsets, _found: FoundOffsets) -> int | str:
    assert queue.min_offset is not None
    return queue.min_offset


def _latest(_value: Any, queue: QueueOffsets, _found: FoundOffsets) -> int | str:
    assert queue.max_offset is not None
    return queue.max_offset


MOMENT_HINT = format_lazy(gettext_lazy("for example {example} (UTC, unless it names a zone)"), example=EXAMPLE_TIME)
# In the order of the form.
_ALL = (
    ResetTarget(
        code=ResetKind.TIME,
        label=gettext_lazy("Time"),
        meaning=gettext_lazy("Continues with the first message stored at or after this time."),
        hint=MOMENT_HINT,
        field="time",
        typed=Typed.TIME,
        rest_value="ISO 8601 with its zone",
        parse=target_values.time,
        searched_time=lambda value, now: moment_of(value),
        notified_as_ms=lambda value: int(moment_of(str(value)).timestamp() * 1000),
    ),
    ResetTarget(
        code=ResetKind.MOMENT,
        label=gettext_lazy("Past position of this group"),
        meaning=gettext_lazy("From stored history, even where brokers have lost the offsets."),
        hint=MOMENT_HINT,
        field="moment",
        typed=Typed.TIME,
        rest_value="ISO 8601 with its zone",
        parse=target_values.time,
        check=lambda group, value, now: check_moment(group.cluster.name, moment_of(value), now),
        given=past_offsets.of_then,
        own_queues=past_offsets.own_queues_of_then,
    ),
    ResetTarget(
        code=ResetKind.EARLIEST,
        label=gettext_lazy("Earliest"),
        meaning=gettext_lazy("All stored messages are redelivered."),
        offset=_earliest,
        notified_as_ms=lambda value: EARLIEST_MS,
    ),
    ResetTarget(
        code=ResetKind.LATEST,
        label=gettext_lazy("Latest"),
        meaning=gettext_lazy("The whole backlog is skipped."),
        offset=_latest,
        notified_as_ms=lambda value: LATEST_MS,
    ),
    ResetTarget(
        code=ResetKind.SKIP_OLDER,
        label=gettext_lazy("Skip older than"),
        meaning=gettext_lazy("Older messages are skipped; no queue moves backwards."),
        hint=gettext_lazy("90 s, 30 min, 2 h or 1 d"),
        field="skip_older",
        typed=Typed.LENGTH,
        rest_value="seconds",
        parse=target_values.skip_older,
        searched_time=lambda value, now: now - timedelta(seconds=value),
        offset=_not_back,
    ),
    ResetTarget(
        code=ResetKind.SHIFT,
        label=gettext_lazy("Shift by N messages"),
        meaning=gettext_lazy("Moves each queue by N messages: negative redelivers, positive skips."),
        hint=gettext_lazy("messages, as -500 or 500"),
        field="shift",
        rest_value="a number",
        parse=target_values.shift,
        offset=_shifted,
    ),
    ResetTarget(
        code=ResetKind.OFFSET,
        label=gettext_lazy("Offset"),
        meaning=gettext_lazy("The same number in every chosen queue."),
        hint=gettext_lazy("a whole number, 0 or more"),
        field="offset",
        rest_value="a number",
        parse=target_values.offset,
        offset=lambda value, queue, found: int(value),
    ),
    ResetTarget(
        code=ResetKind.COPY,
        label=gettext_lazy("Copy from another group"),
        meaning=gettext_lazy("Queue by queue; queues without a committed offset of that group are excluded."),
        hint=gettext_lazy("a group of this cluster"),
        field="copy",
        longest=255,
        rest_value="the name of a group",
        parse=target_values.copy,
        check=_check_copied,
        given=past_offsets.copied,
    ),
    ResetTarget(
        code=ResetKind.OFFSETS,
        label=gettext_lazy("Offsets of a CSV list"),
        meaning=gettext_lazy("CSV with the columns topic, broker, queue_id and offset, as exported."),
        hint=gettext_lazy("paste it here or choose a file; lines without an offset are ignored"),
        field="csv",
        typed=Typed.LIST,
        rest_value="[{topic, broker, queue_id, offset}]",
        parse=target_values.offset_list,
        given=past_offsets.of_the_list,
        own_queues=lambda reset, kept: tuple(past_offsets.listed_offsets(reset)),
        names_queues=True,
    ),
    # Asked of the reset that it undoes: neither the form nor REST offers it.
    ResetTarget(
        code=ResetKind.RESTORE,
        parse=target_values.restore,
        check=_check_restored,
        given=past_offsets.from_before,
        own_queues=lambda reset, kept: tuple(past_offsets.offsets_before(reset)),
    ),
)
TARGETS = {target.code: target for target in _ALL}
OFFERED = {code: target for code, target in TARGETS.items() if target.label}
