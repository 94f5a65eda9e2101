"""Queues over hours, message by message in the mean: how much is produced and consumed at each second, as readings and
windows, and what the kernel says of them at each minute."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from consumers.pipeline.bucket import judge
from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.columns import Columns
from consumers.pipeline.kernel.evidence import HANDS, LAGS, MINUTES, READINGS
from consumers.pipeline.kernel.group_states import evaluated
from tests.numbers_rows import DEFAULTS
from tests.pipeline_rows import PLACE, us

POLL = 15
HOUR = 3600.0


@dataclass
class Course:
    """One queue. `produced` and `wanted`: messages a second at a second; it cannot consume what is not there.

    `sets`: {second: offset} of what somebody sets by hand, with whether we did it (`ours`).
    """

    produced: Callable[[float], float]
    wanted: Callable[[float], float]
    seconds: int
    reserved_seconds: float | None = 72 * HOUR
    begins_with: float = 0.0  # messages that waited when it began, produced in the hour before
    sets: dict[int, float] = field(default_factory=dict)
    ours: bool = True
    members: int = 2

    def __post_init__(self) -> None:
        at = np.arange(self.seconds)
        earlier = np.full(3600, self.begins_with / 3600)
        rate = np.concatenate([earlier, [self.produced(second) for second in at]])
        broker = np.cumsum(rate)
        self.consumer = np.empty(self.seconds)
        offset = 0.0
        for second in range(self.seconds):
            offset = min(offset + self.wanted(second), broker[3600 + second])
            offset = self.sets.get(second, offset)
            self.consumer[second] = offset
        # Whole messages.
        self.broker, self.consumer = broker.astype(int), self.consumer.astype(int)

    def offsets(self, second: int) -> tuple[int, int]:
        return int(self.consumer[second]), int(self.broker[3600 + second])

    def time_lag(self, second: int) -> float:
        """Since when the first message that is not consumed has been there."""
        consumer, broker = self.offsets(second)
        if consumer >= broker:
            return 0.0
        stored = int(np.searchsorted(self.broker, consumer, side="right")) - 3600
        return float(max(second - stored, 0)) or 0.5


def minutes(course: Course, until: int) -> list[dict[str, object]]:
    """The windows of a minute that are over at `until`."""
    found = []
    for start in range(max(0, until // 60 * 60 - 1200), until // 60 * 60, 60):
        begin, end = max(0, start - POLL), start + 60 - POLL
        (before, produced), (consumer, broker) = course.offsets(begin), course.offsets(end)
        is_moved = any(begin < second <= end for second in course.sets)
        rate = (consumer - before) / (end - begin) if consumer >= before and not is_moved else None
        found.append(
            {
                "start_us": us(start),
                "time_lag_seconds": course.time_lag(end),
                "time_lag_kind": "exact",
                "lag_messages": broker - consumer,
                "consume_rate": rate,
                "produce_rate": (broker - produced) / (end - begin),
            }
        )
    return found


def row(number: int, course: Course, until: int, durations: Durations, previous: dict[str, object]) -> dict:
    seen = range(max(0, until - int(durations.lookback_seconds) // POLL * POLL), until + 1, POLL)
    readings, lags = [], []
    for second in seen:
        consumer, broker = course.offsets(second)
        offsets = {"consumer_offset": consumer, "broker_offset": broker, "min_offset": 0}
        readings.append({"at_us": us(second), **offsets})
        if broker > consumer:
            seconds = course.time_lag(second)
            lags.append({"at_us": us(second), "seconds": seconds, "kind": "exact", "error_seconds": 1.0})
    spans = [{"from_us": us(second - 5), "to_us": us(second + 5)} for second in course.sets if course.ours]
    return {
        **PLACE,
        "topic": f"topic-{number}",
        "group": f"group-{number}",
        "kind": "normal",
        "readings": readings,
        "lags": lags,
        "hands": spans,
        "minutes": minutes(course, until),
        "members": course.members,
        "without_members_seconds": None if course.members else float(until),
        "empty_since_us": None if course.members else us(0),
        "reserved_seconds": course.reserved_seconds,
        "allowance_seconds": None,
        "behind_seconds": None,
        **previous,
    }


NAMES = {
    **{name: pa.string() for name in ("cluster", "group", "topic", "broker")},
    "queue_id": pa.int64(),
    "kind": pa.string(),
    "readings": pa.list_(READINGS),
    "lags": pa.list_(LAGS),
    "hands": pa.list_(HANDS),
    "minutes": pa.list_(MINUTES),
    **{name: kind for name, (kind, _) in DEFAULTS.items()},
}


def told(courses: Sequence[Course], durations: Durations, every: int = 60) -> Iterator[tuple[int, list[dict]]]:
    """At each minute what is said of every course, in their order."""
    defaults = {name: value for name, (_, value) in DEFAULTS.items()}
    before: list[dict[str, object]] = [{} for _ in courses]
    for until in range(every, min(course.seconds for course in courses), every):
        rows = [
            {**defaults, **row(number, course, until, durations, before[number])}
            for number, course in enumerate(courses)
        ]
        table = evaluated(pa.Table.from_pylist(rows, pa.schema(list(NAMES.items()))), us(until) + 1, durations)
        found = judge(Columns(table), durations).to_pylist()
        before = [
            {
                "previous_state": one["state"],
                "previous_since_us": us(until) if one["since"] is None else int(one["since"].timestamp() * 1e6),
            }
            if one["state"] in ("STALL", "STOP")
            else {}
            for one in found
        ]
        yield until, found


def story(courses: Sequence[Course], durations: Durations, every: int = 60) -> list[list[tuple[int, str, str]]]:
    """For each course its states, each with the minute at which it began and its rule."""
    stories: list[list[tuple[int, str, str]]] = [[] for _ in courses]
    for until, found in told(courses, durations, every):
        for past, one in zip(stories, found, strict=True):
            if not past or past[-1][1:] != (one["state"], one["rule"]):
                past.append((until // 60, one["state"], one["rule"]))
    return stories


def states(past: list[tuple[int, str, str]]) -> list[tuple[int, str]]:
    """When each state began: a WARN by its rule, every OK as one."""
    found: list[tuple[int, str]] = []
    for minute, state, rule in past:
        name = state if state == "OK" else f"{state} {rule}"
        if not found or found[-1][1] != name:
            found.append((minute, name))
    return found
