"""Where a group stands in one queue, and what the queue holds: three calls at its master."""

from consumers.resets.facts import QueueFacts
from consumers.resets.wish import QueueKey
from consumers.rocketmq.errors import RocketMQError

from .broker_facts import NO_MASTER
from .masters import Masters


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
