"""What is asked of single queues under a budget and remembered between readings; and the difference between a broker's
clock and this host's, as proven by store times.

No call reports a broker's time. But a message that arrived between two readings was stored between them by this
host's clock, and its store time is by the broker's clock: this bounds the difference from both sides. Bounds of
several readings hold at once. If they contradict each other, a clock was set, and only the newest bounds count.
"""

import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.stored import StoredMessage
from consumers.rocketmq.wire.codes import RocketMQError

# Finds single queues in a broker's rows, up to a million.
Place = tuple[str, str, int]  # group, topic, queue id


def places(rows: pa.Table, wanted: Collection[Place]) -> dict[Place, int]:
    """The index in `rows` (group, topic, queue_id, …) of each wanted queue that is there."""
    if not wanted or not rows.num_rows:
        return {}
    groups = pa.array(sorted({group for group, _, _ in wanted}), pa.string())
    at = np.flatnonzero(pc.is_in(rows["group"].cast(pa.string()), value_set=groups).to_numpy())
    names = [rows[name].take(pa.array(at)).cast(pa.string()) for name in ("group", "topic", "queue_id")]
    keys = list(wanted)
    # No RocketMQ name contains a line feed.
    texts = pa.array([f"{group}\n{topic}\n{queue_id}" for group, topic, queue_id in keys], pa.string())
    found = pc.index_in(pc.binary_join_element_wise(*names, "\n"), value_set=texts)
    hits = np.flatnonzero(found.is_valid().to_numpy())
    which = found.take(pa.array(hits)).to_numpy()
    return {keys[key]: int(at[hit]) for hit, key in zip(hits.tolist(), which.tolist(), strict=True)}


