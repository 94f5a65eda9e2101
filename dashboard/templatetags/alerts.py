"""Alerts on pages: how bad an incident is and what became of a message, by word and shape."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from consumers.alerts.channels.channel_kinds import kind_of
from consumers.models import DeliveryStatus, Ending, IncidentStatus, Severity
from dashboard.svg.shapes import state_shape
from dashboard.wording.alerts import (
    DELIVERIES,
    DELIVERY_LIKE,
    ENDINGS,
    EVENTS,
    SEVERITIES,
    SEVERITY_LIKE,
    STATUSES,
)

register = template.Library()


@register.simple_tag
def incident_severity(word: str) -> SafeString:
    return _shaped(SEVERITY_LIKE[Severity(word)], str(SEVERITIES[word]))


@register.simple_tag
def incident_status(word: str, severity: str) -> SafeString:
    """Of the colour of its severity while it fires, quiet before, well once it is over."""
    like = {IncidentStatus.PENDING: "UNKNOWN", IncidentStatus.RESOLVED: "OK"}.get(IncidentStatus(word))
    return _shaped(like or SEVERITY_LIKE[Severity(severity)], str(STATUSES[word]))


@register.simple_tag
def delivery_status(word: str) -> SafeString:
    return _shaped(DELIVERY_LIKE[DeliveryStatus(word)], str(DELIVERIES[word]))


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


def _shaped(like: str, word: str) -> SafeString:
    return format_html(
        '<span class="state state-{}">{} <span class="word">{}</span></span>', like.lower(), state_shape(like), word
    )
