"""A message that somebody asks for, to see whether a channel works."""

from datetime import datetime
from typing import Any

from consumers.models import Channel, Delivery


def send_test(channel: Channel, by: Any, now: datetime) -> Delivery:
    """A delivery with `is_test` that waits; whoever asked hands the channel over to a worker.

    It goes before all others, also through a channel that is switched off, and is tried once.
    """
    raise NotImplementedError
