"""How many of the next messages a group's tag expression lets through, from the hashes in the consume queue.

The broker's own first filter compares the same hashes (RocketMQ 5.4.0, ExpressionMessageFilter); two tags with one
hash are told apart by the client only. SQL92 expressions look at properties and are not sampled.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from consumers.polling.reading import BrokerReading, GroupMembers
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.stored import QueueEntries
from consumers.rocketmq.names import is_system_group
from consumers.rocketmq.wire.errors import RocketMQError

from .broker_clock import behind
from .reading import SampleMemory, TagCount, TopicKey

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
    due = [one for one in behind.values() if _is_due(memory.tags.get(one.key), now)]
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


def _is_due(known: TagCount | None, now: datetime) -> bool:
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
