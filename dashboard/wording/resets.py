"""Offset resets in words: where to, how, and what became of it."""

from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from consumers.models import ResetKind, ResetOutcome, ResetStatus
from consumers.words.spans import counted, messages, when

from .numbers import chosen, count

# The states whose shape and colour each has.
STATUS_LIKE = {
    ResetStatus.PLANNING: "UNKNOWN",
    ResetStatus.REFUSED: "STOP",
    ResetStatus.PLANNED: "RECREATED",
    ResetStatus.APPLYING: "STALL",
    ResetStatus.APPLIED: "OK",
    ResetStatus.PARTIAL: "WARN",
    ResetStatus.FAILED: "LOSS",
    ResetStatus.EXPIRED: "UNKNOWN",
    ResetStatus.CANCELLED: "UNKNOWN",
}
OUTCOME_LIKE = {
    ResetOutcome.CONFIRMED: "OK",
    ResetOutcome.UNCHANGED: "STOP",
    ResetOutcome.OVERWRITTEN: "REWIND",
    ResetOutcome.UNKNOWN: "UNKNOWN",
}


def destination(kind: str, value: Any) -> str:
    """Where a reset goes, in the middle of a sentence: "to the oldest message that is kept"."""
    if kind == ResetKind.EARLIEST:
        return _("earliest: the oldest retained message")
    if kind == ResetKind.LATEST:
        return _("latest: skip the whole lag")
    if kind == ResetKind.OFFSET:
        return _("to offset %s") % count(value)
    if kind == ResetKind.SHIFT:
        return (_("shift by −%s") if value < 0 else _("shift by +%s")) % messages(abs(value))
    if kind == ResetKind.SKIP_OLDER:
        return _("skip older than %s") % chosen(value)
    if kind == ResetKind.COPY:
        return _("copy from group %s") % value
    if kind == ResetKind.OFFSETS:
        return _("offset list of %s") % counted("_queues", len(value))
    if kind == ResetKind.RESTORE:
        return _("rollback: offsets before an earlier reset")
    return _moment(kind, value)


def _moment(kind: str, value: str) -> str:
    at = parse_datetime(value)
    words = {"at": value if at is None else when(at)}
    if kind == ResetKind.TIME:
        return _("first message stored at or after %(at)s") % words
    return _("past position at %(at)s") % words


# Conditions of retries and kinds of blocked queues, as words on a page.

# By the claim's own words, as REST says them.
CONDITIONS: dict[str, str | Promise] = {
    "retries are kept": gettext_lazy("retries are retained"),
    "some broker takes retries": gettext_lazy("a broker accepts retries"),
    "the group exists": gettext_lazy("the group exists"),
    "all retry queues are read": gettext_lazy("all retry queues are consumed"),
    "the retry topic is read": gettext_lazy("the retry topic is consumed"),
    "the retry topic takes messages": gettext_lazy("the retry topic accepts messages"),
    "consumption is enabled": gettext_lazy("consumption is enabled"),
    "dead letters can be read": gettext_lazy("dead-letter messages are readable"),
    "brokers take their messages back": gettext_lazy("brokers accept messages sent back"),
    "name servers route messages to the brokers": gettext_lazy("name servers route messages to the brokers"),
    "originals are stored": gettext_lazy("original messages are stored"),
    "failed messages are retried": gettext_lazy("failed messages are retried"),
    "no message is retried while it runs": gettext_lazy("no message is retried while it is in progress"),
    "a message fails alone": gettext_lazy("messages fail individually"),
    "retries do not hold a queue up": gettext_lazy("retries do not block a queue"),
    "offsets wait for the outcome": gettext_lazy("offsets wait for the result"),
}
