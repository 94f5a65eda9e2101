"""What clients say of themselves, through a broker: the queues they hold and how far each is.

A client that hangs holds its call for up to 10 s (RocketMQ 5.4.0, Broker2Client), so the whole round has a limit.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from consumers.polling.reading import ClientReading, Member, OwnedQueue
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.client_values import PopQueue, ProcessQueue, RunningInfo
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.pool import ConnectionPool

from .client_settings import kept_settings
from .strategy_class import strategy_class

AT_ONCE = 16


async def read_clients(
    pool: ConnectionPool, asked: Sequence[tuple[str, Member]], deadline_seconds: float
) -> list[ClientReading]:
    """One reading per (group, member), in their order."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def read(group: str, member: Member) -> ClientReading:
        async with turns:
            return await _read_client(pool, group, member, deadline_seconds)

    return list(await asyncio.gather(*(read(group, member) for group, member in asked)))


async def _read_client(pool: ConnectionPool, group: str, member: Member, deadline_seconds: float) -> ClientReading:
    admin = BrokerAdmin(pool, member.broker_address)
    try:
        info = await admin.running_info(group, member.client_id, deadline_seconds=deadline_seconds)
        return client_reading(group, member.client_id, info)
    except RocketMQError as error:
        return ClientReading(group=group, client_id=member.client_id, error=str(error))


def client_reading(group: str, client_id: str, info: RunningInfo) -> ClientReading:
    properties = info.properties
    return ClientReading(
        group=group,
        client_id=client_id,
        queues=tuple(_owned(queue) for queue in info.queues),
        strategy=strategy_class(properties.get("allocateMessageQueueStrategy")),
        orderly=_truth(properties.get("PROP_CONSUMEORDERLY")),
        started_at=_time(_whole(properties.get("PROP_CONSUMER_START_TIMESTAMP"))),
        subscriptions=tuple(
            {"topic": s.topic, "expression": s.expression, "expression_type": s.expression_type}
            for s in info.subscriptions
        ),
        settings=kept_settings(properties),
        pop_queues=tuple(_popped(queue) for queue in info.pop_queues if not queue.dropped),
    )


def _popped(queue: PopQueue) -> dict[str, str | int | None]:
    """As it is stored: the time as text."""
    last_pop_at = _time(queue.last_pop_ms)
    return {
        "topic": queue.topic,
        "broker": queue.broker,
        "queue_id": queue.queue_id,
        "wait_ack_count": queue.wait_ack_count,
        "last_pop_at": last_pop_at.isoformat() if last_pop_at else None,
    }


def _owned(queue: ProcessQueue) -> OwnedQueue:
    return OwnedQueue(
        topic=queue.topic,
        broker=queue.broker,
        queue_id=queue.queue_id,
        commit_offset=queue.commit_offset,
        cached_min=queue.cached_min,
        cached_max=queue.cached_max,
        cached_count=queue.cached_count,
        locked=queue.locked,
        dropped=queue.dropped,
        last_pull_at=_time(queue.last_pull_ms),
        last_consume_at=_time(queue.last_consume_ms),
        last_lock_at=_time(queue.last_lock_ms),
    )


def _time(milliseconds: int | None) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _truth(text: str | None) -> bool | None:
    return {"true": True, "false": False}.get(text) if text is not None else None
