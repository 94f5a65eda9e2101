"""Codes in words that are stored in no row, and the states whose shape and colour codes of rows have."""

from itertools import chain

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.groups.rows import ListKind
from consumers.models import DeliveryStatus, Severity
from consumers.queries.codes import RESENDS, TOPIC_KINDS, VIA
from consumers.queries.limits import Freshness

# How fresh something is.
FRESHNESS: dict[str, str | Promise] = {
    Freshness.FRESH: _("fresh"),
    Freshness.LATE: _("late"),
    Freshness.SILENT: _("silent"),
}

# As docs/anomalies.md lists them.
ANOMALIES: dict[str, str | Promise] = {
    "members_gone": _("members gone"),
    "expired_unread": _("expired unread"),
    "consumer_ahead": _("consumer ahead"),
    "min_above_broker_offset": _("min above broker offset"),
    "topic_created_anew": _("topic recreated"),
    "queue_gone": _("queue gone"),
    "topic_gone": _("topic gone"),
    "never_committed": _("never committed"),
    "queue_unreadable": _("queue unreadable"),
    "queue_unwritable": _("queue not writable"),
}

CODES = dict(chain(FRESHNESS.items(), TOPIC_KINDS.items(), RESENDS.items(), VIA.items(), ANOMALIES.items()))


def code_words(code: str) -> str:
    """A code that has no words here is shown as it is: another version of the product may have stored it."""
    return str(CODES.get(code, code))


# The lists of groups as words on a page.
LISTS: dict[ListKind, str | Promise] = {
    ListKind.USER: _("in use"),
    ListKind.GHOST: _("inactive"),
    ListKind.SYSTEM: _("system"),
}


# The states whose shape and colour each has.
SEVERITY_LIKE = {Severity.CRITICAL: "STOP", Severity.WARNING: "WARN", Severity.INFO: "RECREATED"}
DELIVERY_LIKE = {
    DeliveryStatus.WAITING: "UNKNOWN",
    DeliveryStatus.SENDING: "UNKNOWN",
    DeliveryStatus.SENT: "OK",
    DeliveryStatus.FAILED: "STOP",
    DeliveryStatus.DROPPED: "WARN",
}
