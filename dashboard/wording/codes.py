"""Codes in words: states of rows, causes of rebalances, flags of groups."""

from itertools import chain

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, gettext_lazy as _

from consumers.groups.rows import ListKind
from consumers.models import (
    DeliveryStatus,
    Ending,
    IncidentEventKind,
    IncidentStatus,
    ResendOutcome,
    ResendStatus,
    Severity,
    TopicKind,
)
from consumers.queries.limits import Freshness

# Codes that pages show by themselves, in words: how fresh something is, kinds of topics, resends, anomalies.
FRESHNESS: dict[str, str | Promise] = {
    Freshness.FRESH: _("fresh"),
    Freshness.LATE: _("late"),
    Freshness.SILENT: _("silent"),
}

TOPIC_KINDS: dict[str, str | Promise] = {
    TopicKind.NORMAL: _("normal"),
    TopicKind.RETRY: _("retry"),
    TopicKind.DLQ: _("DLQ"),
    TopicKind.SYSTEM: _("system"),
}

RESENDS: dict[str, str | Promise] = {
    ResendStatus.PLANNED: _("planned"),
    ResendStatus.RUNNING: _("running"),
    ResendStatus.DONE: _("done"),
    ResendStatus.PARTIAL: _("partial"),
    ResendStatus.FAILED: _("failed"),
    ResendStatus.CANCELLED: _("cancelled"),
    ResendStatus.EXPIRED: _("expired"),
    ResendOutcome.SENDING: _("sending"),
    ResendOutcome.SENT: _("sent"),
    ResendOutcome.UNKNOWN: _("unknown"),
    ResendOutcome.SKIPPED: _("skipped"),
}

# What somebody used to ask for a reset.
VIA: dict[str, str | Promise] = {
    "page": _("page"),
    "rest": _("REST"),
    "worker": _("worker"),
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


# Incidents, messages and channels in words, and the states whose shape and colour each has.

Words = dict[str, str | Promise]

SEVERITIES: Words = {
    Severity.CRITICAL: gettext_lazy("critical"),
    Severity.WARNING: gettext_lazy("warning"),
    Severity.INFO: gettext_lazy("info"),
}
SEVERITY_LIKE = {Severity.CRITICAL: "STOP", Severity.WARNING: "WARN", Severity.INFO: "RECREATED"}
STATUSES: Words = {
    IncidentStatus.PENDING: gettext_lazy("pending"),
    IncidentStatus.FIRING: gettext_lazy("firing"),
    IncidentStatus.RESOLVED: gettext_lazy("resolved"),
}
ENDINGS: Words = {
    Ending.RECOVERED: gettext_lazy("recovered"),
    Ending.GONE: gettext_lazy("subject no longer exists"),
    Ending.RULE: gettext_lazy("no longer in the rule's scope"),
}
EVENTS: Words = {
    IncidentEventKind.FIRING: gettext_lazy("fired"),
    IncidentEventKind.RESOLVED: gettext_lazy("resolved"),
    IncidentEventKind.UNKNOWN: gettext_lazy("became unknown"),
    IncidentEventKind.KNOWN: gettext_lazy("data available again"),
    IncidentEventKind.ACKNOWLEDGED: gettext_lazy("acknowledged"),
    IncidentEventKind.UNACKNOWLEDGED: gettext_lazy("acknowledgement withdrawn"),
    IncidentEventKind.SILENCED: gettext_lazy("silenced"),
    IncidentEventKind.UNSILENCED: gettext_lazy("no longer silenced"),
    IncidentEventKind.CHANGED: gettext_lazy("changed by a rule edit"),
}
DELIVERIES: Words = {
    DeliveryStatus.WAITING: gettext_lazy("waiting"),
    DeliveryStatus.SENDING: gettext_lazy("sending"),
    DeliveryStatus.SENT: gettext_lazy("sent"),
    DeliveryStatus.FAILED: gettext_lazy("not delivered"),
    DeliveryStatus.DROPPED: gettext_lazy("dropped"),
}
DELIVERY_LIKE = {
    DeliveryStatus.WAITING: "UNKNOWN",
    DeliveryStatus.SENDING: "UNKNOWN",
    DeliveryStatus.SENT: "OK",
    DeliveryStatus.FAILED: "STOP",
    DeliveryStatus.DROPPED: "WARN",
}
