"""How much of a group was retried, died and was consumed, by window and in all."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from consumers.models import ConsumerGroup, GroupWindow, PipelineRun
from consumers.pipeline.volumes.joined import whole_volumes
from consumers.pipeline.volumes.names import NOT_RECORDED, VOLUMES
from consumers.selectors.history.series import NO_READING, NOT_AGGREGATED
from consumers.selectors.history.window_range import WindowRange, window_range
from consumers.selectors.limits import limits
from consumers.selectors.overlay import iso

from .volume_rows import Volumes, VolumeTotals, VolumeWindow

MINUTE = timedelta(minutes=1)
NEVER_AGGREGATED = "no run of the pipeline has finished yet"


def volumes_of(
    cluster: str, group: str, since: datetime, until: datetime, now: datetime, step_seconds: int | None = None
) -> Volumes:
    """Every window of the range; missing ones are there, null with their reason.

    Raises ConsumerGroup.DoesNotExist where there is no such group, RangeError for a range of no use.
    """
    found = ConsumerGroup.objects.get(cluster__name=cluster, name=group)
    windows = window_range(since, until, step_seconds)
    done = PipelineRun.objects.filter(error=None, finished_at__lte=now).aggregate(until=Max("until"))["until"]
    known = _stored(found, windows)
    if done is not None:
        known |= _not_over(found, windows, done)
    shown = [_window(start, windows.step_seconds, known.get(start), done) for start in windows.starts]
    return Volumes(windows.start, windows.until, windows.step_seconds, _totals(shown, windows, done, now), shown)


def _stored(group: ConsumerGroup, windows: WindowRange) -> dict[datetime, dict[str, Any]]:
    rows = GroupWindow.objects.filter(
        group=group, step_seconds=windows.step_seconds, start__gte=windows.start, start__lt=windows.until
    )
    return {row["start"]: row for row in rows.values("start", "volumes_unknown", *VOLUMES)}


def _not_over(group: ConsumerGroup, windows: WindowRange, done: datetime) -> dict[datetime, dict[str, Any]]:
    """The wide window that was not over when it was judged last: the sum of its minutes up to then."""
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


def _window(start: datetime, step_seconds: int, row: Mapping[str, Any] | None, done: datetime | None) -> VolumeWindow:
    end = start + timedelta(seconds=step_seconds)
    is_open = done is None or end > done
    if row is None:
        reason = NO_READING if done is not None and start < done else NOT_AGGREGATED
        return VolumeWindow(start, end, None, None, None, None, is_open, dict.fromkeys(VOLUMES, reason))
    unknown = {name: _reason(row, name) for name in VOLUMES if row[name] is None}
    return VolumeWindow(start, end, **{name: row[name] for name in VOLUMES}, is_open=is_open, unknown=unknown)


def _reason(row: Mapping[str, Any], name: str) -> str:
    return row["volumes_unknown"].get(name, NOT_RECORDED)


def _totals(shown: Sequence[VolumeWindow], windows: WindowRange, done: datetime | None, now: datetime) -> VolumeTotals:
    """Of the windows that were judged; that the newest few seconds are not makes no total unknown."""
    counted = [window for window in shown if done is not None and window.at < done]
    late = _late(windows, done, now)
    sums: dict[str, int | None] = {}
    at_least: dict[str, int | None] = {}
    unknown: dict[str, str] = {}
    for name in VOLUMES:
        known = [value for window in counted if (value := getattr(window, name)) is not None]
        at_least[name] = sum(known) if known else None
        reason = late or _missing(name, counted, done)
        sums[name] = None if reason else at_least[name]
        if reason:
            unknown[name] = reason
    until = max(windows.start, min(windows.until, done)) if done is not None else windows.start
    return VolumeTotals(windows.start, until, **sums, at_least=at_least, unknown=unknown)


def _late(windows: WindowRange, done: datetime | None, now: datetime) -> str | None:
    """Why the end of the range is not known, beyond what is always a little late."""
    if done is None:
        return NEVER_AGGREGATED
    reached = min(windows.until, now)
    return f"not judged since {iso(done)}" if done < min(reached, limits().judged_since(now)) else None


def _missing(name: str, counted: Sequence[VolumeWindow], done: datetime | None) -> str | None:
    """Where readings are rarer than windows, one without a reading is no hole: the next one counts from before it."""
    if not counted or done is None:
        return NOT_AGGREGATED
    reasons: list[str] = []
    known_at = done
    for window in reversed(counted):
        reason = window.unknown.get(name)
        if reason is None:
            known_at = window.at
        elif reason != NO_READING or known_at - window.at >= _reach():
            reasons.append(reason)
    if not reasons:
        return None
    [(commonest, _)] = Counter(reasons).most_common(1)
    return f"{len(reasons)} of {len(counted)} windows are not known: {commonest}"
