"""Mails: plain text with a simple HTML page. The mail that reports a resolution is a reply to the one that reported the
start.
"""

import smtplib
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.validators import validate_email
from django.utils.html import urlize
from django.utils.translation import gettext, gettext_lazy as _

from consumers.alerts.channels.payload import notified_before
from consumers.alerts.channels.render import Rendered, render
from consumers.alerts.fields import EntryField, Shape, WrongValue, text
from consumers.models import ChannelKind, Delivery
from consumers.vocabulary.alerts import DeliveryResult
from consumers.vocabulary.reasons import stored_reason, stored_reasons

from .channel_kind import ChannelKindSpec, SealedFields
from .sending import Means, Outcome, quoted, with_note

MOST_RECIPIENTS = 20
LONGEST_TARGET = 300
NO_SERVER = stored_reason(DeliveryResult.NO_MAIL_SERVER)
# RFC 5322 limits lines to 998 characters: this many ids are short enough.
MOST_REFERENCES = 10
LONGEST_REPLY = 200


def send(fields: SealedFields, delivery: Delivery, now: datetime, means: Means) -> Outcome:
    """Sends one mail to each recipient who has not accepted it yet. A refused recipient does not affect the others."""
    if not settings.CONSUMERSCOPE_EMAIL_URL:
        return Outcome(False, NO_SERVER, is_away=True)
    words = render(delivery.payload, delivery.channel, means.named)
    headers = _headers(delivery)
    to_go = [recipient for recipient in fields["recipients"] if recipient not in delivery.accepted_by]
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
        # Recipients are named after the greeting and the login: an earlier failure is not the message's fault.
        return Outcome(False, stored_reason(DeliveryResult.MAIL_NOT_TAKEN, error=_why(error)), is_away=not begun)
    return _outcome(len(to_go) - len(replies), replies, words.note)


def _note_accepted(delivery: Delivery, recipient: str) -> None:
    """Recorded at once, so that a retry, also after a crash, sends no mail twice to a recipient."""
    delivery.accepted_by = [*delivery.accepted_by, recipient]
    Delivery.objects.filter(pk=delivery.pk).update(accepted_by=delivery.accepted_by)


def _outcome(taken: int, replies: dict[str, tuple[str, bool]], note: str | None) -> Outcome:
    results = [stored_reason(DeliveryResult.MAIL_TAKEN, taken=taken, of=taken + len(replies))]
    for recipient, (reply, _is_final) in replies.items():
        results.append(stored_reason(DeliveryResult.RECIPIENT_REFUSED, recipient=recipient, reply=reply))
    answer = with_note(stored_reasons(results), note)
    hopeless = all(is_final for _, is_final in replies.values())
    return Outcome(not replies, answer, hopeless=hopeless, refused=bool(replies) and not taken)


def _reply(code: int, text: bytes | str) -> tuple[str, bool]:
    """Replies of 5xx are final (RFC 5321 §4.2.1)."""
    reply = text.decode(errors="replace") if isinstance(text, bytes) else text
    return f"{code} {' '.join(reply.split())}"[:LONGEST_REPLY], 500 <= code < 600


def _why(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return _reply(error.smtp_code, error.smtp_error)[0]
    return quoted(" ".join(str(error).split())) or type(error).__name__


def _headers(delivery: Delivery) -> dict[str, str]:
    """The same headers at every attempt: mail readers recognise duplicates, and thread start and resolution of an
    incident.
    """
    headers = {"Message-ID": message_id(delivery), "Auto-Submitted": "auto-generated"}
    earlier = dict.fromkeys(message_id(one) for one in notified_before(delivery).values())
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


def recipients(value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_RECIPIENTS:
        raise WrongValue(gettext("Must be a list of 1 to %s e-mail addresses.") % MOST_RECIPIENTS)
    found = []
    for one in value:
        try:
            address = str(text(254, required=True)(one))
            validate_email(address)
        except (ValidationError, WrongValue):
            raise WrongValue(gettext("%s is not an e-mail address.") % ascii(one)[:100]) from None
        found.append(address)
    return list(dict.fromkeys(found))


def target(fields: SealedFields) -> str:
    named = ", ".join(fields["recipients"])
    return named if len(named) <= LONGEST_TARGET else f"{len(fields['recipients'])} addresses"


KIND = ChannelKindSpec(
    code=ChannelKind.EMAIL,
    label=_("e-mail"),
    has_templates=True,
    send=send,
    # Greeting, password, sender, recipient and text are separate exchanges.
    steps=5,
    target=target,
    fields=(
        EntryField(
            name="recipients",
            shape=Shape.LIST,
            check=recipients,
            label=_("Recipients"),
            hint=_("addresses, one per line"),
        ),
    ),
)
