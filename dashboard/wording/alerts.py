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
    Ending.GONE: gettext_lazy("what it was of is there no more"),
    Ending.RULE: gettext_lazy("the rule looks at it no more"),
}
EVENTS: Words = {
    IncidentEventKind.FIRING: gettext_lazy("fired"),
    IncidentEventKind.RESOLVED: gettext_lazy("resolved"),
    IncidentEventKind.UNKNOWN: gettext_lazy("became unknown"),
    IncidentEventKind.KNOWN: gettext_lazy("is known again"),
    IncidentEventKind.ACKNOWLEDGED: gettext_lazy("acknowledged"),
    IncidentEventKind.UNACKNOWLEDGED: gettext_lazy("acknowledgement taken back"),
    IncidentEventKind.SILENCED: gettext_lazy("silenced"),
    IncidentEventKind.UNSILENCED: gettext_lazy("no longer silenced"),
    IncidentEventKind.CHANGED: gettext_lazy("changed by an edit of the rule"),
}
DELIVERIES: Words = {
    DeliveryStatus.WAITING: gettext_lazy("waiting"),
    DeliveryStatus.SENDING: gettext_lazy("being sent"),
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
