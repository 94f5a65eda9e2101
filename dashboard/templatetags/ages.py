"""Moments: `{% age at %}` is relative, `{% clock at %}` the time of day; both tell the absolute time on hover."""

from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.wording import numbers

register = template.Library()
register.filter("count", numbers.count)
register.filter("duration", numbers.duration)
register.filter("size", numbers.size)
register.filter("share", numbers.share)
register.filter("rate", numbers.rate)


@register.simple_tag(takes_context=True)
def age(context: template.Context, at: datetime | None, never: str = "") -> SafeString:
    """How long ago; `never` is said where it has not happened yet."""
    if at is None:
        return format_html('<span class="unknown"><b>{}</b></span>', never or _("never"))
    return _time(at, numbers.ago(at, context["now"]))


@register.simple_tag(takes_context=True)
def clock(context: template.Context, at: datetime) -> SafeString:
    return moment(at, context["now"])


def moment(at: datetime, now: datetime) -> SafeString:
    return _time(at, numbers.clock(at, now))


def _time(at: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), numbers.absolute(at), text)
