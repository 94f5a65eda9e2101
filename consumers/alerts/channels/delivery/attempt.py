"""One try to send one message: noted before it is sent, as what a worker leaves behind may have gone."""

import smtplib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.db import transaction
from django.utils.html import urlize

from consumers.alerts.channels.kinds import alertmanager, apprise, webhook
from consumers.alerts.channels.kinds.scrubbed import shown
from consumers.alerts.channels.kinds.sending import Means
from consumers.alerts.channels.secrets_of import ChannelNotReadable, Told, told_of
from consumers.alerts.channels.texts.render import Rendered, render
from consumers.jobs.hold import Hold, NotHeld
from consumers.models import Channel, ChannelKind, Delivery, DeliveryAttempt, DeliveryStatus

from .back_off import pause_after
from .firings import told_before
from .outcome import Outcome
from .queue import give_up_what_is_old, try_all_again
from .standing import COLUMNS, stands

# Mails: plain text with a simple page beside it. What tells the end of an incident answers what told its beginning.

NO_SERVER = "No mail server is set: see CONSUMERSCOPE_EMAIL_URL."
# RFC 5322 bids lines of at most 998 characters: so many ids are short enough.
MOST_REFERENCES = 10
LONGEST_REPLY = 200


def send(told: Told, delivery: Delivery, now: datetime, means: Means) -> Outcome:
    """A mail for each recipient who has not taken it yet: one that is refused keeps it from no other."""
    if not settings.CONSUMERSCOPE_EMAIL_URL:
        return Outcome(False, NO_SERVER, is_away=True)
    words = render(delivery.payload, delivery.channel, means.named)
    headers = _headers(delivery)
    to_go = [recipient for recipient in told["recipients"] if recipient not in delivery.accepted_by]
    replies: dict[str, tuple[str, bool]] = {}
    begun = False
    try:
        with get_connection() as connection:
            begun = True
            for recipient in to_go:
                means.alive()
                mail = _mail(words, recipient, headers)
                mail.connection = connection
                try:
                    mail.send()
                except smtplib.SMTPResponseException as error:
                    replies[recipient] = _reply(error.smtp_code, error.smtp_error)
                except smtplib.SMTPRecipientsRefused as error:
                    replies[recipient] = _reply(*error.recipients[recipient])
                else:
                    _note_accepted(delivery, recipient)
    except (OSError, smtplib.SMTPException) as error:
        # Whom to send it to is told after the greeting and the password: what breaks before that is not the message's.
        return Outcome(False, f"The mail server did not take it: {_why(error)}.", is_away=not begun)
    return _outcome(len(to_go) - len(replies), replies, words.note)


def _note_accepted(delivery: Delivery, recipient: str) -> None:
    """At once: whoever goes on, also after a crash, sends it to nobody who has it."""
    delivery.accepted_by = [*delivery.accepted_by, recipient]
    Delivery.objects.filter(pk=delivery.pk).update(accepted_by=delivery.accepted_by)


def _outcome(taken: int, replies: dict[str, tuple[str, bool]], note: str | None) -> Outcome:
    said = [f"{taken} of {taken + len(replies)} recipients taken by the mail server"]
    said += [f"{recipient} was refused: {reply}" for recipient, (reply, _) in replies.items()]
    answer = "; ".join(said) + (f" ({note})" if note else "")
    return Outcome(not replies, answer, hopeless=all(is_final for _, is_final in replies.values()))


def _reply(code: int, text: bytes | str) -> tuple[str, bool]:
    """5xx are final (RFC 5321 §4.2.1)."""
    said = text.decode(errors="replace") if isinstance(text, bytes) else text
    return f"{code} {' '.join(said.split())}"[:LONGEST_REPLY], 500 <= code < 600


def _why(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return _reply(error.smtp_code, error.smtp_error)[0]
    return " ".join(str(error).split()) or type(error).__name__


def _headers(delivery: Delivery) -> dict[str, str]:
    """The same at every try, so that readers of mail can tell, and lay beginning and end of an incident together."""
    headers = {"Message-ID": message_id(delivery), "Auto-Submitted": "auto-generated"}
    earlier = dict.fromkeys(message_id(told) for told in told_before(delivery).values())
    if earlier:
        headers["In-Reply-To"] = next(iter(earlier))
        headers["References"] = " ".join(list(earlier)[:MOST_REFERENCES])
    return headers


def message_id(delivery: Delivery) -> str:
    return f"<{delivery.pk}@{settings.DEFAULT_FROM_EMAIL.rpartition('@')[2].rstrip('>')}>"


def _mail(words: Rendered, recipient: str, headers: dict[str, str]) -> EmailMultiAlternatives:
    mail = EmailMultiAlternatives(words.title, words.body, settings.DEFAULT_FROM_EMAIL, [recipient], headers=headers)
    mail.attach_alternative(page(words), "text/html")
    return mail


def page(words: Rendered) -> str:
    body = urlize(words.body, autoescape=True).replace("\n", "<br>\n")
    return f'<!doctype html><html><body><p style="font-family: sans-serif">{body}</p></body></html>'


Clock = Callable[[], datetime]
Sender = Callable[[Told, Delivery, datetime, Means], Outcome]
SENDERS: dict[str, Sender] = {
    ChannelKind.WEBHOOK: webhook.send,
    ChannelKind.ALERTMANAGER: alertmanager.send,
    ChannelKind.EMAIL: send,
    ChannelKind.APPRISE: apprise.send,
}
# A receiver that will not take it is believed the third time: it may be wrong while it is being set up.
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
        # A fault of this program: it is told in the log of the channel, tried again like any other, and raised.
        _record(delivery, noted, Outcome(False, f"Consumerscope failed: {type(error).__name__}."), hold, clock())
        raise
    _record(delivery, noted, outcome, hold, clock())
    return outcome


def _sent(delivery: Delivery, now: datetime, hold: Hold, clock: Clock) -> Outcome:
    try:
        told = told_of(delivery.channel, settings.SECRET_KEY)
    except ChannelNotReadable as error:
        return Outcome(False, str(error), is_away=True)
    outcome = SENDERS[delivery.channel.kind](told, delivery, now, means(hold, clock))
    # The mail server's password is the site's, and no channel's.
    return replace(outcome, answer=shown(outcome.answer, told, str(settings.EMAIL_HOST_PASSWORD)))


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
    """What became of the try is told by whoever made it; what becomes of the message by whoever has the channel."""
    seconds = (now - noted.at).total_seconds()
    DeliveryAttempt.objects.filter(pk=noted.pk).update(seconds=seconds, ok=outcome.ok, answer=outcome.answer)
    with transaction.atomic():
        hold.renew(now)
        _decide(delivery, outcome, now)
        delivery.save(update_fields=["status", "next_try_at", "sent_at", "error", "refusals"])
        # Who tests a channel sees what became of it; that one was taken says that the others are, too.
        if outcome.ok or not delivery.is_test:
            _tell_channel(delivery, outcome, now)


def _tell_channel(delivery: Delivery, outcome: Outcome, now: datetime) -> None:
    channel, was_refused = delivery.channel, delivery.refusals > 0
    is_back = note_standing(channel, outcome, delivery.pk, now)
    if is_back and was_refused:
        try_all_again(channel, now)
    if channel.held_until is not None:
        give_up_what_is_old(channel, outcome.answer, now)


def note_standing(channel: Channel, outcome: Outcome, spread: UUID, now: datetime) -> bool:
    """Whether its receiver is back. What was learnt of an address that was changed meanwhile is left out."""
    is_back = stands(channel, outcome, spread, now)
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
