"""When the first message that a queue's target makes the group consume was stored: one pull for each queue asked."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from consumers.resets.wish import QueueKey
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.times import time_of

from .amounts import amounts_of
from .broker_facts import NO_MASTER
from .clip import Aim
from .masters import Masters

AT_THE_END = "nothing is stored there yet"
GONE = "the broker has no message there"
NO_TIME = "the message there bears no time that a calendar has"


async def message_times(masters: Masters, aims: Sequence[Aim], most: int) -> dict[QueueKey, datetime | str]:
    """By queue: the time, or why there is none. `most` queues are asked, those with most messages to come or to lose
    first. A pull names RocketMQ's own tools group, and never an offset below the queue's first."""
    times: dict[QueueKey, datetime | str] = {one.key: AT_THE_END for one in aims if one.target == one.most}
    there = sorted((one for one in aims if one.key not in times), key=_moved, reverse=True)
    answers = await asyncio.gather(*(_time(masters, one) for one in there[:most]))
    times |= {one.key: answer for one, answer in zip(there, answers, strict=False)}
    unasked = _("only of %s queues the message is read (RESET_MESSAGE_TIMES)") % most
    return {one.key: times.get(one.key, unasked) for one in aims}


def _moved(aim: Aim) -> int:
    amounts = amounts_of(aim)
    return (amounts.replayed or 0) + (amounts.skipped or 0)


async def _time(masters: Masters, aim: Aim) -> datetime | str:
    master = masters.get(aim.key.broker)
    if master is None:
        return NO_MASTER
    place = (aim.key.topic, aim.key.queue_id, aim.target)
    try:
        pulled = await master.ask(lambda admin, within: admin.pull(*place, deadline_seconds=within))
    except RocketMQError as error:
        return str(error)
    if not pulled.messages:
        return GONE
    return time_of(pulled.messages[0].stored_ms) or NO_TIME
