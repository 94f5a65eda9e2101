"""One attempt to send one message. It is recorded before sending: if the worker dies, the message may have
been sent.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from consumers.alerts.channels.channel_kinds import kind_of
from consumers.alerts.channels.channel_secrets import ChannelNotReadable, scrubbed_answer, sealed_fields
from consumers.alerts.channels.kinds.sending import Means, Outcome
from consumers.jobs.hold import Hold, NotHeld
from consumers.models import Channel, Delivery, DeliveryAttempt, DeliveryStatus

from .queue import give_up_what_is_old, try_all_again
from .receiver import COLUMNS, note_outcome, pause_after

Clock = Callable[[], datetime]
# A message counts as refused at the third refusal: the receiver may still be misconfigured during setup.
HOPELESS_AFTER = 3


def attempt(delivery: Delivery, hold: Hold, clock: Clock) -> Outcome:
    """Raises NotHeld; then another worker has the channel, and tells how it went on."""
    now = clock()
    noted = _note(delivery, hold, now)
    try:
        outcome = _sent(delivery, now, hold, clock)
    except NotHeld:
        raise
    except Exception as error:
        # A bug in this program: logged for the channel, retried like any other failure, and raised.
        _record(delivery, noted, Outcome(False, f"Consumerscope failed: {type(error).__name__}."), hold, clock())
        raise
    _record(delivery, noted, outcome, hold, clock())
    return outcome


def _sent(delivery: Delivery, now: datetime, hold: Hold, clock: Clock) -> Outcome:
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


def _note(delivery: Delivery, hold: Hold, now: datetime) -> DeliveryAttempt:
    with transaction.atomic():
        hold.renew(now)
        delivery.attempts += 1
        delivery.status, delivery.next_try_at = DeliveryStatus.SENDING, now
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
        delivery.save(update_fields=["status", "next_try_at", "sent_at", "error", "refusals"])
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
