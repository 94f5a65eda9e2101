"""Where another group of the same cluster stands, asked of its masters queue by queue."""

import asyncio
from collections.abc import Collection

from consumers.errands.ports import Ports
from consumers.models import ConsumerGroup
from consumers.polling.flags import BROADCASTING, POPPING
from consumers.rocketmq.errors import RocketMQError

from .planning.masters import Masters
from .wish import QueueKey, ResetRefused

NO_MASTER = "no master of it is known: it is down, or only its slave is up"


def offsets_of(source: str, keys: Collection[QueueKey], ports: Ports) -> dict[QueueKey, int | str]:
    """By queue: the offset, or why there is none."""
    return ports.wire.run(_asked(source, sorted(keys, key=lambda key: (key.topic, key.broker, key.queue_id)), ports))


def check_source(cluster: str, source: str) -> tuple[str, ...]:
    """Warnings. Raises ResetRefused for a group whose progress is not what brokers hold."""
    group = ConsumerGroup.objects.filter(cluster__name=cluster, name=source).first()
    if group is None:
        raise ResetRefused(f"There is no group {source} in {cluster}: choose one that is listed.")
    if group.message_model == BROADCASTING:
        raise ResetRefused(
            f"{source} is broadcasting: each of its members goes on from its own file, so that there is no offset to "
            "copy. Give the offsets yourself."
        )
    if group.outside_store is not None:
        raise ResetRefused(
            f"{source} keeps its offsets outside of RocketMQ ({group.outside_store}), so that there is none to copy. "
            "Give the offsets yourself."
        )
    warnings = [f"Where {source} stands is taken as it was at the time of the plan; it may go on meanwhile."]
    if group.consume_type == POPPING:
        warnings.append(f"{source} pops: its offsets pass messages that it has not acknowledged; they are skipped.")
    return tuple(warnings)


async def _asked(source: str, keys: list[QueueKey], ports: Ports) -> dict[QueueKey, int | str]:
    masters = Masters(ports)
    return dict(zip(keys, await asyncio.gather(*(_offset(masters, source, key) for key in keys)), strict=True))


async def _offset(masters: Masters, source: str, key: QueueKey) -> int | str:
    master = masters.get(key.broker)
    if master is None:
        return NO_MASTER
    try:
        offset = await master.ask(
            lambda admin, within: admin.consumer_offset(source, key.topic, key.queue_id, deadline_seconds=within)
        )
    except RocketMQError as error:
        return f"where {source} stands could not be read: {error}"
    return f"{source} has committed nothing there" if offset is None else offset
