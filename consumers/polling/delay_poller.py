"""Reads the delay levels of all brokers after their offsets: when the first message of each level is due, and in turn
a sample of its messages and the timer wheel.

A failure concerns its level or broker only. A slave delivers nothing: where it stands in for its master, there are no
delays. Each turn has a budget of calls: a level is inspected completely if its messages fit, else from its head on and
spread over its backlog.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from consumers.models import Cluster
from consumers.polling.delay_answers import (
    BrokerDelays,
    DelayLimits,
    DelayMemory,
    DelayOffsets,
    DelaysReading,
    DelayTurn,
    GroupRung,
    LevelKey,
    LevelReading,
    LevelSample,
    NextDue,
    WheelAnswer,
)
from consumers.polling.memory import ClusterMemory
from consumers.polling.reading import BrokerReading, OffsetsReading
from consumers.polling.record.delays import record_delays
from consumers.polling.registration import Wire
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.config_bodies import SCHEDULE_TOPIC, queue_of_level
from consumers.rocketmq.messages.stored import PullOutcome, QueueEntries, StoredMessage
from consumers.rocketmq.names import RETRY_PREFIX, group_of_retry_topic
from consumers.rocketmq.wire.codes import (
    BrokerRefused,
    DeadlineExceeded,
    RemoteProtocolError,
    ResponseCode,
    RocketMQError,
    time_of,
)
from consumers.vocabulary.reasons import PollProblem, stored_reason
from consumers.vocabulary.states import MASTER

# The largest number of messages that a broker returns in one answer, and that number for messages on disk only
# (RocketMQ 5.4.0, MessageStoreConfig: maxTransferCountOnMessageInMemory and …InDisk).
AT_ONCE, AT_ONCE_FROM_DISK = 32, 8

NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class LevelPlan:
    """The messages [start, end) wait. `calls` pulls begin at `offsets`; with a single offset they follow one
    another.
    """

    start: int
    end: int
    calls: int

    @property
    def is_whole(self) -> bool:
        return self.calls * AT_ONCE >= self.end - self.start

    @property
    def offsets(self) -> list[int]:
        waiting = self.end - self.start
        return [self.start] if self.is_whole else [self.start + n * waiting // self.calls for n in range(self.calls)]


def plan_sample(
    waiting: Mapping[LevelKey, tuple[int, int]], sampled_at: Mapping[LevelKey, datetime], calls: int
) -> dict[LevelKey, LevelPlan]:
    """`waiting`: (delay offset, end) of levels with messages. If there are more levels than calls, the levels that were
    not sampled for the longest time come first.
    """
    order = sorted(waiting, key=lambda key: (sampled_at.get(key, NEVER), key))
    granted = dict.fromkeys(order[:calls], 1)
    left = calls - len(granted)
    while left > 0:
        wanting = [key for key in granted if granted[key] < _most_calls(*waiting[key])][:left]
        if not wanting:
            break
        for key in wanting:
            granted[key] += 1
        left -= len(wanting)
    return {key: LevelPlan(*waiting[key], given) for key, given in granted.items()}


def _most_calls(start: int, end: int) -> int:
    """Enough calls for all messages from disk, also if the first answer says that the oldest are gone."""
    return (end - start) // AT_ONCE_FROM_DISK + 1


# The destination of a delayed message (RocketMQ 5.4.0, MessageConst).
REAL_TOPIC = "REAL_TOPIC"


async def sample_level(
    admin: BrokerAdmin,
    level: int,
    plan: LevelPlan,
    delay_seconds: int | None,
    group_of: Callable[[str], str | None],
    deadline_seconds: float,
) -> LevelSample:
    """Counts the retries of each group among messages of the level, by pulls that commit nothing. `group_of`: the group
    that a topic retries for; None for a topic of an application.
    """
    try:
        messages = await _messages(admin, queue_of_level(level), plan, deadline_seconds)
        groups = group_rungs(messages.values(), delay_seconds, group_of)
    except RocketMQError as failure:
        refused = isinstance(failure, BrokerRefused) and failure.code == ResponseCode.NO_PERMISSION
        return LevelSample(error=str(failure), refused=refused)
    return LevelSample(len(messages), plan.end - plan.start, groups)


def group_rungs(
    messages: Iterable[StoredMessage], delay_seconds: int | None, group_of: Callable[[str], str | None]
) -> dict[str, GroupRung]:
    found: defaultdict[str, list[StoredMessage]] = defaultdict(list)
    for message in messages:
        group = group_of(message.properties.get(REAL_TOPIC, ""))
        if group is not None:
            found[group].append(message)
    return {group: _rung(messages, delay_seconds) for group, messages in found.items()}


def _rung(messages: list[StoredMessage], delay_seconds: int | None) -> GroupRung:
    oldest = _stored_at(min(message.stored_ms for message in messages))
    return GroupRung(
        messages=len(messages),
        attempts=Counter(message.reconsume_times for message in messages),
        oldest_stored_at=oldest,
        next_due_at=_due(oldest, delay_seconds),
    )


def _stored_at(milliseconds: int) -> datetime:
    stored_at = time_of(milliseconds)
    if stored_at is None:
        raise RemoteProtocolError(f"a delayed message has {milliseconds} as the time at which it was stored")
    return stored_at


def _due(stored_at: datetime, delay_seconds: int | None) -> datetime | None:
    """The due time, counted from when the message was stored (5.4.0,
    ScheduleMessageService.computeDeliverTimestamp).
    """
    return None if delay_seconds is None else stored_at + timedelta(seconds=delay_seconds)


async def _messages(
    admin: BrokerAdmin, queue_id: int, plan: LevelPlan, deadline_seconds: float
) -> Mapping[int, StoredMessage]:
    found: dict[int, StoredMessage] = {}
    starts, calls = plan.offsets, plan.calls
    while starts and calls:
        offset, calls = starts.pop(0), calls - 1
        pulled = await admin.pull(SCHEDULE_TOPIC, queue_id, offset, AT_ONCE, deadline_seconds=deadline_seconds)
        held = [message for message in pulled.messages if plan.start <= message.queue_offset < plan.end]
        found |= {message.queue_offset: message for message in held}
        after = held[-1].queue_offset + 1 if held else pulled.next_offset
        goes_on = pulled.outcome is not PullOutcome.NO_MESSAGE_YET and offset < after < plan.end
        if plan.is_whole and goes_on:
            starts.append(after)
    return found


async def read_wheel(admin: BrokerAdmin, deadline_seconds: float) -> WheelAnswer:
    try:
        counts = await admin.timer_counts(deadline_seconds=deadline_seconds)
    except RocketMQError as failure:
        return WheelAnswer(None, str(failure))
    return WheelAnswer({topic: n for topic, n in sorted(counts.items()) if n and topic.startswith(RETRY_PREFIX)})


async def sample_brokers(
    turn: DelayTurn,
    admins: Mapping[str, BrokerAdmin],
    offsets: Mapping[str, DelayOffsets],
    waiting: Mapping[LevelKey, tuple[int, int]],
    memory: DelayMemory,
) -> dict[str, dict[int, LevelSample]]:
    """Samples by broker and level. A level without messages needs no call."""
    allowed = {key: ends for key, ends in waiting.items() if memory.may_pull(key[0], turn.now)}
    plans = plan_sample(allowed, memory.sampled_at, turn.limits.sample_calls)
    memory.note_samples(list(plans), waiting, turn.now)
    found = await asyncio.gather(*(_sample(turn, admins[key[0]], key, plan) for key, plan in plans.items()))
    samples = {
        name: {level: LevelSample() for level in of.ends if (name, level) not in waiting}
        for name, of in offsets.items()
    }
    for (name, level), sample in zip(plans, found, strict=True):
        samples[name][level] = sample
        if sample.refused:
            memory.pulls_refused[name] = turn.now
    return samples


async def read_wheels(
    turn: DelayTurn, admins: Mapping[str, BrokerAdmin], memory: DelayMemory
) -> dict[str, WheelAnswer]:
    """Answers of the brokers that did not refuse the call recently."""
    asked = [name for name in admins if memory.wheel_is_due(name, turn.now)]
    wheels = await asyncio.gather(*(read_wheel(admins[name], turn.deadline_seconds) for name in asked))
    found = dict(zip(asked, wheels, strict=True))
    memory.wheels_refused |= {name: turn.now for name, answer in found.items() if answer.error is not None}
    return found


async def _sample(turn: DelayTurn, admin: BrokerAdmin, key: LevelKey, plan: LevelPlan) -> LevelSample:
    broker, level = key
    delay = turn.level_delay(broker, level)
    try:
        async with asyncio.timeout(2 * turn.deadline_seconds):
            return await sample_level(admin, level, plan, delay, turn.group_of, turn.deadline_seconds)
    except TimeoutError:
        late = DeadlineExceeded(f"not sampled within {2 * turn.deadline_seconds:g} s", address=admin.address)
        return LevelSample(error=str(late))


# When the first waiting message of a delay level is due: its consume queue entry holds the deliver time as tags' code.
# Reads no message (RocketMQ 5.4.0, AdminBrokerProcessor.queryConsumeQueue). An answer is valid while its offset is
# unchanged.

# Longer than any delay of a level. A hash of tags, read as a time, would lie years away.
LATEST = datetime(2100, 1, 1, tzinfo=UTC)


async def next_dues(
    admins: Mapping[str, BrokerAdmin],
    waiting: Mapping[LevelKey, int],
    known: dict[LevelKey, NextDue],
    calls: int,
    deadline_seconds: float,
) -> dict[LevelKey, NextDue]:
    """One answer for each level of `waiting` (its delay offset), remembered in `known` while the offset is
    unchanged.
    """
    asked = _to_ask(waiting, known, calls)
    answers = await asyncio.gather(
        *(_next_due(admins[broker], level, waiting[broker, level], deadline_seconds) for broker, level in asked)
    )
    fresh = dict(zip(asked, answers, strict=True))
    found = {key: fresh.get(key) or _held(known, key, offset) for key, offset in waiting.items()}
    known.clear()
    known.update({key: answer for key, answer in found.items() if answer.due_at is not None})
    return found


def due_time(tags_code: int) -> datetime | None:
    """None for a value that cannot be a due time."""
    due_at = time_of(tags_code)
    return due_at if due_at is not None and due_at < LATEST else None


def _to_ask(waiting: Mapping[LevelKey, int], known: Mapping[LevelKey, NextDue], calls: int) -> Sequence[LevelKey]:
    """Levels that were never answered come first."""
    moved = [key for key, offset in waiting.items() if key not in known or known[key].offset != offset]
    return sorted(moved, key=lambda key: (key in known, key))[: max(calls, 0)]


def _held(known: Mapping[LevelKey, NextDue], key: LevelKey, offset: int) -> NextDue:
    held = known.get(key)
    return held if held is not None and held.offset == offset else _without(offset, PollProblem.LEVEL_NOT_ASKED)


def _without(offset: int, problem: PollProblem, **values: str) -> NextDue:
    return NextDue(offset, None, stored_reason(problem, offset=str(offset), **values))


async def _next_due(admin: BrokerAdmin, level: int, offset: int, deadline_seconds: float) -> NextDue:
    try:
        queue_id = queue_of_level(level)
        found = await admin.consume_queue(SCHEDULE_TOPIC, queue_id, offset, 1, deadline_seconds=deadline_seconds)
    except RocketMQError as failure:
        return NextDue(offset, None, str(failure))
    return _answer(found, offset)


def _answer(found: QueueEntries, offset: int) -> NextDue:
    if not found.entries or (found.min_offset is not None and found.min_offset > offset):
        return _without(offset, PollProblem.NO_NEXT_MESSAGE)
    code = found.entries[0].tags_code
    due_at = None if code is None else due_time(code)
    return NextDue(offset, due_at) if due_at else _without(offset, PollProblem.NO_DUE_TIME, code=str(code))


# A level beyond the queues of the schedule topic is read with its own call.
MOST_LEVELS = 64


async def collect_delays(turn: DelayTurn, brokers: Sequence[BrokerReading], memory: DelayMemory) -> DelaysReading:
    """One part for each broker that was read."""
    clock = asyncio.get_running_loop().time
    began, calls, received = clock(), turn.pool.calls, turn.pool.bytes_received
    failures = {one.name: _why_not(one, one.delays) for one in brokers if one.read and one.delays is not None}
    answered = {one.name: one for one in brokers if one.name in failures and failures[one.name] is None}
    admins = {name: BrokerAdmin(turn.pool, one.address) for name, one in answered.items() if one.address}
    offsets = await _offsets(turn, admins, answered)
    waiting = {
        (name, level): (of.delay_offset(level), of.ends[level]) for name, of in offsets.items() for level in of.backlogs
    }
    starts = {key: start for key, (start, _) in waiting.items()}
    dues = await next_dues(admins, starts, memory.dues, turn.limits.due_calls, turn.deadline_seconds)
    samples: dict[str, dict[int, LevelSample]] = {}
    wheels: dict[str, WheelAnswer] = {}
    if memory.samples_are_due(turn.limits, turn.now):
        samples, wheels = await asyncio.gather(
            sample_brokers(turn, admins, offsets, waiting, memory), read_wheels(turn, admins, memory)
        )
    parts = tuple(
        BrokerDelays(name, error=why)
        if why is not None
        else BrokerDelays(name, None, _levels(name, offsets[name], dues), samples.get(name, {}), wheels.get(name))
        for name, why in failures.items()
    )
    return DelaysReading(parts, turn.pool.calls - calls, turn.pool.bytes_received - received, clock() - began)


def _why_not(broker: BrokerReading, delays: DelayOffsets) -> str | None:
    if broker.read_from is not None or broker.address is None:
        return stored_reason(PollProblem.FROM_SLAVE)
    return delays.error or (None if delays.ends else stored_reason(PollProblem.NO_SCHEDULE_TOPIC))


async def _offsets(
    turn: DelayTurn, admins: Mapping[str, BrokerAdmin], brokers: Mapping[str, BrokerReading]
) -> dict[str, DelayOffsets]:
    known = {name: brokers[name].delays or DelayOffsets() for name in admins}
    found = await asyncio.gather(*(_with_more_levels(turn, name, admins[name], of) for name, of in known.items()))
    return dict(zip(known, found, strict=True))


async def _with_more_levels(turn: DelayTurn, broker: str, admin: BrokerAdmin, known: DelayOffsets) -> DelayOffsets:
    """Adds levels beyond the schedule topic's queues. Their ends need calls of their own; if a call fails, its level
    has no end.
    """
    configured = range(1, len(turn.level_delays(broker)) + 1)
    missing = sorted({*configured, *known.delivered} - known.ends.keys())[:MOST_LEVELS]

    async def end_of(level: int) -> int | None:
        try:
            queue_id = queue_of_level(level)
            return await admin.max_offset(SCHEDULE_TOPIC, queue_id, deadline_seconds=turn.deadline_seconds)
        except RocketMQError:
            return None

    ends = await asyncio.gather(*map(end_of, missing))
    more = {level: end for level, end in zip(missing, ends, strict=True) if end is not None}
    return replace(known, ends={**known.ends, **more})


def _levels(broker: str, offsets: DelayOffsets, dues: Mapping[LevelKey, NextDue]) -> dict[int, LevelReading]:
    return {
        level: LevelReading(offsets.delay_offset(level), end, dues.get((broker, level)))
        for level, end in sorted(offsets.ends.items())
    }


class DelayPoller:
    """One per cluster and process."""

    def __init__(self, cluster: Cluster, limits: DelayLimits) -> None:
        self._cluster = cluster
        self._limits = limits
        self._memory = DelayMemory()

    def poll(
        self, wire: Wire, offsets: OffsetsReading, memory: ClusterMemory, now: datetime, deadline_seconds: float
    ) -> dict[str, int | float]:
        """Returns the cost. Call after the offsets and the brokers' configurations were recorded."""
        masters = self._cluster.brokers.filter(broker_id=MASTER)
        is_due = self._memory.samples_are_due(self._limits, now)
        turn = DelayTurn(
            wire.pool,
            self._limits,
            dict(masters.values_list("name", "delay_levels")),
            _group_of(self._cluster, memory) if is_due else lambda topic: None,
            now,
            deadline_seconds,
        )
        reading = wire.run(collect_delays(turn, offsets.brokers, self._memory))
        record_delays(self._cluster, reading.brokers, now)
        return reading.summary


def _group_of(cluster: Cluster, memory: ClusterMemory) -> Callable[[str], str | None]:
    groups = set(cluster.groups.values_list("name", flat=True))
    topics = memory.topics or frozenset()
    return lambda topic: group_of_retry_topic(topic, groups, topics)
