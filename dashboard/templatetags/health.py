"""The health of a group, the severity of findings, incidents and messages on pages, by word and shape."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from consumers.alerts.channels.receiver import kind_of
from consumers.alerts.queries.words import MEANINGS
from consumers.groups.health import OF_STATE, HealthCode, HealthReason
from consumers.models import DeliveryStatus, Ending, HealthLevel, IncidentStatus, Measure, Severity
from consumers.queries.codes import DELIVERIES, ENDINGS, HEALTH, INCIDENT_EVENTS, INCIDENTS, SEVERITIES
from consumers.vocabulary.findings import FindingSeverity
from consumers.words.findings import SEVERITIES as FINDING_SEVERITIES
from dashboard.wording.codes import DELIVERY_LIKE, SEVERITY_LIKE

from .kinds import like_state, state

register = template.Library()

# The states whose shape and colour each has.
LIKE = {
    HealthLevel.CRITICAL: "STOP",
    HealthLevel.WARNING: "WARN",
    HealthLevel.UNKNOWN: "UNKNOWN",
    HealthLevel.OK: "OK",
}
PAGES = {
    HealthCode.OWNERSHIP: "group_ownership",
    HealthCode.OWNERSHIP_UNKNOWN: "group_ownership",
    HealthCode.REBALANCES: "group_ownership",
    HealthCode.REBALANCES_UNKNOWN: "group_ownership",
    HealthCode.RETRY_CHECK: "group_retries",
    HealthCode.RETRY_CHECKS_UNKNOWN: "group_retries",
    HealthCode.LATE_RETRIES: "group_retries",
    HealthCode.BLOCKED_QUEUES: "group_retries",
    HealthCode.DLQ_INFLOW: "group_dlq",
}


@register.simple_tag
def health(level: HealthLevel, brief: bool = False) -> SafeString:
    """`brief`: in a list only what is wrong has a shape, and a page of many groups stays small."""
    if brief and level in (HealthLevel.OK, HealthLevel.UNKNOWN):
        return format_html('<span class="quiet">{}</span>', HEALTH[level])
    return like_state(LIKE[level], HEALTH[level])


@register.simple_tag
def attention(row: Any) -> SafeString:
    """The state where it is as bad as the health, else the health: no state that is OK stands before a finding."""
    return state(row.state) if OF_STATE[row.state] == row.health else health(row.health)


@register.simple_tag
def health_links(row: Any) -> SafeString:
    """Returns all reasons but the state, which stands beside them. Each leads to the tab with details."""
    links = [
        (f"health-{place}", reverse(PAGES[one.code], args=(row.cluster, row.group)), one.text)
        if one.code in PAGES
        else ("", "", one.text)
        for place, one in enumerate(_beside_state(row))
    ]
    return format_html_join(
        " · ",
        "{}",
        ((format_html('<a id="{}" href="{}">{}</a>', *one) if one[1] else one[2],) for one in links),
    )


@register.filter
def findings(row: Any) -> str:
    """Returns what is wrong with the group besides its state, in a list: `5 dead letters/min · 2 queues with two
    owners`."""
    wrong = (HealthLevel.CRITICAL, HealthLevel.WARNING)
    return " · ".join(one.text for one in _beside_state(row) if one.level in wrong)


@register.filter
def health_texts(row: Any) -> str:
    return " · ".join(one.text for one in row.health_reasons)


def _beside_state(row: Any) -> list[HealthReason]:
    return [one for one in row.health_reasons if one.code != HealthCode.STATE]


# The same of the severities of findings.
FINDING_SEVERITY_LIKE = {
    FindingSeverity.CRITICAL: "STOP",
    FindingSeverity.WARNING: "WARN",
    FindingSeverity.UNKNOWN: "UNKNOWN",
}


@register.simple_tag
def severity(word: FindingSeverity) -> SafeString:
    """By shape and word; a note has no shape, and never the one of what is unknown."""
    if word == FindingSeverity.INFO:
        return format_html('<span class="state state-info">{}</span>', FINDING_SEVERITIES[word])
    return like_state(FINDING_SEVERITY_LIKE[word], FINDING_SEVERITIES[word])


# Alerts on pages: how bad an incident is and what became of a message, by word and shape.
register.filter("measure_meaning", lambda measure: str(MEANINGS[Measure(measure)]))


@register.simple_tag
def incident_severity(word: str) -> SafeString:
    return like_state(SEVERITY_LIKE[Severity(word)], str(SEVERITIES[word]))


@register.simple_tag
def incident_status(word: str, severity: str) -> SafeString:
    """Of the colour of its severity while it fires, quiet before, well once it is over."""
    like = {IncidentStatus.PENDING: "UNKNOWN", IncidentStatus.RESOLVED: "OK"}.get(IncidentStatus(word))
    return like_state(like or SEVERITY_LIKE[Severity(severity)], str(INCIDENTS[word]))


@register.simple_tag
def delivery_status(word: str) -> SafeString:
    return like_state(DELIVERY_LIKE[DeliveryStatus(word)], str(DELIVERIES[word]))


@register.filter
def severity_words(word: str) -> str:
    return str(SEVERITIES[word])


@register.filter
def event_words(kind: str) -> str:
    return str(INCIDENT_EVENTS[kind])


@register.filter
def ending_words(ending: str) -> str:
    return str(ENDINGS[Ending(ending)])


@register.filter
def channel_kind(kind: str) -> str:
    return str(kind_of(kind).label)
