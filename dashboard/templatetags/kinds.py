"""What kinds a group is of: words with their reasons, and whether its state is one to look at."""

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from consumers.models import State
from consumers.vocabulary.groups import Flag
from consumers.words.groups import FLAGS
from dashboard.templatetags.drawings import state
from dashboard.wording.codes import code_words

register = template.Library()
register.filter("code_words", code_words)


@register.simple_tag
def flags(row: Any) -> SafeString:
    """A word for each kind; why, on hover and for screen readers."""
    return format_html_join(
        "",
        ' <span class="tag" title="{1}">{0}<span class="said">: {1}</span></span>',
        ((FLAGS[flag], row.flag_reasons[flag]) for flag in row.flags),
    )


@register.simple_tag
def kinds(row: Any) -> list[tuple[Any, str]]:
    """Each kind's word and its reason."""
    return [(FLAGS[flag], row.flag_reasons[flag]) for flag in row.flags]


@register.simple_tag
def group_state(row: Any) -> SafeString:
    """Quiet where nothing is consumed, as it is meant to be, and where the state is OK and something else is to be
    said: no colour that says that all goes well."""
    shown = state(row.state)
    is_quiet = is_at_rest(row) or (row.state == State.OK and bool(row.health_reasons))
    return format_html('<span class="at-rest">{}</span>', shown) if is_quiet else shown


def is_at_rest(row: Any) -> bool:
    if row.state != State.OK:
        return Flag.GHOST in row.flags
    return not {Flag.GHOST, Flag.PAUSED}.isdisjoint(row.flags) or (Flag.HABITUAL in row.flags and row.online is False)
