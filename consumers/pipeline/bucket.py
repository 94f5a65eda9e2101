"""One bucket of groups over one slice of time: its rows of the lake's files in, tables for lake and database out.

Whoever runs it, a Spark task or a test, needs numpy and pyarrow: no Spark, no Django, no clock. All queues of a group
are in one bucket, so that nothing has to be brought together afterwards.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.knot_days import day_start
from consumers.lake.schemas import TABLES
from consumers.lake.store import DAY, Lake
from consumers.pipeline.kernel.columns import (
    QUEUE,
    Columns,
    beside,
    bools,
    first_rows,
    key_numbers,
    matches,
    numbers,
    times,
)
from consumers.pipeline.kernel.readings import OFFSETS, Gathered, coded, written_out
from consumers.pipeline.kernel.segments import MICROSECONDS, at_rows
from consumers.pipeline.rules.order import ordered_rules
from consumers.pipeline.rules.rule import Rule, values
from consumers.rocketmq.names import DLQ_PREFIX
from consumers.vocabulary.times import from_microseconds, microseconds

from .durations import Durations
from .inputs import SliceInputs
from .kernel.anchors import new_knots
from .kernel.evidence import MINUTES, minute_lists, with_evidence
from .kernel.falls import offset_falls
from .kernel.group_states import evaluated, group_states
from .kernel.group_windows import dead_letter_sums, whole_group_windows, wide_windows
from .kernel.numbers import Seen
from .kernel.readings import Hands, no_hands
from .kernel.time_lag import History, TimeLags, time_lags
from .kernel.trend import minutes_needed
from .kernel.windows import minute_windows, queue_windows
from .reading_files import with_dictionaries
from .rows import Only, Rows, Span
from .slices import MINUTE, TEN_MINUTES, floor

KEPT = [
    "lag_messages",
    "consume_rate",
    "produce_rate",
    "time_lag_seconds",
    "time_lag_kind",
    "time_lag_error_seconds",
    "newest_reason",
    "expires_unconsumed_seconds",
    "reserved_seconds",
]


def judge(columns: Columns, durations: Durations) -> pa.Table:
    """The queue columns, kind, state, rule, detail (JSON), since (null: from when first judged), provisional,
    has_full_window, and the numbers that groups are summed from."""
    rules = ordered_rules(durations)
    decided_by = decide(columns, rules)
    full = has_full_window(columns, durations)
    is_short = ~full & columns.is_known("known_age_seconds")
    evaluated = {
        "state": pa.array([rule.state for rule in rules]).take(pa.array(decided_by)),
        "rule": pa.array([rule.code for rule in rules]).take(pa.array(decided_by)),
        "provisional": pa.array(np.array([rule.is_provisional for rule in rules])[decided_by] | is_short),
        "has_full_window": pa.array(full),
        **_evidence(columns, rules, decided_by),
    }
    retained = columns.table.select([*QUEUE, "kind", *KEPT])
    for name, column in evaluated.items():
        retained = retained.append_column(name, column)
    return retained


def decide(columns: Columns, rules: Sequence[Rule]) -> np.ndarray:
    """The place of the first rule that holds for each queue. The last rule holds always, so one does."""
    decided = np.full(columns.count, -1)
    for place, rule in enumerate(rules):
        decided[(decided < 0) & rule.mask(columns)] = place
    return decided


def has_full_window(columns: Columns, durations: Durations) -> np.ndarray:
    """One missed reading changes nothing: the window may be a few polls short at its ends."""
    reach = durations.span_seconds - 3 * durations.poll_seconds
    return (columns["readings_seen"] >= durations.window_readings) & (columns["seen_seconds"] >= reach)


def _evidence(columns: Columns, rules: Sequence[Rule], decided_by: np.ndarray) -> dict[str, pa.Array]:
    details = np.full(columns.count, None, object)
    since = np.full(columns.count, np.nan)
    for place in np.unique(decided_by):
        rows, rule = np.flatnonzero(decided_by == place), rules[place]
        chosen = columns.take(rows)
        details[rows] = _details(rule, chosen)
        if rule.since_us is not None:
            since[rows] = numbers(values(rule.since_us, chosen))
    return {"detail": pa.array(details, pa.string()), "since": times(since)}


def _details(rule: Rule, chosen: Columns) -> np.ndarray:
    """As JSON. What was not known is left out."""
    found = pa.table({name: values(evidence, chosen) for name, evidence in rule.detail.items()})
    # Most queues of a rule have the same numbers, such as no lag.
    numbers = key_numbers(found, found.column_names) if rule.detail else np.zeros(chosen.count, np.int64)
    distinct = found.take(pa.array(first_rows(numbers))).to_pylist() if rule.detail else [{}]
    texts = np.empty(len(distinct), object)
    texts[:] = [_text(one) for one in distinct]
    return texts[numbers]


def _text(numbers: Mapping[str, object]) -> str:
    return json.dumps({name: value for name, value in numbers.items() if value is not None}, separators=(",", ":"))


# Produced history is looked up in the newest of it first: beyond the readings themselves, then in hours.
RECENT, NEAR = timedelta(minutes=5), timedelta(hours=2)

FAR = timedelta(days=30)

RETIRED_KEY = ["cluster", "group", "topic"]

OF_TREND = [*QUEUE, "start", *(field.name for field in list(MINUTES)[1:])]
KNOTS, WINDOWS = (with_dictionaries(TABLES[name]) for name in ("knots", "windows_60"))


@dataclass(frozen=True)
class Work:
    """One slice of time: [since, until), where the groups are cut into buckets, a span of names each. The range of the
    run begins at `asked_since`, its first slice at the whole minute. `is_last`: states are wanted of its end.
    `is_wide`: its window of ten minutes is over, or was written before."""

    location: str
    clusters: Sequence[str]
    asked_since: datetime
    since: datetime
    until: datetime
    durations: Durations
    facts: SliceInputs
    spans: Sequence[Span]
    is_last: bool
    is_wide: bool

    @property
    def reach(self) -> datetime:
        """Since when readings count, for windows as for states."""
        return self.since - timedelta(seconds=self.durations.lookback_seconds)

    @property
    def lately_us(self) -> float:
        """Since when a time lag says something of the end."""
        return microseconds(self.until) - self.durations.span_seconds / 3 * MICROSECONDS


def worked(work: Work, number: int) -> dict[str, pa.Table]:
    """Of one bucket, with the facts of its groups alone: anchors, knots, windows_60, windows_600, group_windows, falls
    of offsets, and at the end of a run queue_states and group_states; `counts` has the number of readings of the
    slice."""
    lake = Rows(Lake.at(work.location), work.clusters, work.spans[number])
    gathered, count = read_queues(lake, work)
    course = Course.of(gathered, lake, work)
    found = {
        "anchors": course.anchors,
        "knots": course.knots,
        "windows_60": course.windows,
        "windows_600": course.ten_minutes(lake),
        "group_windows": _group_windows(course, lake, work),
        "counts": pa.table({"readings": [count]}),
        "falls": offset_falls(gathered, *_falls_us(work)),
    }
    if work.is_last:
        in_use = matches(gathered.queues, work.facts.retired, RETIRED_KEY) < 0
        # The same, however long before its end the slice began.
        used, lags = gathered.only(in_use), course.lags.since(work.lately_us).only(in_use)
        found["queue_states"] = queue_states(used, lags, _trend_minutes(course, used, lags, lake), lake, work)
        found["group_states"] = group_states(found["queue_states"])
    return {name: coded(table, besides=["detail"]) for name, table in found.items()}


def read_queues(lake: Rows, work: Work) -> tuple[Gathered, int]:
    """The queues of a bucket with all readings that count, and how many readings the slice has."""
    blocks = lake.readings(work.reach, work.until)
    since_us = microseconds(max(work.asked_since, work.since))
    count = sum(int((numbers(block.numbers["taken_at"]) >= since_us).sum()) for block in blocks)
    own = [block.only(bools(pc.not_equal(block.names["kind"], "dlq"))) for block in blocks]
    return Gathered.of_blocks(own).with_silent(work.facts.silent), count


@dataclass(frozen=True)
class Course:
    """What the readings of a bucket say of the slice: new `knots`, time lags, `anchors` for the next one, and `windows`
    of its minutes."""

    gathered: Gathered
    lags: TimeLags
    knots: pa.Table
    anchors: pa.Table
    work: Work

    @classmethod
    def of(cls, gathered: Gathered, lake: Rows, work: Work) -> "Course":
        since_us, until_us = microseconds(work.since), microseconds(work.until)
        knots = new_knots(gathered, since_us, until_us)
        knots_of = history(lake, work, knots.drop_columns(["minute"]))
        remembered = work.facts.anchors
        lags, anchors = time_lags(gathered, min(since_us, work.lately_us), knots_of, work.durations, remembered)
        return cls(gathered, lags, knots, anchors, work)

    @cached_property
    def windows(self) -> pa.Table:
        inputs = self.work.facts
        hands = _hands(self.gathered.queues, inputs.known.hands)
        minutes = minute_windows(self.gathered, hands, inputs.appeared, *_range_us(self.work), self.work.durations)
        return queue_windows(self.gathered, self.lags, minutes)

    def ten_minutes(self, lake: Rows) -> pa.Table:
        """The window of ten minutes that the slice is in, where it is due."""
        if not self.work.is_wide:
            return wide_windows(TABLES["windows_60"].empty_table(), 600)
        start = floor(self.work.since, TEN_MINUTES)
        return wide_windows(self.minutes(lake, start, start + TEN_MINUTES), 600)

    def minutes(
        self,
        lake: Rows,
        since: datetime,
        until: datetime,
        groups: pa.Array | None = None,
        columns: Sequence[str] = WINDOWS.names,
    ) -> pa.Table:
        """Windows of a minute of [since, until), of `groups` or all: those of the slice, and what the lake has of
        minutes without a reading in the slice."""
        only = None if groups is None else Only("group", groups)
        stored = lake.table("windows_60", since, until, only, columns=columns)
        stored, start = self._besides_own(stored), numbers(self.windows["start"])
        fresh = self.windows.filter(pa.array((start >= microseconds(since)) & (start < microseconds(until))))
        fresh = fresh.cast(WINDOWS).select(columns)
        if groups is not None:
            fresh = fresh.filter(pc.is_in(fresh["group"], value_set=groups))
        return pa.concat_tables([stored, fresh])

    def _besides_own(self, stored: pa.Table) -> pa.Table:
        """Without the minutes that the slice has made anew: of a few newest ones each cluster may have some."""
        late = np.flatnonzero(numbers(stored["start"]) >= microseconds(floor(self.work.since, MINUTE)))
        if not len(late):
            return stored
        names = ["cluster", "start"]
        made = written_out(self.windows.select(names)).group_by(names).aggregate([])
        again = late[matches(stored.select(names).take(pa.array(late)), made, names) >= 0]
        return stored.take(pa.array(np.delete(np.arange(stored.num_rows), again)))


def history(lake: Rows, work: Work, fresh: pa.Table) -> History:
    """What the lake has of knots, with the `fresh` ones of the slice."""

    def stored(asked: pa.Table, since: datetime, until: datetime) -> pa.Table:
        only = Only("topic", pc.unique(pc.cast(asked["topic"], pa.string())))
        return lake.table("knots", since, until, only, whole_files=True)

    def until_now(asked: pa.Table, since: datetime) -> pa.Table:
        return pa.concat_tables([stored(asked, since, work.until), fresh.cast(KNOTS)])

    def within(asked: pa.Table, *, since_us: float, until_us: float) -> pa.Table:
        since, until = from_microseconds(since_us), from_microseconds(until_us)
        # A settled day lies in its first hour.
        since = day_start(since) if since < work.until - DAY else since
        return stored(asked, since, until) if until < work.since else until_now(asked, since)

    recent, near, far = work.reach - RECENT, work.until - NEAR, day_start(work.until - FAR)
    return History(
        newest=[lambda asked: until_now(asked, recent), lambda asked: until_now(asked, near)],
        all=lambda asked: until_now(asked, far),
        within=within,
        is_longer=lambda: lake.has("knots", far, near),
    )


def _group_windows(course: Course, lake: Rows, work: Work) -> pa.Table:
    inputs = work.facts
    return whole_group_windows(
        _in_use(course.windows, inputs.retired), inputs.unread, _dead_letters(lake, work), inputs.topics
    )


def _dead_letters(lake: Rows, work: Work) -> pa.Table:
    """What came into dead-letter topics: each queue is of the group that its topic is named after, though nobody need
    consume it."""
    rows = lake.table("dead_letters", work.reach, work.until, group="topic")
    topics = pc.cast(rows["topic"], pa.string())
    missing = {name: pa.nulls(rows.num_rows, pa.int64()) for name in OFFSETS if name not in rows.column_names}
    named = {
        **missing,
        "group": pc.utf8_slice_codeunits(topics, len(DLQ_PREFIX)),
        "kind": pa.array(["dlq"] * rows.num_rows, pa.string()),
        "first_stored_at": pa.nulls(rows.num_rows, TABLES["readings"].field("first_stored_at").type),
        "unknown_reason": pa.nulls(rows.num_rows, pa.string()),
    }
    for name, column in named.items():
        rows = rows.append_column(name, column)
    gathered = Gathered.of(rows)
    minutes = minute_windows(gathered, no_hands(), work.facts.appeared, *_range_us(work), work.durations)
    return dead_letter_sums(queue_windows(gathered, TimeLags.none(len(gathered.queues)), minutes))


def queue_states(in_use: Gathered, lags: TimeLags, minutes: pa.ListArray, lake: Rows, work: Work) -> pa.Table:
    """What judge() says of the queues in use. `minutes`: of each queue its windows of the trend."""
    durations, known = work.durations, work.facts.known
    earliest = work.until - timedelta(seconds=durations.evidence_seconds)
    queues = with_evidence(
        in_use.queues,
        lake.table("membership", earliest, work.until),
        lake.table("ownership", earliest, work.until),
        minutes,
        known,
    )
    seen = Seen(in_use.readings, lags, _hands(in_use.queues, known.hands))
    return judge(Columns(evaluated(queues, microseconds(work.until), durations, seen=seen)), durations)


def _trend_minutes(course: Course, in_use: Gathered, lags: TimeLags, lake: Rows) -> pa.ListArray:
    """Windows of a minute, only of queues that are behind for longer than is allowed."""
    durations = course.work.durations
    newest = lags.segments.last(np.ones(lags.segments.rows, bool))
    is_behind = at_rows(lags.seconds, newest) > durations.allowance_seconds
    groups = pc.unique(pc.cast(in_use.queues["group"].filter(pa.array(is_behind)), pa.string()))
    until = floor(course.work.until, MINUTE)
    since = until - minutes_needed(durations) * MINUTE
    windows = course.minutes(lake, since, until, groups, OF_TREND) if len(groups) else WINDOWS.empty_table()
    return minute_lists(in_use.queues, windows, is_behind)


def _range_us(work: Work) -> tuple[int, int]:
    """From the beginning of its first minute."""
    return microseconds(floor(work.since, MINUTE)), microseconds(work.until)


def _falls_us(work: Work) -> tuple[int, int]:
    """Also of the time before: its falls may have another cause by what was found out meanwhile."""
    again = timedelta(seconds=work.durations.repeat_again_seconds)
    return microseconds(work.since - again), microseconds(work.until)


def _in_use(windows: pa.Table, retired: pa.Table) -> pa.Table:
    """Without the topics that their group retired."""
    if not retired.num_rows:
        return windows
    return windows.filter(pa.array(matches(windows, retired, RETIRED_KEY) < 0))


def _hands(queues: pa.Table, hands: pa.Table) -> Hands:
    return Hands.of(beside(queues, hands, QUEUE)["hands"].combine_chunks()) if hands.num_rows else no_hands()
