"""Codes of rows in words: states, kinds and results that columns hold and pages show by themselves."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.models import (
    AuditAction,
    Comparison,
    DeliveryStatus,
    Destination,
    Doubt,
    Ending,
    GroupKind,
    HealthLevel,
    IncidentEventKind,
    IncidentStatus,
    OffsetFileKind,
    PreviewStatus,
    ResendOutcome,
    ResendStatus,
    ResetMethod,
    ResetOutcome,
    ResetStatus,
    Severity,
    SubjectKind,
    TimeLagKind,
    TopicKind,
)

Words = dict[str, str | Promise]

TOPIC_KINDS: Words = {
    TopicKind.NORMAL: _("normal"),
    TopicKind.RETRY: _("retry"),
    TopicKind.DLQ: _("DLQ"),
    TopicKind.SYSTEM: _("system"),
}

RESENDS: Words = {
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
VIA: Words = {
    "page": _("page"),
    "rest": _("REST"),
    "worker": _("worker"),
}

SEVERITIES: Words = {
    Severity.CRITICAL: _("critical"),
    Severity.WARNING: _("warning"),
    Severity.INFO: _("info"),
}

INCIDENTS: Words = {
    IncidentStatus.PENDING: _("pending"),
    IncidentStatus.FIRING: _("firing"),
    IncidentStatus.RESOLVED: _("resolved"),
}

ENDINGS: Words = {
    Ending.RECOVERED: _("recovered"),
    Ending.GONE: _("subject no longer exists"),
    Ending.RULE: _("no longer in the rule's scope"),
}

INCIDENT_EVENTS: Words = {
    IncidentEventKind.FIRING: _("fired"),
    IncidentEventKind.RESOLVED: _("resolved"),
    IncidentEventKind.UNKNOWN: _("became unknown"),
    IncidentEventKind.KNOWN: _("data available again"),
    IncidentEventKind.ACKNOWLEDGED: _("acknowledged"),
    IncidentEventKind.UNACKNOWLEDGED: _("acknowledgement withdrawn"),
    IncidentEventKind.SILENCED: _("silenced"),
    IncidentEventKind.UNSILENCED: _("no longer silenced"),
    IncidentEventKind.CHANGED: _("changed by a rule edit"),
}

DELIVERIES: Words = {
    DeliveryStatus.WAITING: _("waiting"),
    DeliveryStatus.SENDING: _("sending"),
    DeliveryStatus.SENT: _("sent"),
    DeliveryStatus.FAILED: _("not delivered"),
    DeliveryStatus.DROPPED: _("dropped"),
}

RESETS: Words = {
    ResetStatus.PLANNING: _("planning"),
    ResetStatus.REFUSED: _("refused"),
    ResetStatus.PLANNED: _("planned"),
    ResetStatus.APPLYING: _("applying"),
    ResetStatus.APPLIED: _("applied"),
    ResetStatus.PARTIAL: _("partly applied"),
    ResetStatus.FAILED: _("failed"),
    ResetStatus.EXPIRED: _("expired"),
    ResetStatus.CANCELLED: _("cancelled"),
}


RESET_METHODS: Words = {
    ResetMethod.SERVER: _("moved by the broker"),
    ResetMethod.CLIENT: _("the broker notifies every member"),
    ResetMethod.COMMIT: _("committed as the group: no member is connected"),
    ResetMethod.NOTHING: _("nothing to write: already at the target"),
}

HEALTH: Words = {
    HealthLevel.CRITICAL: _("critical"),
    HealthLevel.WARNING: _("warning"),
    HealthLevel.UNKNOWN: _("unknown"),
    HealthLevel.OK: _("ok"),
}

# Of what only the admin pages show as a column of its own.

AUDIT_ACTIONS: Words = {
    AuditAction.ADDED: _("added"),
    AuditAction.CHANGED: _("changed"),
    AuditAction.DELETED: _("deleted"),
    AuditAction.SEEN: _("seen"),
}
GROUP_KINDS: Words = {
    GroupKind.USER: _("in use"),
    GroupKind.SYSTEM: _("system"),
}
TIME_LAG_KINDS: Words = {
    TimeLagKind.EXACT: _("exact"),
    TimeLagKind.INTERPOLATED: _("interpolated between scrapes"),
    TimeLagKind.AT_LEAST: _("at least"),
    TimeLagKind.UNKNOWN: _("unknown"),
}
OFFSET_FILE_KINDS: Words = {
    OffsetFileKind.BROKER_FILE: _("broker offsets"),
    OffsetFileKind.DELAY_FILE: _("delay levels"),
    OffsetFileKind.CONSUMER_FILE: _("client offsets"),
}
DESTINATIONS: Words = {
    Destination.GROUP: _("to this group only"),
    Destination.TOPIC: _("to their original topics"),
}
RESET_OUTCOMES: Words = {
    ResetOutcome.CONFIRMED: _("confirmed"),
    ResetOutcome.UNCHANGED: _("unchanged"),
    ResetOutcome.OVERWRITTEN: _("overwritten"),
    ResetOutcome.UNKNOWN: _("unknown"),
}
SUBJECTS: Words = {
    SubjectKind.SITE: _("the whole site"),
    SubjectKind.CLUSTER: _("cluster"),
    SubjectKind.BROKER: _("broker"),
    SubjectKind.GROUP: _("group"),
    SubjectKind.TOPIC: _("a group's part of a topic"),
}
COMPARISONS: Words = {
    Comparison.ABOVE: _("above"),
    Comparison.BELOW: _("below"),
    Comparison.IN: _("one of the states"),
}
PREVIEWS: Words = {
    PreviewStatus.WAITING: _("waiting"),
    PreviewStatus.RUNNING: _("running"),
    PreviewStatus.DONE: _("done"),
    PreviewStatus.FAILED: _("failed"),
    PreviewStatus.CANCELLED: _("cancelled"),
}
CLOCK_DOUBTS: Words = {
    Doubt.NEW: _("not watched for a day yet"),
    Doubt.GAP: _("not watched for more than a day"),
    Doubt.CHANGED: _("the clock was set"),
    Doubt.DIFFERS: _("ahead of another machine's clock"),
}
