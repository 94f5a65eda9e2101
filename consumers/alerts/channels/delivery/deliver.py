"""Sends what waits for a channel, one worker at a time: what tells of the same incident never overtakes.

What a worker that died has left half-sent is sent again under the same id: a receiver may see it twice, and can tell.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from consumers.alerts.channels.kinds import alertmanager
from consumers.alerts.channels.kinds.scrubbed import shown
from consumers.alerts.channels.secrets_of import ChannelNotReadable, told_of
from consumers.jobs.hold import LEAST_STALE, Hold, NotHeld
from consumers.models import Channel, ChannelKind, Delivery
from consumers.models.channels import SEVERAL

from .attempt import Clock, attempt, means, note_standing
from .back_off import is_held
from .due import comes_again
from .outcome import Outcome
from .queue import never_refused, next_delivery

# Tells Alertmanager again of what fires, as it forgets what it is not told.

logger = logging.getLogger(__name__)


def repeat_if_due(channel: Channel, hold: Hold, clock: Clock) -> None:
    """No delivery: nothing has changed. Noted before it is sent, so that one that hangs is not begun at once again."""
    now = clock()
    if channel.kind != ChannelKind.ALERTMANAGER or not channel.enabled or not _is_due(channel, now):
        return
    Channel.objects.filter(pk=channel.pk).update(repeated_at=now)
    if channel.repeated_at is None:
        return  # what fires was told for the first time just before: the minute begins
    try:
        told = told_of(channel, settings.SECRET_KEY)
    except ChannelNotReadable as error:
        _note(channel, Outcome(False, str(error), is_away=True), clock())
        return
    outcome = alertmanager.repeat(told, channel, now, means(hold, clock))
    if outcome is not None:
        _note(channel, replace(outcome, answer=shown(outcome.answer, told)), clock())


def _note(channel: Channel, outcome: Outcome, now: datetime) -> None:
    """No message waits for it, and it is as bad: what Alertmanager is not told of again is over there one day."""
    note_standing(channel, outcome, UUID(int=channel.pk), now)
    if not outcome.ok:
        logger.warning("%s was not told again of what fires: %s", channel.name, outcome.answer)


def _is_due(channel: Channel, now: datetime) -> bool:
    if is_held(channel.held_until, now):
        return False
    every = timedelta(seconds=alertmanager.REPEAT_SECONDS)
    return channel.repeated_at is None or now - channel.repeated_at >= every


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
        channel = Channel.objects.filter(pk=channel_id).first()
        if channel is None:
            return
        delivery = next_delivery(channel, now)
        if delivery is None:
            repeat_if_due(channel, hold, clock)
            return
        was_held = channel.held_until is not None
        outcome = _sent(delivery, hold, clock, pause)
        if was_held and _may_be_of_it_alone(delivery, outcome):
            beside = never_refused(channel, delivery)
            if beside is not None:
                _sent(beside, hold, clock, pause)


def _sent(delivery: Delivery, hold: Hold, clock: Clock, pause: Callable[[float], None]) -> Outcome:
    outcome = attempt(delivery, hold, clock)
    if delivery.channel.kind == ChannelKind.APPRISE:
        pause(BETWEEN_MESSAGES_SECONDS)
    return outcome


def _may_be_of_it_alone(delivery: Delivery, outcome: Outcome) -> bool:
    """The oldest may be the only one that is refused; then others must not wait for it any longer.

    Who asks for time gets it, but not at one and the same message for ever.
    """
    if outcome.ok or outcome.is_away or delivery.is_test:
        return False
    return not outcome.asks_for_time or delivery.refusals > SEVERAL


def _stale(channel_id: int) -> timedelta:
    """A mark of life that is older is a dead worker's: a name, an exchange and a process fit in; a mail has more steps.

    Each step has ALERT_DELIVERY_SECONDS, and before each mail the mark is renewed.
    """
    steps = 5 if Channel.objects.filter(pk=channel_id, kind=ChannelKind.EMAIL).exists() else 2
    return max(LEAST_STALE, timedelta(seconds=steps * settings.ALERT_DELIVERY_SECONDS + 10))
