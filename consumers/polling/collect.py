"""One reading of one cluster's offsets: every broker at once, and no broker spoils another."""

import asyncio
from datetime import datetime

from consumers.rocketmq.admin import BrokerAdmin, NameServer
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.pool import ConnectionPool

from .broker_reading import read_broker
from .cadence import Cadence
from .memory import ClusterMemory
from .reading import BrokerListing, BrokerReading, OffsetsReading

MASTER = 0


async def collect_offsets(
    pool: ConnectionPool,
    cluster: str,
    name_servers: list[str],
    memory: ClusterMemory,
    cadence: Cadence,
    now: datetime,
    deadline_seconds: float,
) -> OffsetsReading:
    """Reads whatever answers; what does not is in the reading as an error, never as a number."""
    clock = asyncio.get_running_loop().time
    began, calls, read = clock(), pool.calls, pool.bytes_received
    try:
        listed = await list_brokers(NameServer(pool, name_servers), deadline_seconds)
        error = None if listed else "The name server knows no broker."
    except RocketMQError as failure:
        listed, error = (), str(failure)
    parts = await asyncio.gather(
        *(
            _read_master(pool, name, listed, memory, cadence, now, deadline_seconds)
            for name in sorted({broker.name for broker in listed} | memory.brokers.keys())
        )
    )
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


async def list_brokers(name_server: NameServer, deadline_seconds: float) -> tuple[BrokerListing, ...]:
    info = await name_server.cluster(deadline_seconds=deadline_seconds)
    return tuple(
        BrokerListing(broker.name, broker_id, address)
        for broker in info.brokers
        for broker_id, address in sorted(broker.addresses.items())
    )


async def _read_master(
    pool: ConnectionPool,
    name: str,
    listed: tuple[BrokerListing, ...],
    memory: ClusterMemory,
    cadence: Cadence,
    now: datetime,
    deadline_seconds: float,
) -> BrokerReading:
    """A broker that the name server no longer lists (the dead, after two minutes) is asked where it last was."""
    masters = [broker.address for broker in listed if broker.name == name and broker.broker_id == MASTER]
    known = memory.brokers.get(name)
    address = masters[0] if masters else known.address if known else None
    if address is None:
        return BrokerReading(name=name, address=None, error=f"The name server lists no master of {name}.")
    return await read_broker(BrokerAdmin(pool, address), name, memory, cadence, now, deadline_seconds)
