"""Incidents, messages and channels in words, and the states whose shape and colour each has."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from consumers.models import DeliveryStatus, Ending, IncidentEventKind, IncidentStatus, Severity

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
    DeliveryStatus.FAILED: gettext_lazy("given up"),
    DeliveryStatus.DROPPED: gettext_lazy("dropped"),
}
DELIVERY_LIKE = {
    DeliveryStatus.WAITING: "UNKNOWN",
    DeliveryStatus.SENDING: "UNKNOWN",
    DeliveryStatus.SENT: "OK",
    DeliveryStatus.FAILED: "STOP",
    DeliveryStatus.DROPPED: "WARN",
}
