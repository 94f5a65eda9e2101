"""`<th scope="col"{% describe "lag_messages" %}>`: the help of a column or measure, on hover and by the keyboard."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.wording.help import HELP

register = template.Library()


@register.simple_tag
def describe(name: str, is_focused_within: object = False) -> SafeString:
    """`is_focused_within`: what the head contains takes the focus, or the head has no visible label."""
    focusable = "" if is_focused_within else ' tabindex="0"'
    return format_html('{} aria-description="{}"', SafeString(focusable), HELP[name])
