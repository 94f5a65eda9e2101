"""Which topics a group pops: brokers keep what was set for push consumers, members say what they do."""

import asyncio
from collections.abc import Sequence

from consumers.rocketmq.codes import ResponseCode
from consumers.rocketmq.errors import BrokerRefused, RocketMQError

from .known import Known
from .masters import Master, Masters

POP = "POP"


async def pop_topics(masters: Masters, brokers: Sequence[str], group: str, known: Known) -> frozenset[str] | None:
    """Null where one of `brokers` refused to tell. One that is silent has no queue that can be moved anyway."""
    there = [master for broker in brokers if (master := masters.get(broker)) is not None]
    told = await asyncio.gather(*(_of(master, group) for master in there))
    if any(topics is None for topics in told):
        return None
    return known.popped.union(*(topics for topics in told if topics is not None))


async def _of(master: Master, group: str) -> frozenset[str] | None:
    try:
        modes = await master.ask(lambda admin, within: admin.message_request_modes(deadline_seconds=within))
    except BrokerRefused as refusal:
        # A broker before 5.0 knows neither the call nor POP.
        return frozenset() if refusal.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED else None
    except RocketMQError:
        return frozenset()
    return frozenset(topic for topic, groups in modes.items() if groups.get(group) == POP)
