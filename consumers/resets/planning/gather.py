"""What the masters of a cluster say of a group and of some of its queues. A plan is made of it, and later checked."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import datetime

from consumers.jobs.wires import Ports
from consumers.resets.facts import BrokerFacts, GroupFacts, QueueFacts
from consumers.resets.wish import QueueKey
from consumers.rocketmq.wire.codes import ResponseCode
from consumers.rocketmq.wire.errors import BrokerRefused, RocketMQError

from .broker_facts import NO_MASTER, broker_facts
from .known import Known
from .masters import Master, Masters
from .membership import membership

# Which topics a group pops: brokers keep what was set for push consumers, members say what they do.

POP = "POP"


async def pop_topics(masters: Masters, brokers: Sequence[str], group: str, known: Known) -> frozenset[str] | None:
    """Null where one of `brokers` refused to tell. One that is silent has no queue that can be moved anyway."""
    there = [master for broker in brokers if (master := masters.get(broker)) is not None]
    told = await asyncio.gather(*(_of(master, group) for master in there))
    if any(topics is None for topics in told):
        return None
    return known.popped.union(*(topics for topics in told if topics is not None))


async def _of(master: Master, group: str) -> frozenset[str] | None:
    try:
        modes = await master.ask(lambda admin, within: admin.message_request_modes(deadline_seconds=within))
    except BrokerRefused as refusal:
        # A broker before 5.0 knows neither the call nor POP.
        return frozenset() if refusal.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED else None
    except RocketMQError:
        return frozenset()
    return frozenset(topic for topic, groups in modes.items() if groups.get(group) == POP)


# Where a group stands in one queue, and what the queue holds: three calls at its master.


async def queue_facts(masters: Masters, group: str, key: QueueKey) -> QueueFacts:
    """The consumer offset first, so that the queue's end is not older than it."""
    master, place = masters.get(key.broker), (key.topic, key.queue_id)
    if master is None:
        return QueueFacts(key, None, None, None, NO_MASTER)
    try:
        now = await master.ask(lambda admin, within: admin.consumer_offset(group, *place, deadline_seconds=within))
        least = await master.ask(lambda admin, within: admin.min_offset(*place, deadline_seconds=within))
        most = await master.ask(lambda admin, within: admin.max_offset(*place, deadline_seconds=within))
    except RocketMQError as error:
        return QueueFacts(key, None, None, None, str(error))
    if least < 0 or most < least:
        return QueueFacts(key, None, None, None, f"its ends, {least} and {most}, make no sense")
    return QueueFacts(key, least, most, now)


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
