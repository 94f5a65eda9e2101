"""Searches a target queue for messages that may have been sent: by our mark, from its former end to its present end."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from consumers.models import ResendOutcome
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.dead import RESEND_PROPERTY
from consumers.rocketmq.messages.stored import PullOutcome
from consumers.vocabulary.resends import ResendCause, stored_cause

# A broker returns no more at once (5.4.0, MessageStoreConfig).
AT_ONCE = 32

MOST_MESSAGES = 20_000

TRIES, PAUSE_SECONDS = 5, 0.2


@dataclass
class Search:
    """`found`: offset by mark. `gap`: why not every message of the range was read, as a stored cause; null where all
    were.
    """

    found: dict[str, int] = field(default_factory=dict)
    gap: str | None = None


async def search(
    broker: BrokerAdmin, topic: str, queue_id: int, floor: int, marks: Collection[str], deadline_seconds: float
) -> Search:
    """Raises RocketMQError where the broker does not answer. Stops early once every mark is found."""
    end = await broker.max_offset(topic, queue_id, deadline_seconds=deadline_seconds)
    result = Search()
    if end < floor:
        result.gap = stored_cause(ResendCause.QUEUE_RECREATED, end=end, floor=floor)
        return result
    last = min(end, floor + MOST_MESSAGES)
    if last < end:
        result.gap = stored_cause(ResendCause.TOO_MANY_SINCE, messages=end - floor, searched=MOST_MESSAGES)
    at, tries = floor, 0
    while at < last and len(result.found) < len(marks):
        pulled = await broker.pull(topic, queue_id, at, AT_ONCE, deadline_seconds=deadline_seconds)
        if pulled.outcome in (PullOutcome.NO_MESSAGE_YET, PullOutcome.RETRY) and (tries := tries + 1) < TRIES:
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        first = pulled.messages[0].queue_offset if pulled.messages else pulled.next_offset
        for message in pulled.messages:
            mark = message.properties.get(RESEND_PROPERTY)
            if mark is not None and mark in marks:
                result.found[mark] = message.queue_offset
        if first > at or pulled.next_offset <= at:
            result.gap = stored_cause(ResendCause.OFFSETS_UNREADABLE, **{"from": at, "to": max(first, at)})
        if pulled.next_offset <= at:
            break
        at, tries = pulled.next_offset, 0
    return result


@dataclass(frozen=True)
class SendResult:
    outcome: ResendOutcome
    target_offset: int | None = None
    error: str | None = None


def send_result(mark: str, looked: Search, *, answered: bool) -> SendResult:
    """The outcome of a message whose worker stopped while sending, or whose answer did not come.

    PLANNED: certainly not sent, so that it may be sent. `answered`: the broker had said that it stored it.
    """
    if mark in looked.found:
        return SendResult(ResendOutcome.SENT, looked.found[mark])
    if looked.gap is not None:
        return SendResult(ResendOutcome.UNKNOWN, error=stored_cause(ResendCause.MAYBE_SENT, why=looked.gap))
    if answered:
        return SendResult(ResendOutcome.FAILED, error=stored_cause(ResendCause.DIVERTED))
    return SendResult(ResendOutcome.PLANNED)
