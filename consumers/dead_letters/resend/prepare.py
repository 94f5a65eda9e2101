"""Reads the dead letters of a batch and finds out where each goes. Nothing is sent, and no row is written."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from consumers.errands.ports import Ports, reading
from consumers.models import ResendItem, ResendOutcome
from consumers.rocketmq.messages.message_values import StoredMessage
from consumers.rocketmq.messages.resent_message import resent
from consumers.rocketmq.name_server import Route
from consumers.rocketmq.sends import Outgoing
from consumers.rocketmq.wire.errors import LocalProtocolError, RocketMQError

from .errand import Errand
from .targets import NoTarget, Target, target_of


@dataclass(frozen=True)
class Ready:
    item: ResendItem
    outgoing: Outgoing
    target: Target
    floor_offset: int


@dataclass(frozen=True)
class NotSent:
    """Certainly: nothing was tried yet."""

    item: ResendItem
    outcome: ResendOutcome
    error: str


async def prepare(ports: Ports, errand: Errand, items: Sequence[ResendItem]) -> list[Ready | NotSent]:
    """In the order of `items`."""
    letters = await asyncio.gather(*(_letter(ports, errand, item) for item in items))
    topics = {item.target_topic for item in items if item.target_topic}
    routes = dict(zip(topics, await asyncio.gather(*(_route(ports, topic) for topic in topics)), strict=True))
    aimed = [_aim(ports, errand, item, letter, routes) for item, letter in zip(items, letters, strict=True)]
    queues = {ready.target for ready in aimed if isinstance(ready, Ready)}
    ends = dict(zip(queues, await asyncio.gather(*(_end(ports, queue) for queue in queues)), strict=True))
    return [_floored(ready, ends) for ready in aimed]


async def _letter(ports: Ports, errand: Errand, item: ResendItem) -> StoredMessage | NotSent:
    broker = ports.admin(item.broker)
    if broker is None:
        return NotSent(item, ResendOutcome.FAILED, f"the address of {item.broker} is not known")
    try:
        pulled = await reading(
            lambda: broker.pull(errand.dlq_topic, item.queue_id, item.offset, deadline_seconds=ports.deadline_seconds)
        )
    except RocketMQError as error:
        return NotSent(item, ResendOutcome.FAILED, f"the dead letter could not be read: {error}")
    found = next((message for message in pulled.messages if message.queue_offset == item.offset), None)
    if found is None:
        return NotSent(item, ResendOutcome.SKIPPED, "the dead letter is gone from its broker")
    if found.stored_id != item.stored_id:
        return NotSent(item, ResendOutcome.SKIPPED, "another message lies in its place: the topic was made anew")
    return found


async def _route(ports: Ports, topic: str) -> Route | RocketMQError:
    try:
        return await reading(lambda: ports.route(topic))
    except RocketMQError as error:
        return error


async def _end(ports: Ports, target: Target) -> int | RocketMQError:
    broker, seconds = ports.known(target.broker), ports.deadline_seconds
    try:
        return await reading(lambda: broker.max_offset(target.topic, target.queue_id, deadline_seconds=seconds))
    except RocketMQError as error:
        return error


def _aim(
    ports: Ports,
    errand: Errand,
    item: ResendItem,
    letter: StoredMessage | NotSent,
    routes: dict[str, Route | RocketMQError],
) -> Ready | NotSent:
    """With a floor that is not known yet."""
    if isinstance(letter, NotSent):
        return letter
    route = routes.get(item.target_topic or "")
    if route is None:
        return NotSent(item, ResendOutcome.FAILED, "the message does not say which topic it came from")
    if isinstance(route, RocketMQError):
        return NotSent(item, ResendOutcome.FAILED, f"where {item.target_topic} is could not be read: {route}")
    origin = origin_topic_of(letter)
    if errand.to_group and origin is None:
        return NotSent(item, ResendOutcome.FAILED, "the message does not say which topic it came from")
    try:
        outgoing = resent(letter, errand.mark(item), retry_of=origin if errand.to_group else None)
        return Ready(item, outgoing, target_of(letter, item.broker, route, ports.addresses), -1)
    except (LocalProtocolError, NoTarget) as reason:
        return NotSent(item, ResendOutcome.FAILED, str(reason))


def origin_topic_of(letter: StoredMessage) -> str | None:
    """Clients name it one way, brokers that move a letter themselves the other (5.4.0, MessageConst)."""
    return letter.properties.get("RETRY_TOPIC") or letter.properties.get("DLQ_ORIGIN_TOPIC") or None


def _floored(ready: Ready | NotSent, ends: dict[Target, int | RocketMQError]) -> Ready | NotSent:
    if isinstance(ready, NotSent):
        return ready
    end = ends[ready.target]
    if isinstance(end, RocketMQError):
        return NotSent(ready.item, ResendOutcome.FAILED, f"the end of its target could not be read: {end}")
    return Ready(ready.item, ready.outgoing, ready.target, end)
