"""History of one group: in total, by topic, or by queue."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.db.models import Max
from django.utils.translation import gettext, gettext_lazy

from consumers.lake.one_group import TooManyRows
from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, PipelineRun, QueueSnapshot
from consumers.pipeline.upkeep import STEPS
from consumers.pipeline.wider import DAY_SECONDS
from consumers.queries.columns import as_list
from consumers.queries.declared import answer, public
from consumers.queries.windows import (
    OPEN_WINDOWS,
    TooManyPoints,
    WindowRange,
    kept_long,
    refuse_too_many,
    stored_group_windows,
    stored_queue_windows,
    window_range,
)
from consumers.vocabulary.reasons import ReasonCode
from consumers.vocabulary.unknown import NO_LAG_REASONS
from consumers.words.reasons import coded_reason
from consumers.words.unknown import reason_words

NOTHING_MORE: Mapping[str, str] = MappingProxyType({})


class Point(NamedTuple):
    """One window from `at`. Lag and time lag are those of its last reading; rates are messages per second.

    `unknown_reason` says why the window has no lag, and so nothing else; `unknown` why a window with a lag lacks more.
    `complete`: it was aggregated to its end. One that was not holds what was read of it so far.
    """

    at: datetime
    lag_messages: int | None
    time_lag_seconds: float | None
    consume_rate: float | None
    produce_rate: float | None
    readings: int | None
    unknown_reason: str | None
    unknown: Mapping[str, str] = NOTHING_MORE
    complete: bool = False


@dataclass(frozen=True)
class Series:
    """Null names mean all: a group's own series has none, a topic's has the topic."""

    topic: str | None
    broker: str | None
    queue_id: int | None
    points: list[Point]


@answer("Every window of the range is present; a window without data has nulls and the reason.")
@dataclass(frozen=True)
class History:
    since: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public(name="to"))
    step_seconds: int = field(metadata=public(of=STEPS))
    series: list[Series]


# The past of one group: itself, by topic or by queue.
# Windows per queue, out of the lake.

QueueKey = tuple[str, str, int]

KEY = ["topic", "broker", "queue_id"]

COLUMNS = (
    "start",
    "topic",
    "broker",
    "queue_id",
    "lag_messages",
    "time_lag_seconds",
    "consume_rate",
    "produce_rate",
    "readings",
    "unknown_reason",
)

# Of queues that are weighed against each other rows are held as columns, a twentieth of what a point takes.
ROWS_OF_A_POINT = 20

SECOND = 1_000_000


class Window(NamedTuple):
    """A tuple, because a page makes ten thousands of them."""

    lag_messages: int | None
    time_lag_seconds: float | None
    consume_rate: float | None
    produce_rate: float | None
    readings: int
    unknown_reason: str | None


def queue_windows(
    cluster: str,
    group: str,
    windows: WindowRange,
    *,
    named: Mapping[str, object] | None = None,
    most_behind: int | None = None,
) -> dict[QueueKey, dict[int, Window]]:
    """Per queue, in order, the windows that were aggregated, by their place in the range.

    `named`: of queues with this topic, broker or id alone. `most_behind`: of so many, those with the longest lag.
    Raises RangeError where that is more than is answered at once.
    """
    found = _rows(cluster, group, windows, named or {}, is_ranked=most_behind is not None)
    queues = found.group_by(KEY).aggregate([("lag_messages", "max")])
    if most_behind is not None and queues.num_rows > most_behind:
        queues = queues.sort_by([("lag_messages_max", "descending")]).slice(0, most_behind)
        found = found.join(queues.select(KEY), KEY, join_type="inner")
    refuse_too_many(windows, queues.num_rows)
    return _queues(found, windows)


def _rows(cluster: str, group: str, windows: WindowRange, named: Mapping[str, object], *, is_ranked: bool) -> pa.Table:
    step = windows.step_seconds
    most = settings.HISTORY_POINTS * (ROWS_OF_A_POINT if is_ranked else 1)
    lake, span = Lake.at(settings.CONSUMERSCOPE_LAKE), (windows.start, windows.until)
    try:
        return stored_queue_windows(lake, cluster, group, step, span, COLUMNS, equal=named, most_rows=most)
    except TooManyRows:
        sentence = gettext(
            "The group has more than %(most)s windows of %(step)s s in this range. Use a shorter range, or name queues."
        ) % {"most": f"{most:,}", "step": step}
        raise TooManyPoints(sentence) from None


def _queues(found: pa.Table, windows: WindowRange) -> dict[QueueKey, dict[int, Window]]:
    found = found.sort_by([(name, "ascending") for name in (*KEY, "start")])
    # Places as numbers: thousands of moments as objects take longer than all the rest.
    start = pc.cast(found["start"], pa.int64()).to_numpy()
    places = (start // SECOND - int(windows.start.timestamp())) // windows.step_seconds
    rows = zip(places.tolist(), *(as_list(found[name]) for name in COLUMNS[1:]), strict=True)
    queues: dict[QueueKey, dict[int, Window]] = defaultdict(dict)
    for row in rows:
        queues[row[1:4]][row[0]] = Window(*row[4:])
    return dict(queues)


# Windows of queues, summed by topic: a sum is known only where every queue of it is.

Number = TypeVar("Number", int, float)

UNREAD_QUEUE = gettext_lazy("a queue was not read in this window")


@dataclass(frozen=True)
class _Part:
    key: QueueKey
    first: int
    windows: dict[int, Window]


def topic_windows(queues: dict[QueueKey, dict[int, Window]], count: int) -> dict[str, dict[int, Window]]:
    """Per topic, by the place in the range. A queue belongs to its topic from its first window on."""
    topics: dict[str, list[_Part]] = {}
    for key, windows in queues.items():
        topics.setdefault(key[0], []).append(_Part(key, min(windows), windows))
    joined: dict[str, dict[int, Window]] = {}
    for topic, parts in topics.items():
        sums = {index: _sum(index, parts) for index in range(count)}
        joined[topic] = {index: window for index, window in sums.items() if window is not None}
    return joined


def _sum(index: int, parts: list[_Part]) -> Window | None:
    expected = [part for part in parts if part.first <= index]
    present = [part.windows[index] for part in expected if index in part.windows]
    if not present:
        return None
    if len(present) < len(expected):
        return Window(None, None, None, None, min(window.readings for window in present), str(UNREAD_QUEUE))
    # A queue that has no lag by its nature (never committed) leaves the sum of the others whole.
    counted = [window for window in present if window.unknown_reason not in NO_LAG_REASONS]
    lags = _known(window.lag_messages for window in counted)
    times = _known(window.time_lag_seconds for window in counted)
    consumed = _known(window.consume_rate for window in counted)
    produced = _known(window.produce_rate for window in counted)
    reasons = [window.unknown_reason for window in counted or present if window.lag_messages is None]
    return Window(
        lag_messages=sum(lags) if lags else None,
        time_lag_seconds=max(times) if times else None,
        consume_rate=sum(consumed) if consumed else None,
        produce_rate=sum(produced) if produced else None,
        readings=min(window.readings for window in present),
        unknown_reason=reasons[0] if reasons else None,
    )


def _known(numbers: Iterable[Number | None]) -> list[Number] | None:
    """All of them, or null where one is unknown or there is none: a part of a sum is not the sum."""
    values = list(numbers)
    known = [value for value in values if value is not None]
    return known if known and len(known) == len(values) else None


By = Literal["group", "topic", "queue"]

DAY = timedelta(days=1)

# A longer line has a point a day.
DAYS_OF_A_LINE = timedelta(days=31)

# Why a window that has a lag lacks the rest.
UNTOLD = {
    "time_lag_seconds": gettext_lazy("the polls of this window do not contain the answer"),
    "consume_rate": gettext_lazy("the consumer offset went back, or there is no poll before this window"),
    "produce_rate": gettext_lazy("the broker offset went back, or there is no poll before this window"),
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
        return coded_reason(ReasonCode.NOT_AGGREGATED)
    kept = kept_long(step_seconds)
    if start + timedelta(seconds=step_seconds) <= now - kept:
        return gettext("windows of %(step_seconds)s s are retained for %(days)s days") % {
            "step_seconds": step_seconds,
            "days": f"{kept / DAY:g}",
        }
    return coded_reason(ReasonCode.NOT_POLLED)


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
    return {name: str(reason) for name, reason in UNTOLD.items() if getattr(window, name) is None}
