"""Reads back what was sent to a retry topic: a broker may have put it into the dead-letter queue and not said so."""

import asyncio
from collections.abc import Iterable, Sequence

from consumers.errands.ports import Ports
from consumers.models import ResendItem, ResendOutcome
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.resent_message import RESEND_PROPERTY

from .errand import Errand
from .search import AT_ONCE, DIVERTED
from .targets import Target, by_target

# What was stored can be pulled a moment later, once the broker has indexed it (5.4.0, ReputMessageService).
TRIES, PAUSE_SECONDS = 20, 0.1


async def read_back(ports: Ports, errand: Errand, sent: Sequence[ResendItem]) -> None:
    """What is not found where the broker said is set to FAILED where something else lies there, else to SENDING."""
    for target, items in by_target(sent).items():
        try:
            marks = await _marks(ports.known(target.broker), target, items, ports.deadline_seconds)
        except RocketMQError as error:
            _doubt(items, f"the broker took it, and it could not be read back: {error}")
            continue
        for item in items:
            if item.target_offset not in marks:
                _doubt([item], "the broker took it, and it cannot be read yet")
            elif marks[item.target_offset] != errand.mark(item):
                item.outcome, item.error = ResendOutcome.FAILED, DIVERTED


def _doubt(items: Iterable[ResendItem], reason: str) -> None:
    for item in items:
        item.outcome, item.error = ResendOutcome.SENDING, reason


async def _marks(
    admin: BrokerAdmin, target: Target, items: Sequence[ResendItem], deadline_seconds: float
) -> dict[int | None, str | None]:
    """By offset, as far as they can be read by now."""
    topic, queue_id = target.topic, target.queue_id
    wanted = sorted(item.target_offset for item in items if item.target_offset is not None)
    marks: dict[int | None, str | None] = {}
    for _ in range(TRIES):
        left = [offset for offset in wanted if offset not in marks]
        if not left or left[0] >= await admin.max_offset(topic, queue_id, deadline_seconds=deadline_seconds):
            if not left:
                break
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        pulled = await admin.pull(topic, queue_id, left[0], AT_ONCE, deadline_seconds=deadline_seconds)
        marks |= {message.queue_offset: message.properties.get(RESEND_PROPERTY) for message in pulled.messages}
        if left[0] not in marks:
            await asyncio.sleep(PAUSE_SECONDS)
    return marks
