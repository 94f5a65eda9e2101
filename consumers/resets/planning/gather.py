"""What the masters of a cluster say of a group and of some of its queues. A plan is made of it, and later checked."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import datetime

from consumers.errands.ports import Ports
from consumers.resets.facts import BrokerFacts, GroupFacts, QueueFacts
from consumers.resets.wish import QueueKey

from .broker_facts import broker_facts
from .known import Known
from .masters import Masters
from .membership import membership
from .pop_topics import pop_topics
from .queue_facts import queue_facts


async def gather(
    ports: Ports, group: str, keys: Collection[QueueKey], known: Known, now: datetime, masters: Masters | None = None
) -> GroupFacts:
    """Three calls for each of `keys`, two for each of their brokers, one for each master and proxy. Never raises
    RocketMQError: what could not be read stands as an error in its place. `masters`: where they are asked more."""
    asked = masters or Masters(ports)
    names = sorted({key.broker for key in keys})
    who, pops, brokers, queues = await asyncio.gather(
        membership(ports, asked, group),
        pop_topics(asked, names, group, known),
        asyncio.gather(*(broker_facts(asked, name) for name in names)),
        _queues(asked, group, sorted(keys)),
    )
    return GroupFacts(
        taken_at=now,
        members=who.members,
        members_error=who.error,
        message_model=who.message_model,
        consume_type=who.consume_type,
        orderly=known.orderly,
        languages=who.languages,
        pop_topics=pops,
        brokers=_by_name(brokers),
        queues={facts.key: facts for facts in queues},
    )


async def _queues(masters: Masters, group: str, keys: Sequence[QueueKey]) -> list[QueueFacts]:
    return list(await asyncio.gather(*(queue_facts(masters, group, key) for key in keys)))


def _by_name(brokers: Sequence[BrokerFacts]) -> dict[str, BrokerFacts]:
    return {broker.name: broker for broker in brokers}
