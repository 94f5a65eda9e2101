"""Where a member would start on queues that its group never committed on: the broker is asked as a starting member
asks it. Neither call changes anything there (RocketMQ 5.4.0, ConsumerManageProcessor, AdminBrokerProcessor)."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow.compute as pc

from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.names import is_system_group
from consumers.stores.start import TIMESTAMP, BrokerAnswer, start_time, would_start
from consumers.vocabulary.unknown import UnknownReason

from .queue_places import places
from .reading import FAILURE_HOLDS, QueueKey, SampleMemory, StartAnswer

# The end of a queue moves on, and with it where a member would start.
ANSWER_HOLDS = timedelta(minutes=10)
CALLS_EACH = 2


@dataclass(frozen=True)
class StartRules:
    """What a group's members say of their start; null: none has said it."""

    consume_from_where: str | None = None
    consume_timestamp: str | None = None
    started_at: datetime | None = None


@dataclass(frozen=True)
class Unstarted:
    key: QueueKey
    kind: str
    min_offset: int | None
    broker_offset: int | None


def forget_started(memory: SampleMemory, brokers: Iterable[BrokerReading]) -> set[QueueKey]:
    """Takes out the answers of queues that have an offset, or are no more. Returns their keys."""
    gone: set[QueueKey] = set()
    for broker in brokers:
        if broker.rows is None:
            continue
        held = [key for key in memory.starts if key[2] == broker.name]
        at = places(broker.rows, [(group, topic, queue_id) for group, topic, _, queue_id in held])
        still = {one.key for one in _unstarted(broker, list(at.values()))}
        gone |= set(held) - still
    for key in gone:
        del memory.starts[key]
    return gone


def plan_starts(memory: SampleMemory, brokers: Sequence[BrokerReading], calls: int, now: datetime) -> list[Unstarted]:
    """Those that were never asked first, then the longest unasked whose answer may be out of date."""
    queues = calls // CALLS_EACH
    if queues <= 0:
        return []
    fresh: list[Unstarted] = []
    old: list[tuple[datetime, Unstarted]] = []
    for broker in brokers:
        for one in _some_unstarted(broker, queues + len(memory.starts)):
            known = memory.starts.get(one.key)
            if known is None:
                fresh.append(one)
            elif now - known.asked_at >= (ANSWER_HOLDS if known.error is None else FAILURE_HOLDS):
                old.append((known.asked_at, one))
    return [*fresh, *(one for _, one in sorted(old, key=lambda pair: pair[0]))][:queues]


async def ask_starts(
    admins: dict[str, BrokerAdmin],
    asked: Sequence[Unstarted],
    rules: Mapping[str, StartRules],
    memory: SampleMemory,
    now: datetime,
    deadline: float,
) -> dict[QueueKey, StartAnswer]:
    """One answer for each, remembered too. `rules` by group."""
    answers = await asyncio.gather(
        *(_start(admins[one.key[2]], one, rules.get(one.key[0], StartRules()), now, deadline) for one in asked)
    )
    found = {one.key: answer for one, answer in zip(asked, answers, strict=True)}
    memory.starts.update(found)
    return found


async def _start(admin: BrokerAdmin, one: Unstarted, rules: StartRules, now: datetime, deadline: float) -> StartAnswer:
    try:
        answer = await _broker_answer(admin, one, rules, deadline)
    except RocketMQError as failure:
        return StartAnswer(None, "as the broker answers", str(failure), now)
    start = would_start(
        one.kind,
        rules.consume_from_where,
        rules.consume_timestamp,
        rules.started_at,
        one.min_offset,
        one.broker_offset,
        answer,
    )
    return StartAnswer(start.offset, start.rule, start.reason, now)


async def _broker_answer(admin: BrokerAdmin, one: Unstarted, rules: StartRules, deadline: float) -> BrokerAnswer | None:
    group, topic, _, queue_id = one.key
    if one.broker_offset == 0:
        return None
    offset = await admin.consumer_offset(group, topic, queue_id, zero_if_in_memory=True, deadline_seconds=deadline)
    moment = start_time(rules.consume_timestamp, rules.started_at)
    if offset is not None or rules.consume_from_where != TIMESTAMP or moment is None or one.kind == "retry":
        return BrokerAnswer(offset)
    at_time = await admin.search_offset(topic, queue_id, round(moment.timestamp() * 1000), deadline_seconds=deadline)
    return BrokerAnswer(offset, at_time)


def _some_unstarted(broker: BrokerReading, size: int) -> list[Unstarted]:
    if broker.rows is None:
        return []
    never = pc.fill_null(pc.equal(broker.rows["unknown_reason"], UnknownReason.NEVER_COMMITTED), False).to_numpy()
    return _unstarted(broker, np.flatnonzero(never)[:size].tolist())


def _unstarted(broker: BrokerReading, at: Sequence[int]) -> list[Unstarted]:
    assert broker.rows is not None
    names = ["group", "topic", "queue_id", "kind", "min_offset", "broker_offset", "unknown_reason"]
    rows = broker.rows.select(names).take(list(at)).to_pylist() if at else []
    return [
        Unstarted(
            (row["group"], row["topic"], broker.name, row["queue_id"]),
            row["kind"],
            row["min_offset"],
            row["broker_offset"],
        )
        for row in rows
        if row["unknown_reason"] == UnknownReason.NEVER_COMMITTED
        and row["kind"] != "dlq"
        and not is_system_group(row["group"])
    ]
