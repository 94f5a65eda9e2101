"""When the first unconsumed message of a queue was stored: this makes a time lag exact.

Fetched for the queues with the largest lag, under a budget. While the consumer offset is unchanged, an answer stays
valid and costs nothing more. Never fetched for an expired message: the min offset is read right before each pull.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.stored import Pulled, PullOutcome
from consumers.rocketmq.names import is_system_group
from consumers.rocketmq.wire.codes import ResponseCode
from consumers.rocketmq.wire.errors import BrokerRefused, RocketMQError

from .broker_clock import behind, places
from .reading import FAILURE_HOLDS, REFUSAL_HOLDS, FirstStored, QueueKey, SampleMemory

CALLS_EACH = 2


@dataclass(frozen=True)
class Lagging:
    """A lagging queue, at its consumer offset."""

    key: QueueKey
    offset: int
    lag: int


def forget_moved(memory: SampleMemory, brokers: Iterable[BrokerReading]) -> set[QueueKey]:
    """Removes answers that are no longer valid because the group moved on or has no lag there. Returns their keys."""
    gone: set[QueueKey] = set()
    for broker in brokers:
        if broker.rows is None:
            continue
        held = {key: answer for key, answer in memory.first.items() if key[2] == broker.name}
        standing = {one.key: one.offset for one in _lagging_of(broker, held)}
        gone |= {key for key, answer in held.items() if standing.get(key) != answer.offset}
    for key in gone:
        del memory.first[key]
    return gone


def plan_first(
    memory: SampleMemory, brokers: Sequence[BrokerReading], wanted: Sequence[QueueKey], calls: int, now: datetime
) -> list[Lagging]:
    """The wanted queues in their order, then the queues with the largest lag, without queues that have an answer."""
    queues = calls // CALLS_EACH
    if queues <= 0:
        return []
    found = {one.key: one for broker in brokers for one in _lagging_of(broker, wanted)}
    chosen = {key: found[key] for key in wanted if key in found and _is_due(memory, found[key], now)}
    if len(chosen) < queues:
        most = _most_behind(brokers, queues + len(memory.first))
        chosen |= {one.key: one for one in most if one.key not in chosen and _is_due(memory, one, now)}
    return list(chosen.values())[:queues]


async def ask_first(
    admins: dict[str, BrokerAdmin], asked: Sequence[Lagging], memory: SampleMemory, now: datetime, deadline: float
) -> dict[QueueKey, FirstStored]:
    """One answer for each queue, remembered too. `admins` by broker name."""
    answers = await asyncio.gather(
        *(_first_stored(admins[one.key[2]], one, memory, now, deadline) for one in asked),
    )
    found = {one.key: answer for one, answer in zip(asked, answers, strict=True)}
    memory.first.update(found)
    return found


def _is_due(memory: SampleMemory, one: Lagging, now: datetime) -> bool:
    _, topic, broker, _ = one.key
    if broker in memory.wrong_clocks or memory.refusal(broker, topic, now):
        return False
    known = memory.first.get(one.key)
    if known is None or known.offset != one.offset:
        return True
    return known.error is not None and now - known.asked_at >= FAILURE_HOLDS


def _lagging_of(broker: BrokerReading, keys: Iterable[QueueKey]) -> list[Lagging]:
    wanted = [(group, topic, queue_id) for group, topic, name, queue_id in keys if name == broker.name]
    if broker.rows is None or not wanted:
        return []
    at = list(places(broker.rows, wanted).values())
    return _lagging(broker, at)


def _lagging(broker: BrokerReading, at: Sequence[int]) -> list[Lagging]:
    """The lagging rows at these places."""
    assert broker.rows is not None
    names = ["group", "topic", "queue_id", "kind", "consumer_offset", "broker_offset", "unknown_reason"]
    rows = broker.rows.select(names).take(list(at)).to_pylist() if at else []
    return [
        Lagging(
            (row["group"], row["topic"], broker.name, row["queue_id"]),
            row["consumer_offset"],
            row["broker_offset"] - row["consumer_offset"],
        )
        for row in rows
        if row["unknown_reason"] is None and row["kind"] != "dlq" and not is_system_group(row["group"])
        if None not in (row["consumer_offset"], row["broker_offset"])
        if row["consumer_offset"] < row["broker_offset"]
    ]


def _most_behind(brokers: Sequence[BrokerReading], size: int) -> list[Lagging]:
    """The rows with the largest lag, largest first."""
    found: list[tuple[int, Lagging]] = []
    for broker in brokers:
        if broker.rows is None:
            continue
        at, lag = behind(broker.rows)
        largest = np.argpartition(-lag, size)[:size] if size < len(lag) else slice(None)
        found += [(one.lag, one) for one in _lagging(broker, at[largest].tolist())]
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


async def _first_stored(
    admin: BrokerAdmin, one: Lagging, memory: SampleMemory, now: datetime, deadline: float
) -> FirstStored:
    _, topic, broker, queue_id = one.key
    try:
        minimum = await admin.min_offset(topic, queue_id, deadline_seconds=deadline)
        if one.offset < minimum:
            error = f"the message at {one.offset} has expired: the oldest is at {minimum}"
            return FirstStored(one.offset, None, error, now)
        pulled = await admin.pull(topic, queue_id, one.offset, deadline_seconds=deadline)
    except BrokerRefused as refusal:
        if refusal.code == ResponseCode.NO_PERMISSION:
            memory.refused[broker, topic] = (now + REFUSAL_HOLDS, str(refusal))
        return FirstStored(one.offset, None, str(refusal), now)
    except RocketMQError as failure:
        return FirstStored(one.offset, None, str(failure), now)
    return _answer(one.offset, pulled, now)


def _answer(offset: int, pulled: Pulled, now: datetime) -> FirstStored:
    message = pulled.messages[0] if pulled.messages else None
    if message is None or message.queue_offset != offset:
        if pulled.outcome is PullOutcome.NO_MESSAGE_YET:
            error = f"the broker has no message at {offset} yet"
        else:
            # The first message found may lie after a message whose file is gone.
            on = pulled.next_offset if message is None else message.queue_offset
            error = f"the message at {offset} is gone: the broker goes on at {on}"
        return FirstStored(offset, None, error, now)
    return FirstStored(offset, datetime.fromtimestamp(message.stored_ms / 1000, UTC), None, now)
