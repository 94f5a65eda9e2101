"""Retries: how bad a condition is by word and shape, why a queue is blocked, and numbers that say why they are not."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from consumers.models import State
from consumers.retries.checks.condition_rows import Condition, Severity
from consumers.retries.unfinished.blocked_rows import BlockedKind
from dashboard.svg.shapes import state_shape
from dashboard.templatetags.ages import moment
from dashboard.templatetags.fields import unknown
from dashboard.wording.numbers import ago, count, duration, share, size
from dashboard.wording.retries import BLOCKED, CONDITIONS, LIKE, SEVERITIES

register = template.Library()
WRITERS = {"count": count, "duration": duration, "share": share, "size": size}


@register.simple_tag
def severity(word: Severity) -> SafeString:
    return _shaped(LIKE[word], str(SEVERITIES[word]))


@register.simple_tag
def claim(condition: Condition) -> SafeString:
    """What must hold, in a few words."""
    return format_html("{}", CONDITIONS.get(condition.name, condition.name))


@register.simple_tag
def blocked_kind(kind: BlockedKind) -> SafeString:
    return _shaped(State.STALL, str(BLOCKED[kind]))


@register.simple_tag(takes_context=True)
def told(context: template.Context, row: Any, name: str, how: str = "count", brief: bool = True) -> SafeString:
    """A number of a row, or that it is not known, with the reason that the row gives."""
    value = getattr(row, name)
    if value is None:
        return unknown(context, row.unknown.get(name, ""), brief=brief)
    return format_html("{}", WRITERS[how](value))


@register.simple_tag(takes_context=True)
def told_at(context: template.Context, row: Any, name: str) -> SafeString:
    """A moment of a row, past or to come, with how far it is from this one."""
    value = getattr(row, name)
    if value is None:
        return unknown(context, row.unknown.get(name, ""), brief=True)
    now = context["now"]
    ahead = {"time": duration(round((value - now).total_seconds()))}
    far = ago(value, now) if value <= now else _("in %(time)s") % ahead
    return format_html('{} UTC <span class="quiet">({})</span>', moment(value, now), far)


def _shaped(like: str, word: str) -> SafeString:
    return format_html(
        '<span class="state state-{}">{} <span class="word">{}</span></span>', like.lower(), state_shape(like), word
    )
