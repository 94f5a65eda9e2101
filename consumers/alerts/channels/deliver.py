"""Sends what waits for a channel, in its order."""

from collections.abc import Callable
from datetime import datetime


def deliver(channel_id: int, clock: Callable[[], datetime], pause: Callable[[float], None]) -> datetime | None:
    """When to come again, or None: nothing waits, or another worker has the channel."""
    raise NotImplementedError
