"""Who is in a group: asked of every broker, since a client registers with the brokers of its own topics only.

Costs one call per group and broker, so it has a budget; the groups that were asked longest ago come first.
"""

import asyncio
from collections.abc import Sequence

from consumers.polling.reading import GroupMembers, Member
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.client_values import GroupConnections
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.versions import mq_version_name

from .sweep import SweptBroker


async def read_groups(
    brokers: Sequence[BrokerAdmin], groups: Sequence[str], unread: str | None, deadline_seconds: float
) -> list[GroupMembers]:
    """One answer per group. `unread` says which broker could not be asked at all: no answer is complete then."""
    swept = [SweptBroker(broker, deadline_seconds) for broker in brokers]
    return list(await asyncio.gather(*(_read_group(swept, group, unread) for group in groups)))


async def _read_group(brokers: Sequence[SweptBroker], group: str, unread: str | None) -> GroupMembers:
    answers = await asyncio.gather(*(broker.connections(group) for broker in brokers))
    return unite(group, [(broker.address, answer) for broker, answer in zip(brokers, answers, strict=True)], unread)


def unite(
    group: str, answers: Sequence[tuple[str, GroupConnections | RocketMQError]], unread: str | None = None
) -> GroupMembers:
    """All brokers' answers as one; the first broker that lists a member is where it can be reached."""
    members: dict[str, Member] = {}
    subscriptions: dict[str, dict[str, str | None]] = {}
    spoken: GroupConnections | None = None
    errors = [unread] if unread else []
    for address, answer in answers:
        if isinstance(answer, RocketMQError):
            errors.append(str(answer))
            continue
        if not answer.online:
            continue
        spoken = spoken or answer
        for client in answer.clients:
            version = mq_version_name(client.version)
            members.setdefault(
                client.client_id, Member(client.client_id, client.address, client.language, version, address)
            )
        for subscription in answer.subscriptions:
            subscriptions[subscription.topic] = {
                "topic": subscription.topic,
                "expression": subscription.expression,
                "expression_type": subscription.expression_type,
            }
    return GroupMembers(
        group=group,
        members=tuple(sorted(members.values(), key=lambda member: member.client_id)),
        consume_type=spoken.consume_type if spoken else None,
        message_model=spoken.message_model if spoken else None,
        consume_from_where=spoken.consume_from_where if spoken else None,
        subscriptions=tuple(subscriptions[topic] for topic in sorted(subscriptions)),
        error=errors[0] if errors else None if answers else "No broker could be asked.",
    )
