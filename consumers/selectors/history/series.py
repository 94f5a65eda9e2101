"""The past of one group: itself, by topic or by queue."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from django.db.models import Max

from consumers.models import ConsumerGroup, GroupWindow, PipelineRun

from .queue_windows import QueueKey, Window, queue_windows
from .rows import History, Point, Series
from .topic_windows import topic_windows
from .window_range import WindowRange, window_range

By = Literal["group", "topic", "queue"]
NOT_AGGREGATED = "not aggregated yet"
NO_READING = "no reading in this window"
# Why a window that has a lag lacks the rest.
UNTOLD = {
    "time_lag_seconds": "the readings of this window do not tell",
    "consume_rate": "the consumer offset went back, or no reading precedes this window",
    "produce_rate": "the broker offset went back, or no reading precedes this window",
}


def group_history(
    cluster: str,
    group: str,
    *,
    since: datetime,
    until: datetime,
    now: datetime,
    step_seconds: int | None = None,
    by: By = "group",
) -> History | None:
    """Every window of the range; None when there is no such group. Raises RangeError for a range of no use.

    Windows per queue come from the lake and have only closed windows.
    """
    found = ConsumerGroup.objects.filter(cluster__name=cluster, name=group).first()
    if found is None:
        return None
    windows = window_range(since, until, step_seconds)
    gaps = _gaps(windows, now)
    if by == "group":
        series = [Series(None, None, None, _points(windows, _group_windows(found, windows), gaps))]
    elif by == "topic":
        topics = topic_windows(queue_windows(cluster, group, windows), windows.count)
        series = [Series(topic, None, None, _points(windows, known, gaps)) for topic, known in topics.items()]
    else:
        queues: dict[QueueKey, dict[int, Window]] = queue_windows(cluster, group, windows)
        series = [Series(*key, _points(windows, known, gaps)) for key, known in queues.items()]
    return History(windows.start, windows.until, windows.step_seconds, series)


def sparklines(group_ids: Sequence[int], since: datetime, until: datetime) -> dict[int, list[int | None]]:
    """The lag of each group at every window of the range, null where it is not known. One query."""
    windows = window_range(since, until)
    lines: dict[int, list[int | None]] = {pk: [None] * windows.count for pk in group_ids}
    rows = GroupWindow.objects.filter(
        group__in=list(group_ids), step_seconds=windows.step_seconds, start__gte=windows.start, start__lt=windows.until
    )
    for pk, start, lag in rows.values_list("group_id", "start", "lag_messages"):
        lines[pk][windows.index(start)] = lag
    return lines


def _group_windows(group: ConsumerGroup, windows: WindowRange) -> dict[int, Window]:
    rows = GroupWindow.objects.filter(
        group=group, step_seconds=windows.step_seconds, start__gte=windows.start, start__lt=windows.until
    )
    return {
        windows.index(row.start): Window(
            row.lag_messages,
            row.time_lag_seconds,
            row.consume_rate,
            row.produce_rate,
            row.readings,
            row.unknown_reason,
        )
        for row in rows
    }


def _gaps(windows: WindowRange, now: datetime) -> list[str]:
    """Why a window would be missing: the pipeline has not come to it, or there was nothing to read."""
    done = PipelineRun.objects.filter(error=None, finished_at__lte=now).aggregate(until=Max("until"))["until"]
    judged = windows.start if done is None else done
    return [NO_READING if start < judged else NOT_AGGREGATED for start in windows.starts]


def _points(windows: WindowRange, known: dict[int, Window], gaps: list[str]) -> list[Point]:
    points: list[Point] = []
    for number, start in enumerate(windows.starts):
        window = known.get(number)
        if window is None:
            points.append(Point(start, None, None, None, None, None, gaps[number]))
        elif window.unknown_reason is None:
            points.append(Point(start, *window, _unknown(window)))
        else:
            points.append(Point(start, *window))
    return points


def _unknown(window: Window) -> dict[str, str]:
    return {name: reason for name, reason in UNTOLD.items() if getattr(window, name) is None}
