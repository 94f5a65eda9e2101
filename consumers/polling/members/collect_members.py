"""The membership part of a reading: who to ask is planned from the rows, under a budget."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from consumers.polling.reading import ClientReading, Member, MembersReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.pool import ConnectionPool

from .membership import read_groups
from .running_info import read_clients

# 5.4.0, RemotingProtocolServer: GET_CONSUMER_RUNNING_INFO is not among what a proxy serves.
BEHIND_A_PROXY = "proxies pass no question on to their clients"


@dataclass(frozen=True)
class Budget:
    membership_calls: int
    running_info_calls: int


@dataclass(frozen=True)
class Rotation:
    """Groups in the order of asking, and when each client of theirs last spoke (absent: never)."""

    groups: Sequence[str]
    spoke_at: dict[tuple[str, str], datetime]


async def collect_members(
    pool: ConnectionPool,
    cluster: str,
    addresses: Sequence[str],
    proxies: Sequence[str],
    unread: str | None,
    rotation: Rotation,
    budget: Budget,
    now: datetime,
    deadline_seconds: float,
) -> MembersReading:
    clock = asyncio.get_running_loop().time
    began, calls = clock(), pool.calls
    # Clients of a proxy register there, so it is asked like one broker more (5.4.0, ConsumerManagerActivity).
    brokers = [BrokerAdmin(pool, address) for address in (*addresses, *proxies)]
    asked = rotation.groups[: budget.membership_calls // max(len(brokers), 1)]
    groups = await read_groups(brokers, asked, unread, deadline_seconds)
    members = [(answer.group, member) for answer in groups for member in answer.members]
    silent = [
        ClientReading(group, member.client_id, error=BEHIND_A_PROXY)
        for group, member in members
        if member.broker_address in proxies
    ]
    members = [(group, member) for group, member in members if member.broker_address not in proxies]
    clients = await read_clients(pool, plan_clients(members, rotation, budget.running_info_calls), deadline_seconds)
    return MembersReading(
        cluster=cluster,
        taken_at=now,
        groups=tuple(groups),
        clients=(*clients, *silent),
        calls=pool.calls - calls,
        seconds=clock() - began,
    )


def plan_clients(members: Sequence[tuple[str, Member]], rotation: Rotation, calls: int) -> list[tuple[str, Member]]:
    """Members that never spoke first (their group has changed), then the longest silent."""

    def turn(asked: tuple[str, Member]) -> tuple[bool, datetime | str, str]:
        group, member = asked
        spoke_at = rotation.spoke_at.get((group, member.client_id))
        return (spoke_at is not None, spoke_at or group, member.client_id)

    return sorted(members, key=turn)[:calls]
