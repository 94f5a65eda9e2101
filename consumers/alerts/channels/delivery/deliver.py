"""Sends the queued messages of a channel, one worker at a time. Messages about the same incident keep their order.

If a worker dies while it sends, the message is sent again under the same id: a receiver may get it twice, and can
recognise the duplicate.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from consumers.alerts.channels.channel_kinds import kind_of
from consumers.alerts.channels.channel_secrets import ChannelNotReadable, scrubbed_answer, sealed_fields
from consumers.alerts.channels.kinds.sending import Outcome
from consumers.jobs.hold import LEAST_STALE, Hold, NotHeld
from consumers.models import Channel, Delivery
from consumers.models.channels import SEVERAL

from .attempt import Clock, attempt, means, note_receiver
from .queue import REPEAT_EVERY, comes_again, never_refused, next_delivery
from .receiver import is_held

logger = logging.getLogger(__name__)


def repeat_if_due(channel: Channel, hold: Hold, clock: Clock) -> None:
    """Notifies again of firing incidents, for receivers that forget them. This is no delivery: nothing has changed.

    The repeat is recorded before it is sent, so that one that hangs is not started again at once.
    """
    now, repeat = clock(), kind_of(channel.kind).repeat
    if repeat is None or not channel.enabled or not _is_due(channel, now):
        return
    Channel.objects.filter(pk=channel.pk).update(repeated_at=now)
    if channel.repeated_at is None:
        return  # the first notification was just sent: the minute begins
    try:
        fields = sealed_fields(channel, settings.SECRET_KEY)
    except ChannelNotReadable as error:
        _note(channel, Outcome(False, str(error), is_away=True), clock())
        return
    outcome = repeat(fields, channel, now, means(hold, clock))
    if outcome is not None:
        _note(channel, replace(outcome, answer=scrubbed_answer(outcome.answer, fields)), clock())


def _note(channel: Channel, outcome: Outcome, now: datetime) -> None:
    """Records a failed repeat as seriously as a failed message: Alertmanager resolves alerts that are not repeated."""
    note_receiver(channel, outcome, UUID(int=channel.pk), now)
    if not outcome.ok:
        logger.warning("%s was not told again of what fires: %s", channel.name, outcome.answer)


def _is_due(channel: Channel, now: datetime) -> bool:
    if is_held(channel.held_until, now):
        return False
    return channel.repeated_at is None or now - channel.repeated_at >= REPEAT_EVERY


# One task works on a busy channel for this long; then other channels get their turn.
LONGEST_TURN = timedelta(seconds=60)


def deliver(channel_id: int, clock: Clock, pause: Callable[[float], None]) -> datetime | None:
    """When to try the channel again. None: nothing is queued, or another worker holds the channel and continues."""
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
        # Checked again after releasing the channel: a worker that queued a message and found the channel held does not
        # retry.
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
    if seconds := kind_of(delivery.channel.kind).pause_seconds:
        pause(seconds)
    return outcome


def _may_be_of_it_alone(delivery: Delivery, outcome: Outcome) -> bool:
    """True where the oldest message may be the only one that is refused: then others must not wait for it any longer.

    A receiver that asks for time gets it, but not for the same message forever.
    """
    if outcome.ok or outcome.is_away or delivery.is_test:
        return False
    return not outcome.asks_for_time or delivery.refusals > SEVERAL


def _stale(channel_id: int) -> timedelta:
    """An older heartbeat is that of a dead worker: all steps of a message fit into this time.

    Each step has ALERT_DELIVERY_SECONDS, and the heartbeat is renewed before each mail.
    """
    kind = Channel.objects.filter(pk=channel_id).values_list("kind", flat=True).first()
    steps = 2 if kind is None else kind_of(kind).steps
    return max(LEAST_STALE, timedelta(seconds=steps * settings.ALERT_DELIVERY_SECONDS + 10))