def behind(rows: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the rows whose lag is known and above zero, and those lags."""
    lag = pc.fill_null(pc.subtract(rows["broker_offset"], rows["consumer_offset"]), 0).to_numpy()
    at = np.flatnonzero((lag > 0) & rows["unknown_reason"].is_null().to_numpy())
    return at, lag[at]


logger = logging.getLogger(__name__)

ASKED_EVERY = timedelta(seconds=60)

# Quartz clocks drift by some 50 millionths: 0.03 s in this time.
COUNTS_FOR = timedelta(minutes=10)

# A message takes milliseconds from the commit log into its queue, or to enough replicas; this is the greatest
# allowance.
INTO_QUEUE_SECONDS = 1.0

# The number of rows of a broker that are compared with the next reading's, a different part of the rows each time.
WATCHED = 64


@dataclass(frozen=True)
class ClockBounds:
    """The broker's clock is ahead of this host's by `low` to `high` seconds; below zero it is behind."""

    low: float = -math.inf
    high: float = math.inf

    def within(self, other: "ClockBounds") -> "ClockBounds":
        return ClockBounds(max(self.low, other.low), min(self.high, other.high))

    @property
    def is_empty(self) -> bool:
        return self.low > self.high

    def as_list(self) -> list[float | None]:
        """For JSON: null if that bound is unknown."""
        return [round(end, 3) if math.isfinite(end) else None for end in (self.low, self.high)]

    def wrong_by(self, allowed_seconds: float) -> str | None:
        """A sentence if the clocks provably differ by more than is allowed."""
        if self.low > allowed_seconds:
            return f"the broker's clock is at least {self.low:.1f} s ahead of this host's"
        if self.high < -allowed_seconds:
            return f"the broker's clock is at least {-self.high:.1f} s behind this host's"
        return None


@dataclass(frozen=True)
class Arrivals:
    """Messages of one queue that arrived since the reading of `since`: the first and the last of them."""

    topic: str
    queue_id: int
    first: int
    last: int
    since: datetime


@dataclass
class BrokerClock:
    """One per broker and process."""

    evidence: list[tuple[datetime, ClockBounds]] = field(default_factory=list)
    watched: dict[Place, int] = field(default_factory=dict)
    watched_at: datetime | None = None
    asked_at: datetime | None = None
    part: int = 0

    @property
    def bounds(self) -> ClockBounds:
        found = ClockBounds()
        for _, bounds in reversed(self.evidence):
            narrowed = found.within(bounds)
            if narrowed.is_empty:
                break
            found = narrowed
        return found

    def note(self, at: datetime, bounds: ClockBounds) -> None:
        counting = [(then, known) for then, known in self.evidence if at - then < COUNTS_FOR]
        self.evidence = [*counting, (at, bounds)]

    def plan(self, broker: BrokerReading, now: datetime) -> Arrivals | None:
        """A queue with messages that arrived since the previous reading, if its turn has come."""
        found = None
        # A slave may lag: its newest messages may have reached the master before the reading.
        if broker.rows is None or broker.read_from is not None:
            return None
        if self.watched_at is not None and (self.asked_at is None or now - self.asked_at >= ASKED_EVERY):
            found = self._arrivals(broker.rows, self.watched_at)
            self.asked_at = now if found else self.asked_at
        self._watch(broker.rows, now)
        return found

    def _arrivals(self, rows: pa.Table, since: datetime) -> Arrivals | None:
        for place, at in places(rows, self.watched).items():
            before, end = self.watched[place], rows["broker_offset"][at].as_py()
            if end is not None and end > before:
                return Arrivals(place[1], place[2], before, end - 1, since)
        return None

    def _watch(self, rows: pa.Table, now: datetime) -> None:
        start = self.part * WATCHED % max(rows.num_rows, 1)
        columns = rows.slice(start, WATCHED).select(["group", "topic", "queue_id", "broker_offset"]).to_pylist()
        self.watched = {
            (row["group"], row["topic"], row["queue_id"]): row["broker_offset"]
            for row in columns
            if row["broker_offset"] is not None
        }
        self.watched_at, self.part = now, self.part + 1


def bounds_of(messages: Sequence[StoredMessage], since: datetime, until: datetime) -> ClockBounds:
    """Bounds from messages that arrived in their queue between two points in time of this host's clock."""
    found = ClockBounds()
    for message in messages:
        stored = message.stored_ms / 1000
        high = stored - since.timestamp() + INTO_QUEUE_SECONDS
        found = found.within(ClockBounds(stored - until.timestamp(), high))
    return found


def plan_clocks(clocks: dict[str, BrokerClock], brokers: Sequence[BrokerReading], now: datetime) -> dict[str, Arrivals]:
    """By broker name, the messages to fetch in this reading."""
    planned = {one.name: clocks.setdefault(one.name, BrokerClock()).plan(one, now) for one in brokers}
    return {name: arrivals for name, arrivals in planned.items() if arrivals is not None}


async def read_clocks(
    admins: Mapping[str, BrokerAdmin],
    clocks: Mapping[str, BrokerClock],
    planned: Mapping[str, Arrivals],
    now: datetime,
    until: datetime,
    deadline: float,
) -> None:
    """`until`: a point in time after the offsets of this reading were answered. A missing answer proves nothing."""
    for name, arrivals in planned.items():
        try:
            messages = await _messages(admins[name], arrivals, deadline)
        except RocketMQError as failure:
            logger.info("The clock of %s was not compared: %s", name, failure)
            continue
        bounds = bounds_of(messages, arrivals.since, until)
        if not bounds.is_empty:
            clocks[name].note(now, bounds)


async def _messages(admin: BrokerAdmin, arrivals: Arrivals, deadline: float) -> list[StoredMessage]:
    found: list[StoredMessage] = []
    for offset in sorted({arrivals.first, arrivals.last}):
        pulled = await admin.pull(arrivals.topic, arrivals.queue_id, offset, deadline_seconds=deadline)
        found += [message for message in pulled.messages if message.queue_offset == offset]
    return found


QueueKey = tuple[str, str, str, int]  # group, topic, broker, queue id
TopicKey = tuple[str, str]  # group, topic

# Answers that are kept; the longest unasked go first, and may be asked for again.
KEPT = 2000
# What failed for one queue is asked again after this, what a whole topic was refused for after that.
FAILURE_HOLDS = timedelta(seconds=60)
REFUSAL_HOLDS = timedelta(minutes=10)


@dataclass(frozen=True)
class SampleBudget:
    """Calls of one reading of one cluster for each kind of sample."""

    exact_calls: int = 20
    start_calls: int = 20
    tag_calls: int = 10
    # How far a broker's clock may be from this host's before its store times are not used.
    clock_error_seconds: float = 1.0


@dataclass(frozen=True)
class FirstStored:
    """When the message at `offset` was stored, by the broker's clock; null has its `error`."""

    offset: int
    stored_at: datetime | None
    error: str | None
    asked_at: datetime


@dataclass(frozen=True)
class StartAnswer:
    """Where a member would start on a queue without an offset; null has its `error`."""

    offset: int | None
    rule: str
    error: str | None
    asked_at: datetime


@dataclass(frozen=True)
class TagCount:
    """Of the `looked_at` next messages of the group's most lagging queue of a topic, `matching` have a wanted tag."""

    expression: str
    looked_at: int
    matching: int
    asked_at: datetime


Answer = TypeVar("Answer", FirstStored, StartAnswer, TagCount)


@dataclass
class SampleMemory:
    """One per cluster and process. `refused`: until when, and why, a broker's topic is not asked again. `ends`: the
    broker offsets that were last read of the queues in `first`."""

    first: dict[QueueKey, FirstStored] = field(default_factory=dict)
    ends: dict[QueueKey, int] = field(default_factory=dict)
    starts: dict[QueueKey, StartAnswer] = field(default_factory=dict)
    tags: dict[TopicKey, TagCount] = field(default_factory=dict)
    refused: dict[tuple[str, str], tuple[datetime, str]] = field(default_factory=dict)
    # The tag expressions of each group's topics, by its last membership answer; those that take everything left out.
    filters: dict[str, dict[str, str]] = field(default_factory=dict)
    clocks: dict[str, BrokerClock] = field(default_factory=dict)
    # Brokers whose clock is proven to be wrong, and by how much.
    wrong_clocks: dict[str, str] = field(default_factory=dict)

    def refusal(self, broker: str, topic: str, now: datetime) -> str | None:
        until, reason = self.refused.get((broker, topic), (now, ""))
        return reason if until > now else None


@dataclass(frozen=True)
class SamplesReading:
    """The answers of one reading, and the keys whose remembered answer no longer holds."""

    taken_at: datetime
    first: Mapping[QueueKey, FirstStored] = field(default_factory=dict)
    starts: Mapping[QueueKey, StartAnswer] = field(default_factory=dict)
    tags: Mapping[TopicKey, TagCount] = field(default_factory=dict)
    gone_queues: frozenset[QueueKey] = frozenset()
    gone_topics: frozenset[TopicKey] = frozenset()
    # Every first-stored answer that holds in this reading, asked in it or before.
    holding: Mapping[QueueKey, FirstStored] = field(default_factory=dict)
    clocks: Mapping[str, ClockBounds] = field(default_factory=dict)
    calls: int = 0
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """What was asked, how many calls it took and how long, and by how much clocks are ahead, as far as is known."""
        asked = {"first_stored": len(self.first), "starts": len(self.starts), "tags": len(self.tags)}
        clocks = {name: bounds.as_list() for name, bounds in self.clocks.items()}
        return {**asked, "calls": self.calls, "seconds": round(self.seconds, 4), "clocks": clocks}


def evicted(answers: dict[QueueKey, Answer], most: int = KEPT) -> set[QueueKey]:
    """Takes the answers that were asked longest ago out, down to `most`; returns their keys."""
    surplus = sorted(answers, key=lambda key: answers[key].asked_at)[: max(0, len(answers) - most)]
    for key in surplus:
        del answers[key]
    return set(surplus)
