"""Why a dead-letter message was not resent, and why a resend ended early, in the language of the request."""

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.resends import ResendCause, cause_of

CAUSES: dict[str, str | Promise] = {
    ResendCause.ADDRESS_UNKNOWN: _("the address of %(broker)s is unknown"),
    ResendCause.MESSAGE_UNREAD: _("the dead-letter message could not be read: %(error)s"),
    ResendCause.MESSAGE_GONE: _("the broker no longer has the dead-letter message"),
    ResendCause.MESSAGE_REPLACED: _("the offset holds another message: the topic was recreated"),
    ResendCause.NO_ORIGIN: _("the message does not name its original topic"),
    ResendCause.TOPIC_NEVER_READ: _("no poll has seen the topic %(topic)s"),
    ResendCause.ROUTE_UNREAD: _("the route of %(topic)s could not be read: %(error)s"),
    ResendCause.NO_TARGET: _("no broker has a queue of %(topic)s that is both readable and writable"),
    ResendCause.TARGET_UNREAD: _("the end of the target queue could not be read: %(error)s"),
    ResendCause.RESENT_BEFORE: _("resent at %(at)s UTC by %(by)s"),
    ResendCause.MAYBE_RESENT_BEFORE: _("may have been resent at %(at)s UTC by %(by)s"),
    ResendCause.NO_ANSWER: _("no answer: %(error)s"),
    ResendCause.NOT_READ_BACK: _("the broker accepted the message, but it could not be read back: %(error)s"),
    ResendCause.NOT_READABLE_YET: _("the broker accepted the message, but it is not readable yet"),
    ResendCause.DIVERTED: _(
        "The broker moved the message to the dead-letter topic instead of the retry topic: it does so while a group "
        "holds queue locks, as orderly consumers do. Resend to the original topic."
    ),
    ResendCause.MAYBE_SENT: _("the message may have been sent: %(why)s"),
    ResendCause.QUEUE_RECREATED: _("the queue ends at %(end)s, and ended at %(floor)s before: it was recreated"),
    ResendCause.TOO_MANY_SINCE: _("%(messages)s messages arrived since; only the first %(searched)s were searched"),
    ResendCause.OFFSETS_UNREADABLE: _("offset %(from)s could not be read: the broker continues at %(to)s"),
    ResendCause.ACCOUNT_GONE: _("The account of %(user)s, who started the resend, no longer exists. Plan it again."),
    ResendCause.PERMISSION_LOST: _(
        "%(user)s, who started the resend, no longer has the permission %(permission)s. A user who has it can plan "
        "it again."
    ),
    ResendCause.FAILURES_IN_A_ROW: _("Stopped after %(messages)s consecutive messages that could not be sent."),
    ResendCause.NO_WORKER: _(
        "No worker started the job within 5 minutes. Check that a Celery worker for the queue general runs, and plan "
        "the resend again: dead-letter messages may have been added or deleted since."
    ),
}


def cause_words(stored: str | None) -> str | None:
    """What is no cause is shown as it is."""
    found = cause_of(stored)
    if found is None:
        return stored
    return str(CAUSES[found["cause"]]) % {name: _worded(value) for name, value in found.items()}


def _worded(value: Any) -> Any:
    return cause_words(value) if isinstance(value, str) else value
