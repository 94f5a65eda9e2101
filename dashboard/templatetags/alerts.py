"""Alerts on pages: how bad an incident is and what became of a message, by word and shape."""

from django import template
from django.utils.safestring import SafeString

from consumers.alerts.channels.receiver import kind_of
from consumers.alerts.queries.words import MEANINGS
from consumers.models import DeliveryStatus, Ending, IncidentStatus, Measure, Severity
from dashboard.wording.codes import DELIVERIES, DELIVERY_LIKE, ENDINGS, EVENTS, SEVERITIES, SEVERITY_LIKE, STATUSES

from .kinds import like_state

register = template.Library()
register.filter("measure_meaning", lambda measure: str(MEANINGS[Measure(measure)]))


@register.simple_tag
def incident_severity(word: str) -> SafeString:
    return like_state(SEVERITY_LIKE[Severity(word)], str(SEVERITIES[word]))


@register.simple_tag
def incident_status(word: str, severity: str) -> SafeString:
    """Of the colour of its severity while it fires, quiet before, well once it is over."""
    like = {IncidentStatus.PENDING: "UNKNOWN", IncidentStatus.RESOLVED: "OK"}.get(IncidentStatus(word))
    return like_state(like or SEVERITY_LIKE[Severity(severity)], str(STATUSES[word]))


@register.simple_tag
def delivery_status(word: str) -> SafeString:
    return like_state(DELIVERY_LIKE[DeliveryStatus(word)], str(DELIVERIES[word]))


@register.filter
def severity_words(word: str) -> str:
    return str(SEVERITIES[word])


@register.filter
def event_words(kind: str) -> str:
    return str(EVENTS[kind])


@register.filter
def ending_words(ending: str) -> str:
    return str(ENDINGS[Ending(ending)])


@register.filter
def channel_kind(kind: str) -> str:
    return str(kind_of(kind).label)
