"""Delay levels on the clusters page: what waits on each, and what of it is late."""

from collections.abc import Mapping

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.pages.retries.retries import DelayLine, DelayTable, LevelCell, LevelHead
from dashboard.templatetags.fields import unknown
from dashboard.wording.numbers import count, duration

register = template.Library()


@register.filter
def table_of(tables: Mapping[str, DelayTable], cluster: str) -> DelayTable | None:
    return tables.get(cluster)


@register.simple_tag(takes_context=True)
def level_delay(context: template.Context, head: LevelHead) -> SafeString:
    """How long the level delays, as every broker says it that says anything."""
    if not head.delays:
        return unknown(context, _("no broker reports the delay of this level"), brief=True)
    return format_html("{}", " / ".join(duration(delay) for delay in head.delays))


@register.simple_tag(takes_context=True)
def broker_backlog(context: template.Context, line: DelayLine) -> SafeString:
    if line.levels.backlog is None:
        return unknown(context, line.levels.unknown["backlog"], brief=True)
    return format_html("{}", count(line.levels.backlog))


@register.simple_tag(takes_context=True)
def level_backlog(context: template.Context, cell: LevelCell) -> SafeString:
    if cell.level is None:
        return format_html('<span class="quiet">{}</span>', _("no such level"))
    if cell.level.backlog is None:
        return unknown(context, cell.level.unknown["backlog"], brief=True)
    if not cell.is_late:
        return format_html("{}", count(cell.level.backlog))
    late = _("%(time)s late") % {"time": duration(cell.level.overdue_seconds or 0)}
    return format_html('{} <span class="u line silent">{}</span>', count(cell.level.backlog), late)
