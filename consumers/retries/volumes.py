"""How much of a group was retried, dead-lettered and consumed, by window and in all."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from django.utils.translation import gettext, gettext_lazy

from consumers.models import ConsumerGroup, GroupWindow
from consumers.pipeline.volumes import VOLUMES, whole_volumes
from consumers.queries.declared import answer, public
from consumers.queries.history import missing_reason
from consumers.queries.limits import evaluated_until, limits
from consumers.queries.windows import WindowRange, stored_group_windows, window_range
from consumers.retries.telescope import Telescope
from consumers.vocabulary.reasons import ReasonCode, VolumeReason, reason_code
from consumers.words.reasons import coded_reason, volume_words
from consumers.words.spans import when

# Volumes: how many messages went into retry, came out of it, were dead-lettered, were consumed.
#
# `into_retry` counts redeliveries: a message that fails three times is three. `consumed` is how far the offsets of
# the group's own topics moved.
OF_A_RANGE = "Messages of [from, to). `into_retry` has one for each redelivery."


@answer(OF_A_RANGE, last=("unknown", "to", "is_open"))
@dataclass(frozen=True)
class VolumeWindow:
    """Messages of [at, until). Null stands with its reason in `unknown`. `is_open`: not evaluated to its end so far."""

    at: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public(name="to"))
    into_retry: int | None
    out_of_retry: int | None
    into_dlq: int | None
    consumed: int | None = field(metadata=public("Of the group's own topics"))
    is_open: bool = field(metadata=public("Not completely evaluated yet"))
    unknown: Mapping[str, str]


@answer(OF_A_RANGE, last=("unknown", "to", "at_least", "known_since"))
@dataclass(frozen=True)
class VolumeTotals:
    """Messages of [since, until): known between the first and the last reading of the range, whatever windows lie in
    between. `at_least` has what is known of each, null where nothing is; `known_since` the moment from which a null one
    counts, where something before it is not known; `unknown` the reason of each null sum."""

    since: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public("Evaluated up to then", name="to"))
    into_retry: int | None
    out_of_retry: int | None
    into_dlq: int | None
    consumed: int | None = field(metadata=public("Of the group's own topics"))
    at_least: Mapping[str, int | None]
    known_since: Mapping[str, datetime] = field(
        metadata=public(
            "For each null: the point in time from which `at_least` counts, where there is no data before it"
        )
    )
    unknown: Mapping[str, str]


@dataclass(frozen=True)
class Volumes:
    """Every window of the range, oldest first, and their totals up to what was evaluated last."""

    since: datetime
    until: datetime
    step_seconds: int
    totals: VolumeTotals
    windows: list[VolumeWindow]


MINUTE = timedelta(minutes=1)

NEVER_AGGREGATED = gettext_lazy("no run of the pipeline has finished yet")


def volumes_of(
    cluster: str, group: str, since: datetime, until: datetime, now: datetime, step_seconds: int | None = None
) -> Volumes:
    """Every window of the range; missing ones are there, null with their reason.

    Raises ConsumerGroup.DoesNotExist where there is no such group, RangeError for a range of no use.
    """
    found = ConsumerGroup.objects.select_related("cluster").get(cluster__name=cluster, name=group)
    windows = window_range(since, until, step_seconds, now=now)
    done = evaluated_until(now)
    known = _stored(found, windows)
    if done is not None:
        known |= _not_over(found, windows, done)
    last = max((start for start in known), default=done)
    ended = last if done is None else max(last or done, done)
    shown = [_window(start, windows.step_seconds, known.get(start), done, ended, now) for start in windows.starts]
    totals = _totals(shown, windows, done, now, Telescope(found, now, limits()))
    return Volumes(windows.start, windows.until, windows.step_seconds, totals, shown)


def _stored(group: ConsumerGroup, windows: WindowRange) -> dict[datetime, dict[str, Any]]:
    rows = stored_group_windows([group.pk], windows, ["volumes_unknown", *VOLUMES])
    return {row["start"]: row for row in rows}


def _not_over(group: ConsumerGroup, windows: WindowRange, done: datetime) -> dict[datetime, dict[str, Any]]:
    """The wide window that was not over when it was evaluated last: the sum of its minutes up to then."""
    step = timedelta(seconds=windows.step_seconds)
    start = windows.start + (done - windows.start) // step * step
    if step == MINUTE or start == done or not windows.start <= start < windows.until:
        return {}
    minutes = GroupWindow.objects.filter(group=group, step_seconds=60, start__gte=start, start__lt=done)
    rows = list(minutes.order_by("start").values("start", "volumes_unknown", *VOLUMES))
    return {start: whole_volumes(rows, MINUTE, start, done, _reach())} if rows else {}


def _reach() -> timedelta:
    """How long before a window the reading may lie that it is counted from."""
    return timedelta(seconds=limits().late_seconds)


def _window(
    start: datetime,
    step_seconds: int,
    row: Mapping[str, Any] | None,
    done: datetime | None,
    ended: datetime | None,
    now: datetime,
) -> VolumeWindow:
    """`ended`: what ends by then is over for the pipeline. It goes through time in order, so that is so of each window
    before the newest, also after a run that failed."""
    end = start + timedelta(seconds=step_seconds)
    is_open = ended is None or end > ended
    if row is None:
        reason = missing_reason(start, step_seconds, done, now)
        return VolumeWindow(start, end, None, None, None, None, is_open, dict.fromkeys(VOLUMES, reason))
    unknown = {name: _reason(row, name) for name in VOLUMES if row[name] is None}
    return VolumeWindow(start, end, **{name: row[name] for name in VOLUMES}, is_open=is_open, unknown=unknown)


def _reason(row: Mapping[str, Any], name: str) -> str:
    return volume_words(row["volumes_unknown"].get(name, VolumeReason.NOT_RECORDED))


def _totals(
    shown: Sequence[VolumeWindow], windows: WindowRange, done: datetime | None, now: datetime, telescope: Telescope
) -> VolumeTotals:
    """Of the windows that were evaluated; that the newest few seconds are not makes no total unknown."""
    counted = [window for window in shown if done is not None and window.at < done]
    late = _late(windows, done, now)
    totals = {name: _total(name, counted, done, telescope) for name in VOLUMES}
    unknown = {name: reason for name, total in totals.items() if (reason := late or total.reason)}
    until = max(windows.start, min(windows.until, done)) if done is not None else windows.start
    return VolumeTotals(
        windows.start,
        until,
        **{name: None if name in unknown else total.known for name, total in totals.items()},
        at_least={name: total.known for name, total in totals.items()},
        known_since={name: total.since for name, total in totals.items() if name in unknown and total.since},
        unknown=unknown,
    )


class _Total(NamedTuple):
    """`since`: when what is known begins, where that is after the range does."""

    known: int | None
    since: datetime | None
    reason: str | None


def _total(name: str, counted: Sequence[VolumeWindow], done: datetime | None, telescope: Telescope) -> _Total:
    """Windows that know it, and between them what the readings at both ends of those that do not tell."""
    if not counted or done is None:
        return _Total(None, None, coded_reason(ReasonCode.NOT_AGGREGATED))
    start, known, reasons, since = counted[0].at, [], list[str](), list[datetime]()
    not_before: datetime | None = None
    for is_hole, run in groupby(_marked(name, counted, done), key=lambda one: one[0]):
        of_run = [window for _, window in run]
        if not is_hole:
            known += [value for window in of_run if (value := getattr(window, name)) is not None]
            since.append(of_run[0].at)
            continue
        begin = of_run[0].at
        moved = telescope.moved(name, begin, min(of_run[-1].until, done), is_first=begin == start)
        if moved is not None and moved.messages is not None:
            known.append(moved.messages)
            since.append(moved.since)
        if moved is None or not (moved.is_whole or moved.is_since):
            reasons += [window.unknown[name] for window in of_run]
        elif not moved.is_whole:
            not_before = moved.since
    reason = _why(reasons, len(counted)) or (
        gettext("not read before %(at)s") % {"at": when(not_before)} if not_before else None
    )
    first = min(since, default=None)
    return _Total(sum(known) if known else None, first if first and first > start else None, reason)


def _marked(name: str, counted: Sequence[VolumeWindow], done: datetime) -> Iterator[tuple[bool, VolumeWindow]]:
    """Each window, and whether it is a hole. Where readings are rarer than windows one without a reading is none: the
    next one counts from before it."""
    marked: list[tuple[bool, VolumeWindow]] = []
    known_at = done
    for window in reversed(counted):
        reason = window.unknown.get(name)
        if reason is None:
            known_at = window.at
        marked.append(
            (
                reason is not None
                and (reason_code(reason) is not ReasonCode.NOT_POLLED or known_at - window.at >= _reach()),
                window,
            )
        )
    return reversed(marked)


def _why(reasons: Sequence[str], windows: int) -> str | None:
    if not reasons:
        return None
    [(commonest, _)] = Counter(reasons).most_common(1)
    return gettext("%(unknown)s of %(windows)s windows are unknown: %(reason)s") % {
        "windows": windows,
        "unknown": len(reasons),
        "reason": commonest,
    }


def _late(windows: WindowRange, done: datetime | None, now: datetime) -> str | None:
    """Why the end of the range is not known, beyond what is always a little late."""
    if done is None:
        return str(NEVER_AGGREGATED)
    reached = min(windows.until, now)
    return (
        gettext("not evaluated since %(since)s") % {"since": when(done)}
        if done < min(reached, limits().judged_since(now))
        else None
    )


# The volumes of all groups in the newest minute that was evaluated whole.
class MinuteVolumes(NamedTuple):
    """Messages; null is not known."""

    into_retry: int | None
    out_of_retry: int | None
    into_dlq: int | None
    consumed: int | None


def minute_volumes(judged_until: datetime) -> dict[int, MinuteVolumes]:
    """By group id; absent where the minute was not judged. One query."""
    start = judged_until.replace(second=0, microsecond=0) - MINUTE
    rows = GroupWindow.objects.filter(step_seconds=60, start=start).values_list("group_id", *MinuteVolumes._fields)
    return {group: MinuteVolumes(*numbers) for group, *numbers in rows.iterator()}
