"""Inputs, results and memory of a reading of delay levels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa

from consumers.lake.encoded import encoded
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.config_bodies import SCHEDULE_TOPIC, level_delays, level_of_queue
from consumers.rocketmq.wire.codes import RemoteProtocolError, RocketMQError
from consumers.rocketmq.wire.connection import ConnectionPool

# What one reading learns of brokers' delay levels and timer wheels, besides their offsets.
LevelKey = tuple[str, int]  # broker, level


@dataclass(frozen=True)
class DelayLimits:
    """Limits of calls for one reading of one cluster. Delay levels and timer wheels are sampled every
    `sample_seconds`.
    """

    due_calls: int = 100
    sample_calls: int = 40
    sample_seconds: float = 60


@dataclass(frozen=True)
class NextDue:
    """When the message at `offset` is due, by the broker's clock; if null, `error` says why."""

    offset: int
    due_at: datetime | None
    error: str | None = None


@dataclass(frozen=True)
class LevelReading:
    """`next_due` is null if the level has no backlog."""

    delay_offset: int
    broker_offset: int
    next_due: NextDue | None


@dataclass(frozen=True)
class GroupRung:
    """Retries of one group among the inspected messages of a level. `attempts`: {reconsume times: n}."""

    messages: int
    attempts: Mapping[int, int]
    oldest_stored_at: datetime
    next_due_at: datetime | None


@dataclass(frozen=True)
class LevelSample:
    """If `error` is set, no other field counts. `refused`: the broker does not let this user pull."""

    looked_at: int = 0
    sampled_of: int = 0
    groups: Mapping[str, GroupRung] = field(default_factory=dict)
    error: str | None = None
    refused: bool = False


@dataclass(frozen=True)
class WheelAnswer:
    """{retry topic: messages}; if null, `error` says why."""

    counts: Mapping[str, int] | None
    error: str | None = None


@dataclass(frozen=True)
class BrokerDelays:
    """If `error` is set, the broker's levels are unknown. `samples` and `wheel` are set if they were read in this
    reading.
    """

    broker: str
    error: str | None = None
    levels: Mapping[int, LevelReading] = field(default_factory=dict)
    samples: Mapping[int, LevelSample] = field(default_factory=dict)
    wheel: WheelAnswer | None = None


@dataclass(frozen=True)
class DelaysReading:
    """Delays of all brokers that were read, and the cost besides their offsets."""

    brokers: tuple[BrokerDelays, ...]
    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, int | float]:
        """The summary that is stored with the reading."""
        waiting = [level for broker in self.brokers for level in broker.levels.values() if level.next_due is not None]
        looked_at = sum(sample.looked_at for broker in self.brokers for sample in broker.samples.values())
        cost = {"calls": self.calls, "bytes": self.bytes, "seconds": round(self.seconds, 4)}
        return {"levels_waiting": len(waiting), "looked_at": looked_at, **cost}


# How far the delay levels of a broker are delivered, and where they end: two numbers a level, in the lag reading.
#
# The delivered offset is read before the end. Messages that arrive in between make a backlog too large for an instant,
# never negative.
# A failure concerns the delay levels only; consumer and broker offsets are still read.
@dataclass(frozen=True)
class DelayOffsets:
    """Offsets by level. A level missing from `delivered` has delivered nothing yet. If `error` is set, no other field
    counts.
    """

    delivered: Mapping[int, int] = field(default_factory=dict)
    ends: Mapping[int, int] = field(default_factory=dict)
    error: str | None = None

    def delay_offset(self, level: int) -> int:
        """0 until the first message of a level is delivered (RocketMQ 5.4.0, ScheduleMessageService.start)."""
        return self.delivered.get(level, 0)

    @property
    def backlogs(self) -> dict[int, int]:
        """Waiting messages by level, for levels that have some."""
        return {
            level: end - self.delay_offset(level)
            for level, end in sorted(self.ends.items())
            if end > self.delay_offset(level)
        }


async def read_delivered(admin: BrokerAdmin, deadline_seconds: float) -> DelayOffsets:
    try:
        return DelayOffsets(await admin.delay_offsets(deadline_seconds=deadline_seconds))
    except RocketMQError as failure:
        return DelayOffsets(error=str(failure))


def take_level_ends(ends: pa.Table, *, keep: bool) -> tuple[pa.Table, dict[int, int]]:
    """`ends` (topic, queue_id, broker_offset) and the schedule topic's ends by level. With `keep`, its rows stay in
    `ends`.
    """
    topics = encoded(ends["topic"])
    place = topics.dictionary.index(pa.scalar(SCHEDULE_TOPIC, topics.dictionary.type)).as_py()
    if place < 0:
        return ends, {}
    scheduled = topics.indices.to_numpy() == place
    rows = ends.take(pa.array(np.flatnonzero(scheduled)))
    queues, offsets = rows["queue_id"].to_pylist(), rows["broker_offset"].to_pylist()
    found = {level_of_queue(queue_id): end for queue_id, end in zip(queues, offsets, strict=True)}
    return ends if keep else ends.filter(pa.array(~scheduled)), found


# Inputs of one reading of delay levels, and what a process remembers between two readings.
# A broker that refuses a call now refuses it a minute later too. A broker without a timer wheel logs an error at each
# call (5.4.0, AdminBrokerProcessor).
REFUSAL_HOLDS = timedelta(minutes=10)


@dataclass
class DelayMemory:
    """One per cluster and process. Losing it costs some calls."""

    dues: dict[LevelKey, NextDue] = field(default_factory=dict)
    sampled_at: dict[LevelKey, datetime] = field(default_factory=dict)
    sampled: datetime | None = None
    wheels_refused: dict[str, datetime] = field(default_factory=dict)
    pulls_refused: dict[str, datetime] = field(default_factory=dict)

    def samples_are_due(self, limits: DelayLimits, now: datetime) -> bool:
        return self.sampled is None or now - self.sampled >= timedelta(seconds=limits.sample_seconds)

    def wheel_is_due(self, broker: str, now: datetime) -> bool:
        return _is_over(self.wheels_refused.get(broker), now)

    def may_pull(self, broker: str, now: datetime) -> bool:
        return _is_over(self.pulls_refused.get(broker), now)

    def note_samples(self, asked: Sequence[LevelKey], waiting: Mapping[LevelKey, object], now: datetime) -> None:
        remembered = {key: at for key, at in self.sampled_at.items() if key in waiting}
        self.sampled_at, self.sampled = remembered | dict.fromkeys(asked, now), now


def _is_over(refused: datetime | None, now: datetime) -> bool:
    return refused is None or now - refused >= REFUSAL_HOLDS


@dataclass(frozen=True)
class DelayTurn:
    """`delays`: by broker, its messageDelayLevel if known. `group_of`: see sample_level."""

    pool: ConnectionPool
    limits: DelayLimits
    delays: Mapping[str, str | None]
    group_of: Callable[[str], str | None]
    now: datetime
    deadline_seconds: float

    def level_delays(self, broker: str) -> Sequence[int]:
        """Seconds by level; empty if they are not known."""
        text = self.delays.get(broker)
        try:
            return level_delays(text) if text is not None else ()
        except RemoteProtocolError:
            return ()

    def level_delay(self, broker: str, level: int) -> int | None:
        delays = self.level_delays(broker)
        return delays[level - 1] if level <= len(delays) else None
