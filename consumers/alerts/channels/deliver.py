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
from django.db import transaction

from consumers.alerts.channels.kinds.sending import Means, Outcome
from consumers.jobs.hold import LEAST_STALE, Hold, NotHeld
from consumers.models import Channel, Delivery, DeliveryAttempt, DeliveryStatus
from consumers.models.channels import SEVERAL
from consumers.vocabulary.alerts import DeliveryResult
from consumers.vocabulary.reasons import stored_reason
from consumers.words.reasons import stored_words

from .queue import REPEAT_EVERY, comes_again, give_up_what_is_old, never_refused, next_delivery, try_all_again
from .receiver import (
    COLUMNS,
    ChannelNotReadable,
    is_held,
    kind_of,
    note_outcome,
    pause_after,
    scrubbed_answer,
    sealed_fields,
)

# One attempt to send one message. It is recorded before sending: if the worker dies, the message may have been sent.

Clock = Callable[[], datetime]
# A message counts as refused at the third refusal: the receiver may still be misconfigured during setup.
HOPELESS_AFTER = 3


def attempt(delivery: Delivery, hold: Hold, clock: Clock) -> Outcome:
    """Raises NotHeld; then another worker has the channel, and tells how it went on."""
    now = clock()
    noted = _note_attempt(delivery, hold, now)
    try:
        outcome = _send(delivery, now, hold, clock)
    except NotHeld:
        raise
    except Exception as error:
        # A bug in this program: logged for the channel, retried like any other failure, and raised.
        why = stored_reason(DeliveryResult.SITE_FAILED, error=type(error).__name__)
        _record(delivery, noted, Outcome(False, why), hold, clock())
        raise
    _record(delivery, noted, outcome, hold, clock())
    return outcome


def _send(delivery: Delivery, now: datetime, hold: Hold, clock: Clock) -> Outcome:
    try:
        fields = sealed_fields(delivery.channel, settings.SECRET_KEY)
    except ChannelNotReadable as error:
        return Outcome(False, str(error), is_away=True)
    outcome = kind_of(delivery.channel.kind).send(fields, delivery, now, means(hold, clock))
    # The mail server's password belongs to the site and not to a channel.
    return replace(outcome, answer=scrubbed_answer(outcome.answer, fields, str(settings.EMAIL_HOST_PASSWORD)))


def means(hold: Hold, clock: Clock) -> Means:
    return Means(
        networks=settings.CONSUMERSCOPE_ALERT_NETWORKS,
        seconds=settings.ALERT_DELIVERY_SECONDS,
        named=settings.ALERT_NAMED_IN_MESSAGE,
        alive=lambda: hold.renew_if_old(clock()),
    )


def _note_attempt(delivery: Delivery, hold: Hold, now: datetime) -> DeliveryAttempt:
    with transaction.atomic():
        hold.renew(now)
        delivery.attempts += 1
        delivery.status, delivery.next_try_at = DeliveryStatus.SENDING, now
        # Until the result is seen; the row in memory keeps what the tries before it say.
        Delivery.objects.filter(pk=delivery.pk).update(may_have_arrived=True)
        delivery.save(update_fields=["attempts", "status", "next_try_at"])
        return DeliveryAttempt.objects.create(delivery=delivery, number=delivery.attempts, at=now)


def _record(delivery: Delivery, noted: DeliveryAttempt, outcome: Outcome, hold: Hold, now: datetime) -> None:
    """The worker that made the attempt records its result; the worker that holds the channel records the message's
    result.
    """
    seconds = (now - noted.at).total_seconds()
    DeliveryAttempt.objects.filter(pk=noted.pk).update(seconds=seconds, ok=outcome.ok, answer=outcome.answer)
    with transaction.atomic():
        hold.renew(now)
        _decide(delivery, outcome, now)
        delivery.save(update_fields=["status", "next_try_at", "sent_at", "error", "refusals", "may_have_arrived"])
        # A test shows its own result to the user. A test that was taken shows that the receiver is back for other
        # messages.
        if outcome.ok or not delivery.is_test:
            _note_channel(delivery, outcome, now)


def _note_channel(delivery: Delivery, outcome: Outcome, now: datetime) -> None:
    channel, was_refused = delivery.channel, delivery.refusals > 0
    is_back = note_receiver(channel, outcome, delivery.pk, now)
    if is_back and was_refused:
        try_all_again(channel, now)
    if channel.held_until is not None:
        give_up_what_is_old(channel, outcome.answer, now)


def note_receiver(channel: Channel, outcome: Outcome, spread: UUID, now: datetime) -> bool:
    """Returns whether the receiver is back. A result from an address that was changed meanwhile is ignored."""
    is_back = note_outcome(channel, outcome, spread, now)
    columns = {name: getattr(channel, name) for name in COLUMNS}
    Channel.objects.filter(pk=channel.pk, changed_at=channel.changed_at).update(**columns)
    return is_back


def _decide(delivery: Delivery, outcome: Outcome, now: datetime) -> None:
    delivery.error = None if outcome.ok else outcome.answer
    delivery.next_try_at = None
    delivery.refusals += not (outcome.ok or outcome.is_away)
    delivery.may_have_arrived |= outcome.may_have_arrived
    if outcome.ok:
        delivery.status, delivery.sent_at = DeliveryStatus.SENT, now
    elif delivery.is_test or _is_given_up(delivery, outcome, now):
        delivery.status = DeliveryStatus.FAILED
    else:
        delivery.status, delivery.next_try_at = DeliveryStatus.WAITING, now
        if delivery.refusals:
            delivery.next_try_at += pause_after(delivery.refusals, delivery.pk)


def _is_given_up(delivery: Delivery, outcome: Outcome, now: datetime) -> bool:
    is_old = now - delivery.created_at >= timedelta(hours=settings.ALERT_DELIVERY_HOURS)
    return is_old or (outcome.hopeless and delivery.refusals >= HOPELESS_AFTER)


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
        _note_outcome(channel, Outcome(False, str(error), is_away=True), clock())
        return
    outcome = repeat(fields, channel, now, means(hold, clock))
    if outcome is not None:
        _note_outcome(channel, replace(outcome, answer=scrubbed_answer(outcome.answer, fields)), clock())


def _note_outcome(channel: Channel, outcome: Outcome, now: datetime) -> None:
    """Records a failed repeat as seriously as a failed message: Alertmanager resolves alerts that are not repeated."""
    note_receiver(channel, outcome, UUID(int=channel.pk), now)
    if not outcome.ok:
        logger.warning("%s was not told again of what fires: %s", channel.name, stored_words(outcome.answer))


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
            refused_elsewhere = never_refused(channel, delivery)
            if refused_elsewhere is not None:
                _sent(refused_elsewhere, hold, clock, pause)


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
