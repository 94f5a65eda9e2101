"""The first offset stored at a time or later, asked of the masters queue by queue."""

import asyncio
from collections.abc import Collection
from datetime import datetime

from django.utils.translation import gettext as _

from consumers.resets.facts import QueueFacts
from consumers.resets.wish import QueueKey
from consumers.rocketmq.errors import RocketMQError

from .broker_facts import NO_MASTER
from .masters import Masters


async def search(masters: Masters, queues: Collection[QueueFacts], at: datetime) -> dict[QueueKey, int | str]:
    """By queue: the offset, or why it could not be found. `queues` were read; one without messages is not asked."""
    time_ms = int(at.timestamp() * 1000)
    read = [queue for queue in queues if queue.min_offset is not None]
    answers = await asyncio.gather(*(_offset(masters, queue, time_ms) for queue in read))
    return {queue.key: answer for queue, answer in zip(read, answers, strict=True)}


async def _offset(masters: Masters, queue: QueueFacts, time_ms: int) -> int | str:
    if queue.max_offset is not None and queue.min_offset == queue.max_offset:
        return queue.max_offset
    master = masters.get(queue.key.broker)
    if master is None:
        return NO_MASTER
    place = (queue.key.topic, queue.key.queue_id)
    try:
        return await master.ask(lambda admin, within: admin.search_offset(*place, time_ms, deadline_seconds=within))
    except RocketMQError as error:
        return _("The offset of that time could not be found: %s") % error
