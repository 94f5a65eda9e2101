"""Stretches of time in which a queue needed no owner: one without is nothing to be alarmed by."""

from collections.abc import Iterator
from datetime import datetime

from consumers.selectors.overlay import iso

from .listed import Listed
from .queues import OwnableQueue
from .stretches import Stretch, uncovered


def unsubscribed(listed: Listed, topic: str, since: datetime, until: datetime) -> Iterator[Stretch]:
    """While members had said what they subscribe to, and none subscribed to the topic."""
    said = [(one.since, one.gone_by or until) for one in listed.subscribed]
    wanted = [(one.since, one.gone_by or until) for one in listed.subscribed if one.topic == topic]
    silent = list(uncovered(said, since, until))
    for start, end in uncovered([*wanted, *silent], since, until):
        yield Stretch(start, end, f"no member subscribed to {topic}")


def not_there(queue: OwnableQueue, since: datetime, until: datetime) -> Iterator[Stretch]:
    """Before it was first seen, and while nothing can be read of it."""
    if queue.first_seen_at is not None and queue.first_seen_at > since:
        yield Stretch(since, min(queue.first_seen_at, until), f"the queue was first seen at {iso(queue.first_seen_at)}")
    if queue.readable is False:
        start = max(queue.readable_since or since, since)
        if start < until:
            yield Stretch(start, until, "the queue is not readable: it needs no owner")
