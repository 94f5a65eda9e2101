"""One reading of one cluster's offsets: all brokers in parallel; a failing broker does not affect another."""

import asyncio
from datetime import datetime

from consumers.polling.brokers.broker_turn import Turn
from consumers.rocketmq.admin import NameServer
from consumers.rocketmq.wire.errors import RocketMQError
from consumers.rocketmq.wire.pool import ConnectionPool
from consumers.vocabulary.brokers import MASTER

from .memory import Cadence, ClusterMemory
from .reading import BrokerListing, BrokerReading, OffsetsReading


async def collect_offsets(
    pool: ConnectionPool,
    cluster: str,
    name_servers: list[str],
    memory: ClusterMemory,
    cadence: Cadence,
    now: datetime,
    deadline_seconds: float,
) -> OffsetsReading:
    """Reads every broker that answers. A failure is stored in the reading as an error, never as a number."""
    clock = asyncio.get_running_loop().time
    began, calls, read = clock(), pool.calls, pool.bytes_received
    try:
        listed = await _list_brokers(pool, name_servers, memory, deadline_seconds)
        error = None if listed else "The name server knows no broker."
    except RocketMQError as failure:
        listed, error = (), str(failure)
    turn = Turn(pool, memory, cadence, now, deadline_seconds)
    names = sorted({broker.name for broker in listed} | memory.brokers.keys())
    parts = await asyncio.gather(*(_read_broker(turn, name, listed) for name in names))
    return OffsetsReading(
        cluster=cluster,
        taken_at=now,
        brokers=tuple(parts),
        listed=listed,
        calls=pool.calls - calls,
        bytes=pool.bytes_received - read,
        seconds=clock() - began,
        error=error,
    )


def unreadable(cluster: str, memory: ClusterMemory, reason: str, now: datetime) -> OffsetsReading:
    """The reading of a cluster that cannot be contacted."""
    brokers = [BrokerReading(name, known.address, error=reason) for name, known in sorted(memory.brokers.items())]
    return OffsetsReading(
        cluster=cluster, taken_at=now, brokers=tuple(brokers), listed=(), calls=0, bytes=0, seconds=0.0, error=reason
    )


async def _list_brokers(
    pool: ConnectionPool, addresses: list[str], memory: ClusterMemory, deadline_seconds: float
) -> tuple[BrokerListing, ...]:
    """The name server that answered last is asked first: a dead name server costs its share of the deadline only
    once.
    """
    name_server = NameServer(pool, sorted(addresses, key=lambda address: address != memory.name_server))
    info = await name_server.cluster(deadline_seconds=deadline_seconds)
    memory.name_server = name_server.answered_by
    memory.clusters |= {broker.name: broker.cluster for broker in info.brokers if broker.cluster}
    return tuple(
        BrokerListing(broker.name, broker_id, address, broker.cluster)
        for broker in info.brokers
        for broker_id, address in sorted(broker.addresses.items())
    )


async def _read_broker(turn: Turn, name: str, listed: tuple[BrokerListing, ...]) -> BrokerReading:
    """A master that the name server no longer lists (it lists living brokers only) is asked at its last address."""
    named = [broker for broker in listed if broker.name == name]
    masters = [broker.address for broker in named if broker.broker_id == MASTER]
    known = turn.memory.brokers.get(name)
    master = masters[0] if masters else known.address if known else None
    return await turn.read(name, master, [broker.address for broker in named if broker.broker_id != MASTER])
