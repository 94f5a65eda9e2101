"""History of one group: in total, by topic, or by queue."""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, cached_property
from itertools import groupby, islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from consumers.lake.encoded import encoded, indices
from consumers.lake.one_group import TooManyRows
from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, QueueSnapshot
from consumers.pipeline.upkeep import DAY_SECONDS, STEPS
from consumers.vocabulary.reasons import ReasonCode
from consumers.vocabulary.states import NO_LAG_REASONS
from consumers.words.reasons import coded_reason, reason_words

from .declared import answer, public
from .limits import evaluated_until
from .windows import (
    OPEN_WINDOWS,
    TooManyPoints,
    WindowRange,
    refuse_too_many,
    retained_long,
    stored_group_windows,
    stored_queue_windows,
    window_range,
)


def as_list(column: pa.ChunkedArray) -> list[Any]:
    """The same as `to_pylist` for texts and numbers."""
    whole = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_string(whole.type):
        column = encoded(whole)
        texts = [*column.dictionary.to_pylist(), None]
        return [texts[code] for code in indices(column).tolist()]
    if not whole.null_count:
        return list(whole.to_numpy().tolist())
    values, known = whole.fill_null(0).to_numpy().tolist(), whole.is_valid().to_numpy(zero_copy_only=False).tolist()
    return [value if is_known else None for value, is_known in zip(values, known, strict=True)]


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
) -> pa.Table:
    """The windows that were aggregated, COLUMNS in the order of queues and times, with their `place` in the range.

    `named`: of queues with this topic, broker or id alone. `most_behind`: of so many, those with the longest lag.
    Raises RangeError where that is more than is answered at once.
    """
    found = _rows(cluster, group, windows, named or {}, is_ranked=most_behind is not None)
    queues = found.group_by(KEY).aggregate([("lag_messages", "max")])
    if most_behind is not None and queues.num_rows > most_behind:
        queues = queues.sort_by([("lag_messages_max", "descending")]).slice(0, most_behind)
        found = found.join(queues.select(KEY), KEY, join_type="inner")
    refuse_too_many(windows, queues.num_rows)
    found = found.sort_by([(name, "ascending") for name in (*KEY, "start")])
    # Places as numbers: thousands of moments as objects take longer than all the rest.
    start = pc.cast(found["start"], pa.int64()).to_numpy()
    place = (start // SECOND - int(windows.start.timestamp())) // windows.step_seconds
    return found.append_column("place", pa.array(place))


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


def by_queue(found: pa.Table) -> dict[QueueKey, dict[int, Window]]:
    """The windows of each queue by their place. `found` is in the order of queues."""
    known = map(Window._make, zip(*(as_list(found[name]) for name in Window._fields), strict=True))
    placed = zip(as_list(found["place"]), known, strict=True)
    keys = zip(*(as_list(found[name]) for name in KEY), strict=True)
    return {key: dict(islice(placed, len(list(same)))) for key, same in groupby(keys)}


# Windows of queues, summed by topic: a sum is known only where every queue of it is.

UNREAD_QUEUE = gettext_lazy("a queue was not read in this window")

# How a number of queues becomes that of their topic.
SUMS = [("lag_messages", "sum"), ("time_lag_seconds", "max"), ("consume_rate", "sum"), ("produce_rate", "sum")]


def by_topic(found: pa.Table) -> dict[str, dict[int, Window]]:
    """The sums of each topic by their place. A queue belongs to its topic from its first window on."""
    lagless = pc.if_else(pc.is_null(found["lag_messages"]), found["unknown_reason"], None)
    found = found.append_column("lagless_reason", lagless)
    # A queue that has no lag by its nature (never committed) leaves the sum of the others whole.
    counted = _sums(found.filter(pc.invert(pc.is_in(found["unknown_reason"], pa.array(NO_LAG_REASONS)))))
    began: dict[str, list[int]] = defaultdict(list)
    for row in found.group_by(KEY).aggregate([("place", "min")]).to_pylist():
        insort(began[row["topic"]], row["place_min"])
    topics: dict[str, dict[int, Window]] = defaultdict(dict)
    for (topic, place), present in _sums(found).items():
        is_read = present["count_all"] == bisect_right(began[topic], place)
        row = counted.get((topic, place))
        numbers = [_known(row, name, how) if row and is_read else None for name, how in SUMS]
        reason = (row or present)["lagless_reason_first"] if is_read else str(UNREAD_QUEUE)
        topics[topic][place] = Window._make([*numbers, present["readings_min"], reason])
    return dict(topics)


def _known(sums: dict[str, Any], name: str, how: str) -> Any:
    """Null where one queue does not know the number: a part of a sum is not the sum."""
    return sums[f"{name}_{how}"] if sums[f"{name}_count"] == sums["count_all"] else None


def _sums(found: pa.Table) -> dict[tuple[str, int], dict[str, Any]]:
    """By topic and place, in this order, the sums of its queues, and how many know each number."""
    asked = [*SUMS, *((name, "count") for name, _ in SUMS), ("readings", "min"), ("lagless_reason", "first")]
    # In the order of queues: the first reason is that of the first queue.
    sums = found.group_by(["topic", "place"], use_threads=False).aggregate([*asked, ([], "count_all")]).sort_by("topic")
    rows = (dict(zip(sums.column_names, row, strict=True)) for row in zip(*map(as_list, sums.columns), strict=True))
    return {(row["topic"], row["place"]): row for row in rows}


By = Literal["group", "topic", "queue"]

DAY = timedelta(days=1)

# A longer line has a point a day.
DAYS_OF_A_LINE = timedelta(days=31)

# Why a window that has a lag lacks the rest.
WHY_UNKNOWN = {
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
    gaps = _Gaps(windows, evaluated_until(now), now)
    if by == "group":
        series = [Series(None, None, None, _points(_group_windows(found, windows), gaps))]
    elif by == "topic":
        topics = by_topic(queue_windows(cluster, group, windows, named=named))
        series = [Series(topic, None, None, _points(known, gaps)) for topic, known in topics.items()]
    else:
        queues = by_queue(queue_windows(cluster, group, windows, named=named, most_behind=most_behind))
        series = [Series(*key, _points(known, gaps)) for key, known in queues.items()]
    return History(windows.start, windows.until, windows.step_seconds, series)


def _queue_count(group: ConsumerGroup, named: Mapping[str, object], most: int | None) -> int:
    """As many as it has by now: that spares reading what would be refused. The lake says how many it had."""
    names = {"topic": "queue__topic__name", "broker": "queue__broker", "queue_id": "queue__queue_id"}
    rows = QueueSnapshot.objects.filter(group=group, **{names[name]: value for name, value in named.items()})
    return max(1, min(rows.count(), most) if most is not None else rows.count())


def sparklines(
    lags: Mapping[int, int | None], since: datetime, until: datetime, *, is_past: bool = False
) -> dict[int, list[int | None]]:
    """The lag of each group at every complete window of the range, null where it is not known, and last its lag at
    this moment, unless the range `is_past`: `lags`, by group id. Two queries, four for windows of days."""
    # A list of groups has a line for each: a quarter in hours is more than a line of its size shows.
    windows = window_range(since, until, DAY_SECONDS if until - since > DAYS_OF_A_LINE else None)
    rows = stored_group_windows(list(lags), windows, ["lag_messages"])
    known = [(row["group_id"], windows.index(row["start"]), row["lag_messages"]) for row in rows]
    complete = windows.complete_until(evaluated_until(until), (index for _, index, _ in known))
    # That the newest windows are not complete is so at every moment, and no gap.
    shown = max(complete, windows.count - OPEN_WINDOWS)
    lines: dict[int, list[int | None]] = {pk: [None] * shown for pk in lags}
    for pk, index, lag in known:
        if index < complete:
            lines[pk][index] = lag
    return lines if is_past else {pk: [*line, lags[pk]] for pk, line in lines.items()}


def _group_windows(group: ConsumerGroup, windows: WindowRange) -> dict[int, Window]:
    rows = stored_group_windows([group.pk], windows, Window._fields)
    return {windows.index(row["start"]): Window(*(row[name] for name in Window._fields)) for row in rows}


def missing_reason(start: datetime, step_seconds: int, done: datetime | None, now: datetime) -> str:
    """Why there is no window from `start`. `done`: up to when the pipeline has aggregated."""
    if done is None or start >= done:
        return coded_reason(ReasonCode.NOT_AGGREGATED)
    retention = retained_long(step_seconds)
    if start + timedelta(seconds=step_seconds) <= now - retention:
        return gettext("windows of %(step_seconds)s s are retained for %(days)s days") % {
            "step_seconds": step_seconds,
            "days": f"{retention / DAY:g}",
        }
    return coded_reason(ReasonCode.NOT_POLLED)


@dataclass(frozen=True)
class _Gaps:
    """The pipeline has aggregated up to `done`."""

    windows: WindowRange
    done: datetime | None
    now: datetime

    @cached_property
    def reasons(self) -> list[str]:
        """Why each window would be missing. The pipeline has not come to it, or there was nothing to read."""
        step = self.windows.step_seconds
        return [missing_reason(start, step, self.done, self.now) for start in self.windows.starts]


def _points(known: dict[int, Window], gaps: _Gaps) -> list[Point]:
    points: list[Point] = []
    complete_until = gaps.windows.complete_until(gaps.done, known)
    # Few differ.
    words = cache(reason_words)
    for number, start in enumerate(gaps.windows.starts):
        window, complete = known.get(number), number < complete_until
        if window is None:
            points.append(Point(start, None, None, None, None, None, gaps.reasons[number], complete=complete))
        elif window.unknown_reason is None:
            # Most know all, and a page makes ten thousands of them.
            unknown = NOTHING_MORE if window.count(None) == 1 else _unknown(window)
            points.append(Point(start, *window, unknown, complete))
        else:
            points.append(
                Point(start, *window._replace(unknown_reason=words(window.unknown_reason)), complete=complete)
            )
    return points


def _unknown(window: Window) -> dict[str, str]:
    return {name: str(reason) for name, reason in WHY_UNKNOWN.items() if getattr(window, name) is None}
