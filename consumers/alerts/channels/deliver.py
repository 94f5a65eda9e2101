"""Sends what waits for a channel, in its order: one worker at a time, and no message overtakes another.

What a worker that died has left half-sent is sent again under the same id: a receiver may see it twice, and can tell.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings

from consumers.errands.hold import STALE, Hold, NotHeld
from consumers.models import Channel, ChannelKind

from .attempt import Clock, attempt
from .due import comes_again
from .queue import next_delivery
from .repeat import repeat_if_due

logger = logging.getLogger(__name__)

# So long one task works through a channel that has much to tell; others have their turn then.
LONGEST_TURN = timedelta(seconds=60)
# Chat services refuse more than about one message a second.
BETWEEN_MESSAGES_SECONDS = 1.0


def deliver(channel_id: int, clock: Clock, pause: Callable[[float], None]) -> datetime | None:
    """When to come again, or None: nothing waits, or another worker has the channel, who will see to it."""
    ends = clock() + LONGEST_TURN
    while True:
        try:
            hold = Hold.take(Channel, channel_id, None, clock(), _stale(channel_id))
            try:
                _send_all(channel_id, hold, ends, clock, pause)
            finally:
                hold.leave()
        except NotHeld as why:
            logger.info("%s", why)
            return None
        # Looked at after leaving: whoever wrote a message and then turned away from a channel that was held is not
        # going to come again.
        again = comes_again(channel_id, clock())
        if again is None or again > clock() or clock() >= ends:
            return again


def _send_all(channel_id: int, hold: Hold, ends: datetime, clock: Clock, pause: Callable[[float], None]) -> None:
    """Raises NotHeld, also where the channel was removed."""
    while clock() < ends:
        now = clock()
        hold.renew(now)
        channel = Channel.objects.get(pk=channel_id)
        delivery = next_delivery(channel, now)
        if delivery is None:
            repeat_if_due(channel, hold, clock)
            return
        if delivery.next_try_at is not None and delivery.next_try_at > now:
            return
        attempt(delivery, hold, clock)
        if channel.kind == ChannelKind.APPRISE:
            pause(BETWEEN_MESSAGES_SECONDS)


def _stale(channel_id: int) -> timedelta:
    """A mark of life that is older is a dead worker's: a name, an exchange and a process fit in; a mail has more steps.

    Each step has ALERT_DELIVERY_SECONDS, and before each mail the mark is renewed.
    """
    steps = 5 if Channel.objects.filter(pk=channel_id, kind=ChannelKind.EMAIL).exists() else 2
    return max(STALE, timedelta(seconds=steps * settings.ALERT_DELIVERY_SECONDS + 10))
