"""Channels that a worker should look at: what beat hands over."""

from datetime import datetime


def channels_due(now: datetime) -> list[int]:
    """Ids of channels with a message that may be sent or tried again, or with something to repeat, and no worker."""
    raise NotImplementedError
