"""Small drawings made on the server: states, sparklines, offset bars."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.svg.offset_bars import offset_bar
from dashboard.svg.shapes import state_shape
from dashboard.svg.sparkline import sparkline
from dashboard.wording.numbers import count

register = template.Library()

# A lag of so many messages is a few commits of a healthy group.
FEW = 100


def like_state(state: str, words: Any) -> SafeString:
    """`words` with the shape and colour of a state."""
    return format_html(
        '<span class="state state-{}">{} <span class="word">{}</span></span>', state.lower(), state_shape(state), words
    )


@register.simple_tag
def state(word: str, n: int | None = None) -> SafeString:
    """Shape, colour and word; with `n`, how many there are."""
    return like_state(word, word if n is None else format_html("{} {}", count(n), word))


@register.simple_tag
def lag_line(values: Sequence[float | None] | None) -> SafeString:
    """The lag of the page's range, oldest first."""
    known = [value for value in values or [] if value is not None]
    if not known:
        return sparkline([None], _("lag in the range: unknown"))
    words = {"low": count(min(known)), "high": count(max(known))}
    label = _("lag in the range: %(low)s to %(high)s messages") % words
    gaps = len(values or []) - len(known)
    return sparkline(values or [], f"{label}, {_('unknown in %s windows') % gaps}" if gaps else label, floor=FEW)


@register.simple_tag
def position(row: Any) -> SafeString:
    return offset_bar(row.min_offset, row.consumer_offset, row.broker_offset)
