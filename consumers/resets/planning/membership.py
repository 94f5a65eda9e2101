"""Who is in a group: asked of every master and proxy, since a member registers where its own topics are."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass

from consumers.jobs.wires import Ports, reading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.client_bodies import GroupConnections
from consumers.rocketmq.wire.errors import RocketMQError

from .masters import Masters

NO_MASTERS = "no master of the cluster is known"


@dataclass(frozen=True)
class Membership:
    """`members` null, with an `error`, unless everybody who was asked answered."""

    members: tuple[str, ...] | None
    error: str | None
    message_model: str | None = None
    consume_type: str | None = None
    languages: tuple[str, ...] = ()


async def membership(ports: Ports, masters: Masters, group: str) -> Membership:
    asked = [
        _told(master.name, master.ask(lambda admin, within: admin.connections(group, deadline_seconds=within)))
        for master in masters
    ]
    asked += [_told(address, _proxy(ports, address, group)) for address in ports.proxies]
    return united(dict(await asyncio.gather(*asked)))


def united(answers: Mapping[str, GroupConnections | RocketMQError]) -> Membership:
    """By who was asked. Where members do not agree, the word that stands in a reset's way: ACTIVELY, BROADCASTING."""
    if not answers:
        return Membership(None, NO_MASTERS)
    told = [answer for answer in answers.values() if not isinstance(answer, RocketMQError)]
    errors = [f"{name}: {answer}" for name, answer in answers.items() if isinstance(answer, RocketMQError)]
    clients = [client for answer in told for client in answer.clients]
    return Membership(
        members=None if errors else tuple(sorted({client.client_id for client in clients})),
        error="; ".join(errors) or None,
        message_model=min((answer.message_model for answer in told if answer.message_model), default=None),
        consume_type=min((answer.consume_type for answer in told if answer.consume_type), default=None),
        languages=tuple(sorted({client.language for client in clients})),
    )


async def _told(name: str, answer: Awaitable[GroupConnections]) -> tuple[str, GroupConnections | RocketMQError]:
    try:
        return name, await answer
    except RocketMQError as error:
        return name, error


async def _proxy(ports: Ports, address: str, group: str) -> GroupConnections:
    proxy = BrokerAdmin(ports.wire.pool, address)
    return await reading(lambda: proxy.connections(group, deadline_seconds=ports.deadline_seconds))
