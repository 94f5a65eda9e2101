"""When the first unconsumed message of a queue was stored: this makes a time lag exact.

Fetched for the queues with the largest lag, under a budget. While the consumer offset is unchanged, an answer stays
valid and costs nothing more. Never fetched for an expired message: the min offset is read right before each pull.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.polling.reading import BrokerReading, GroupMembers
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.stored import Pulled, PullOutcome, QueueEntries
from consumers.rocketmq.names import is_system_group
from consumers.rocketmq.wire.codes import BrokerRefused, ResponseCode, RocketMQError
from consumers.vocabulary.reasons import PollProblem, stored_reason

from .reading import (
    FAILURE_HOLDS,
    REFUSAL_HOLDS,
    FirstStored,
    QueueKey,
    SampleMemory,
    TagCount,
    TopicKey,
    behind,
    places,
)

# How many of the next messages a group's tag expression lets through, from the hashes in the consume queue.
#
# The broker's own first filter compares the same hashes (RocketMQ 5.4.0, ExpressionMessageFilter); two tags with one
# hash are told apart by the client only. SQL92 expressions look at properties and are not sampled.

logger = logging.getLogger(__name__)

LOOKED_AT = 64
ANSWER_HOLDS = timedelta(seconds=60)
EVERY_TAG = ("", "*")
# ExpressionType.isTagType: a subscription that names no kind is one of tags.
TAG_TYPES = ("TAG", "", None)


@dataclass(frozen=True)
class Filtered:
    """The most lagging queue of a topic that a group filters by tags."""

    group: str
    topic: str
    expression: str
    broker: str
    queue_id: int
    offset: int

    @property
    def key(self) -> TopicKey:
        return self.group, self.topic


def tag_filters(subscriptions: Iterable[Mapping[str, str | None]]) -> dict[str, str]:
    """By topic, the tag expressions that leave something out."""
    return {
        topic: expression
        for one in subscriptions
        if (topic := one["topic"]) and (expression := one["expression"] or "") not in EVERY_TAG
        if one.get("expression_type") in TAG_TYPES
    }


def note_filters(memory: SampleMemory, answers: Iterable[GroupMembers]) -> None:
    for answer in answers:
        if not answer.members or is_system_group(answer.group):
            continue
        found = tag_filters(answer.subscriptions)
        if found:
            memory.filters[answer.group] = found
        else:
            memory.filters.pop(answer.group, None)


def tag_hashes(expression: str) -> set[int]:
    """`TagA || TagB` as the hashes that a consume queue holds (FilterAPI.buildSubscriptionData)."""
    return {java_hash(tag.strip()) for tag in expression.split("||") if tag.strip()}


def java_hash(text: str) -> int:
    """Java's String.hashCode: over UTF-16 code units, in 32 bits with a sign."""
    value = 0
    units = text.encode("utf-16-be")
    for at in range(0, len(units), 2):
        value = (value * 31 + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def plan_tags(
    memory: SampleMemory, brokers: Sequence[BrokerReading], calls: int, now: datetime
) -> tuple[list[Filtered], set[TopicKey]]:
    """What to ask, those never asked first, and the keys of answers that no longer hold."""
    behind = {one.key: one for one in _filtered(memory, brokers)}
    read = {broker.name for broker in brokers if broker.rows is not None}
    whole = len(read) == len(brokers)
    gone = {
        key
        for key, answer in memory.tags.items()
        if memory.filters.get(key[0], {}).get(key[1]) != answer.expression or (whole and key not in behind)
    }
    for key in gone:
        del memory.tags[key]
    due = [one for one in behind.values() if _is_tag_due(memory.tags.get(one.key), now)]
    ordered = sorted(due, key=lambda one: (one.key in memory.tags, _asked_at(memory, one, now), one.key))
    return ordered[: max(calls, 0)], gone


async def ask_tags(
    admins: dict[str, BrokerAdmin], asked: Sequence[Filtered], memory: SampleMemory, now: datetime, deadline: float
) -> dict[TopicKey, TagCount]:
    """Remembered too. What could not be counted is left out, and asked again with the next reading."""
    answers = await asyncio.gather(*(_count(admins[one.broker], one, now, deadline) for one in asked))
    found = {one.key: answer for one, answer in zip(asked, answers, strict=True) if answer is not None}
    memory.tags.update(found)
    return found


async def _count(admin: BrokerAdmin, one: Filtered, now: datetime, deadline: float) -> TagCount | None:
    try:
        found = await admin.consume_queue(one.topic, one.queue_id, one.offset, LOOKED_AT, deadline_seconds=deadline)
    except RocketMQError as failure:
        logger.info("The next messages of %s on %s were not looked at: %s", one.topic, one.broker, failure)
        return None
    return counted(one.expression, found, now)


def counted(expression: str, found: QueueEntries, now: datetime) -> TagCount | None:
    """None where nothing was seen, or an entry does not tell its hash: a part would be no share."""
    codes = [entry.tags_code for entry in found.entries]
    if not codes or None in codes:
        return None
    wanted = tag_hashes(expression)
    return TagCount(expression, len(codes), sum(code in wanted for code in codes), now)


def _is_tag_due(known: TagCount | None, now: datetime) -> bool:
    return known is None or now - known.asked_at >= ANSWER_HOLDS


def _asked_at(memory: SampleMemory, one: Filtered, now: datetime) -> datetime:
    known = memory.tags.get(one.key)
    return now if known is None else known.asked_at


def _filtered(memory: SampleMemory, brokers: Sequence[BrokerReading]) -> Iterable[Filtered]:
    """One for each filtered topic of a group that is behind on a broker that was read."""
    worst: dict[TopicKey, tuple[int, Filtered]] = {}
    for broker in brokers:
        for row in _filtered_rows(memory, broker):
            group, topic = row["group"], row["topic"]
            lag = row["broker_offset"] - row["consumer_offset"]
            expression = memory.filters[group].get(topic)
            if expression is not None and lag > worst.get((group, topic), (0,))[0]:
                queue = Filtered(group, topic, expression, broker.name, row["queue_id"], row["consumer_offset"])
                worst[group, topic] = (lag, queue)
    return [one for _, one in worst.values()]


def _filtered_rows(memory: SampleMemory, broker: BrokerReading) -> list[dict[str, Any]]:
    if broker.rows is None or not memory.filters:
        return []
    at, _ = behind(broker.rows)
    wanted = {"group": set(memory.filters), "topic": {topic for topics in memory.filters.values() for topic in topics}}
    for name, values in wanted.items():
        held = pc.is_in(broker.rows[name].cast(pa.string()), value_set=pa.array(sorted(values), pa.string()))
        at = at[held.to_numpy()[at]]
    names = ["group", "topic", "queue_id", "consumer_offset", "broker_offset"]
    return broker.rows.select(names).take(pa.array(at)).to_pylist()


CALLS_EACH = 2


@dataclass(frozen=True)
class Lagging:
    """A lagging queue, at its consumer offset."""

    key: QueueKey
    offset: int
    lag: int

    @property
    def end(self) -> int:
        return self.offset + self.lag


def forget_moved(memory: SampleMemory, brokers: Iterable[BrokerReading]) -> set[QueueKey]:
    """Removes answers that are no longer valid: the group moved on or has no lag there, or the end of the queue went
    back, so that another message may lie at the offset. Returns their keys."""
    gone: set[QueueKey] = set()
    for broker in brokers:
        if broker.rows is None:
            continue
        held = {key: answer for key, answer in memory.first.items() if key[2] == broker.name}
        unmoved = {one.key: one for one in _lagging_of(broker, held) if one.offset == held[one.key].offset}
        anew = {key for key, one in unmoved.items() if one.end < memory.ends.get(key, 0)}
        gone |= (held.keys() - unmoved.keys()) | anew
        memory.ends.update({key: one.end for key, one in unmoved.items()})
    for key in gone:
        del memory.first[key]
    # Of answers that others took the place of, too.
    for key in memory.ends.keys() - memory.first.keys():
        del memory.ends[key]
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
    memory.ends.update({one.key: one.end for one in asked})
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


def expired(offset: int, oldest: int) -> str:
    """Why there is no message at `offset`, as it is stored."""
    return stored_reason(PollProblem.MESSAGE_EXPIRED, offset=str(offset), oldest=str(oldest))


def not_found(offset: int, pulled: Pulled) -> str:
    """Why the pull at `offset` did not return the message there, as it is stored."""
    if pulled.outcome is PullOutcome.NO_MESSAGE_YET:
        return stored_reason(PollProblem.MESSAGE_NOT_YET, offset=str(offset))
    # The first message found may lie after a message whose file is gone.
    following = pulled.messages[0].queue_offset if pulled.messages else pulled.next_offset
    return stored_reason(PollProblem.MESSAGE_SKIPPED, offset=str(offset), next=str(following))


async def _first_stored(
    admin: BrokerAdmin, one: Lagging, memory: SampleMemory, now: datetime, deadline: float
) -> FirstStored:
    _, topic, broker, queue_id = one.key
    try:
        minimum = await admin.min_offset(topic, queue_id, deadline_seconds=deadline)
        if one.offset < minimum:
            return FirstStored(one.offset, None, expired(one.offset, minimum), now)
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
        return FirstStored(offset, None, not_found(offset, pulled), now)
    return FirstStored(offset, datetime.fromtimestamp(message.stored_ms / 1000, UTC), None, now)
