"""The past of one group: itself, by topic or by queue."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Literal

from django.db.models import Max

from consumers.models import ConsumerGroup, PipelineRun, QueueSnapshot
from consumers.pipeline.wider import DAY_SECONDS
from consumers.words.unknown import reason_words

from .queue_windows import QueueKey, Window, queue_windows
from .rows import History, Point, Series
from .stored_windows import stored_group_windows
from .topic_windows import topic_windows
from .window_range import OPEN_WINDOWS, WindowRange, kept_long, window_range

By = Literal["group", "topic", "queue"]
DAY = timedelta(days=1)
NOT_AGGREGATED = "not aggregated yet"
# A longer line has a point a day.
DAYS_OF_A_LINE = timedelta(days=31)
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
    named: Mapping[str, object] | None = None,
    most_behind: int | None = None,
) -> History | None:
    """Every window of the range; None when there is no such group. Raises RangeError for a range of no use, and where
    queues have more windows than HISTORY_POINTS.

    Windows per queue come from the lake and have only closed windows. `named`: of queues with this topic, broker or
    queue id alone; `most_behind`: of so many queues, those with the longest lag.
    """
    found = ConsumerGroup.objects.filter(cluster__name=cluster, name=group).first()
    if found is None:
        return None
    queue_count = 1 if by == "group" else _queue_count(found, named or {}, most_behind)
    windows = window_range(since, until, step_seconds, queues=queue_count, now=now)
    gaps = _Gaps.of(windows, now)
    if by == "group":
        series = [Series(None, None, None, _points(windows, _group_windows(found, windows), gaps))]
    elif by == "topic":
        topics = topic_windows(queue_windows(cluster, group, windows, named=named), windows.count)
        series = [Series(topic, None, None, _points(windows, known, gaps)) for topic, known in topics.items()]
    else:
        queues: dict[QueueKey, dict[int, Window]] = queue_windows(
            cluster, group, windows, named=named, most_behind=most_behind
        )
        series = [Series(*key, _points(windows, known, gaps)) for key, known in queues.items()]
    return History(windows.start, windows.until, windows.step_seconds, series)


def _queue_count(group: ConsumerGroup, named: Mapping[str, object], most: int | None) -> int:
    """As many as it has by now: that spares reading what would be refused. The lake says how many it had."""
    names = {"topic": "queue__topic__name", "broker": "queue__broker", "queue_id": "queue__queue_id"}
    rows = QueueSnapshot.objects.filter(group=group, **{names[name]: value for name, value in named.items()})
    return max(1, min(rows.count(), most) if most is not None else rows.count())


def sparklines(lags: Mapping[int, int | None], since: datetime, until: datetime) -> dict[int, list[int | None]]:
    """The lag of each group at every complete window of the range, null where it is not known, and last its lag at
    this moment: `lags`, by group id. Two queries, four for windows of days."""
    # A list of groups has a line for each: a quarter in hours is more than a line of its size shows.
    windows = window_range(since, until, DAY_SECONDS if until - since > DAYS_OF_A_LINE else None)
    rows = stored_group_windows(list(lags), windows, ["lag_messages"])
    known = [(row["group_id"], windows.index(row["start"]), row["lag_messages"]) for row in rows]
    complete = windows.complete_until(aggregated_until(until), (index for _, index, _ in known))
    # That the newest windows are not complete is so at every moment, and no gap.
    shown = max(complete, windows.count - OPEN_WINDOWS)
    lines: dict[int, list[int | None]] = {pk: [None] * shown for pk in lags}
    for pk, index, lag in known:
        if index < complete:
            lines[pk][index] = lag
    return {pk: [*line, lags[pk]] for pk, line in lines.items()}


def _group_windows(group: ConsumerGroup, windows: WindowRange) -> dict[int, Window]:
    rows = stored_group_windows([group.pk], windows, Window._fields)
    return {windows.index(row["start"]): Window(*(row[name] for name in Window._fields)) for row in rows}


def aggregated_until(now: datetime) -> datetime | None:
    """Up to when the pipeline has aggregated readings; null before its first run."""
    runs = PipelineRun.objects.filter(error=None, finished_at__lte=now)
    found: datetime | None = runs.aggregate(until=Max("until"))["until"]
    return found


def missing_reason(start: datetime, step_seconds: int, done: datetime | None, now: datetime) -> str:
    """Why there is no window from `start`. `done`: up to when the pipeline has aggregated."""
    if done is None or start >= done:
        return NOT_AGGREGATED
    kept = kept_long(step_seconds)
    if start + timedelta(seconds=step_seconds) <= now - kept:
        return f"windows of {step_seconds} s are kept for {kept / DAY:g} days"
    return NO_READING


@dataclass(frozen=True)
class _Gaps:
    """`reasons`: why each window would be missing. The pipeline has not come to it, or there was nothing to read."""

    reasons: list[str]
    done: datetime | None

    @classmethod
    def of(cls, windows: WindowRange, now: datetime) -> "_Gaps":
        done = aggregated_until(now)
        return cls([missing_reason(start, windows.step_seconds, done, now) for start in windows.starts], done)


def _points(windows: WindowRange, known: dict[int, Window], gaps: _Gaps) -> list[Point]:
    points: list[Point] = []
    complete_until = windows.complete_until(gaps.done, known)
    # Few differ.
    words = cache(reason_words)
    for number, start in enumerate(windows.starts):
        window, complete = known.get(number), number < complete_until
        if window is None:
            points.append(Point(start, None, None, None, None, None, gaps.reasons[number], complete=complete))
        elif window.unknown_reason is None:
            points.append(Point(start, *window, _unknown(window), complete))
        else:
            points.append(
                Point(start, *window._replace(unknown_reason=words(window.unknown_reason)), complete=complete)
            )
    return points


def _unknown(window: Window) -> dict[str, str]:
    # Most know all, and a page makes ten thousands of them.
    if None not in window[:-1]:
        return {}
    return {name: reason for name, reason in UNTOLD.items() if getattr(window, name) is None}
