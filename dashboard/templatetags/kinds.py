"""What kinds a group is of: words with their reasons, and whether its state is one to look at."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, ngettext, pgettext

from consumers.groups.gauges import state_time
from consumers.logs.queries import LogFileRow
from consumers.models import State
from consumers.rocketmq.bodies.client_bodies import IN_MIB, IN_MILLISECONDS, IN_MINUTES
from consumers.vocabulary.states import Flag
from consumers.words.logs import log_form_words, log_role_words
from consumers.words.marks import clauses
from consumers.words.spans import messages
from consumers.words.states import FLAGS, MEANINGS
from dashboard.figures.offset_bars import offset_bar
from dashboard.figures.time_bars import sparkline, state_shape
from dashboard.wording.codes import code_words
from dashboard.wording.numbers import count

# Small drawings made on the server: states, sparklines, offset bars.

register = template.Library()

# A lag of so many messages is a few commits of a healthy group.
FEW = 100


def like_state(state: str, words: Any) -> SafeString:
    """`words` with the shape and colour of a state."""
    return format_html('<span class="state state-{}">{} {}</span>', state.lower(), state_shape(state), words)


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
    words = {"low": count(min(known)), "high": messages(round(max(known)))}
    label = _("lag in the range: %(low)s to %(high)s") % words
    gaps = len(values or []) - len(known)
    unknown = ngettext("unknown in %(n)s window", "unknown in %(n)s windows", gaps) % {"n": gaps}
    return sparkline(values or [], clauses([label, unknown]) if gaps else label, floor=FEW)


@register.simple_tag
def position(row: Any) -> SafeString:
    return offset_bar(row.min_offset, row.consumer_offset, row.broker_offset)


register.filter("code_words", code_words)


@register.filter
def in_unit(value: str, setting: str) -> str:
    """The value of a member's setting with its unit; -1, which is no limit or none of its own, as it is."""
    units = {
        pgettext("a unit of time", "min"): IN_MINUTES,
        _("ms"): IN_MILLISECONDS,
        "MiB": IN_MIB,
    }
    unit = next((unit for unit, names in units.items() if setting in names), None)
    return f"{value} {unit}" if unit is not None and value.isdecimal() else value


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


register.simple_tag(state_time)


@register.simple_tag
def group_state(row: Any, is_explained: bool = False) -> SafeString:
    """Quiet where nothing is consumed, as it is meant to be, and where the state is OK and something else is to be
    said: no colour that says that all goes well. `is_explained`: with the meaning of the state as its help."""
    shown = state(row.state)
    if is_at_rest(row) or (row.state == State.OK and row.health_reasons):
        shown = format_html('<span class="at-rest">{}</span>', shown)
    if is_explained:
        return format_html('<span tabindex="0" aria-description="{}">{}</span>', MEANINGS[row.state], shown)
    return shown


def is_at_rest(row: Any) -> bool:
    if row.state != State.OK:
        return Flag.GHOST in row.flags
    return not {Flag.GHOST, Flag.PAUSED}.isdisjoint(row.flags) or (Flag.HABITUAL in row.flags and row.online is False)


# Words for RocketMQ's logs.
register.filter("log_form", log_form_words)
register.filter("log_role", log_role_words)


@register.filter
def files_of(files: Mapping[str, Sequence[LogFileRow]], cluster: str) -> Sequence[LogFileRow]:
    return files.get(cluster, ())
