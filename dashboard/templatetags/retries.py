"""Retries: how bad a condition is by word and shape, why a queue is blocked, and numbers that say why they are not."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from consumers.models import State
from consumers.retries.blocked_rows import BLOCKED_KINDS, BlockedKind
from consumers.retries.checks.condition_rows import Condition
from consumers.retries.ladder_rows import DueRetries, Ladder, LastAttempts, RetryPolicyRow
from consumers.retries.volumes import VolumeTotals
from consumers.words.marks import listed
from dashboard.pages.retries import DelayLine, DelayTable, LevelCell, LevelHead
from dashboard.wording.numbers import ago, count, duration, share, size, zone_name
from dashboard.wording.resets import CONDITIONS

from .fields import known_part, moment, unknown
from .kinds import like_state

register = template.Library()
WRITERS = {"count": count, "duration": duration, "share": share, "size": size}


@register.simple_tag
def claim(condition: Condition) -> SafeString:
    """What must hold, in a few words."""
    return format_html("{}", CONDITIONS.get(condition.name, condition.name))


@register.simple_tag
def blocked_kind(kind: BlockedKind) -> SafeString:
    return like_state(State.STALL, str(BLOCKED_KINDS[kind].label))


@register.simple_tag(takes_context=True)
def value(context: template.Context, row: Any, name: str, how: str = "count", brief: bool = True) -> SafeString:
    """A number of a row, or that it is not known, with the reason that the row gives."""
    known = getattr(row, name)
    if known is None:
        return unknown(context, row.unknown.get(name, ""), brief=brief)
    return format_html("{}", WRITERS[how](known))


# Delay levels on the clusters page: what waits on each, and what of it is late.


@register.filter
def table_of(tables: Mapping[str, DelayTable], cluster: str) -> DelayTable | None:
    return tables.get(cluster)


@register.simple_tag(takes_context=True)
def level_delay(context: template.Context, head: LevelHead) -> SafeString:
    """Returns the delay of the level, as reported by every broker that reports one."""
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


# Volumes, samples and what is due: each with its unit, and "at least" or the reason where it is not known whole.


@register.simple_tag(takes_context=True)
def volume(context: template.Context, totals: VolumeTotals, name: str) -> SafeString:
    at_least, reason = totals.at_least[name], totals.unknown.get(name, "")
    return _sum(context, getattr(totals, name), at_least, reason, totals.known_since.get(name))


@register.simple_tag(takes_context=True)
def retried_share(context: template.Context, totals: VolumeTotals) -> SafeString:
    """Redeliveries for each message that was consumed, of the whole range."""
    if totals.into_retry is None or totals.consumed is None:
        since = {totals.known_since.get(name) for name in ("into_retry", "consumed")}
        retried, consumed = totals.at_least["into_retry"], totals.at_least["consumed"]
        if len(since) == 1 and retried is not None and consumed and (begun := since.pop()):
            return known_part(context, share(retried / consumed), totals.unknown.get("into_retry", ""), begun)
        name = "into_retry" if totals.into_retry is None else "consumed"
        return unknown(context, totals.unknown.get(name, ""), brief=True)
    if not totals.consumed:
        return unknown(context, _("nothing was consumed"), brief=True)
    return format_html("{}", share(totals.into_retry / totals.consumed))


@register.simple_tag(takes_context=True)
def sampled_of(context: template.Context, ladder: Ladder) -> SafeString:
    """`12 in 40 of 1,200 looked into`"""
    if ladder.messages is None or ladder.looked_at is None or ladder.of is None:
        return unknown(context, ladder.unknown.get("messages", ""), brief=True)
    words = {"looked_at": count(ladder.looked_at), "of": count(ladder.of)}
    if ladder.looked_at >= ladder.of:
        text = _("all waiting messages inspected")
    else:
        text = _("in %(looked_at)s inspected, of %(of)s waiting") % words
    return format_html('{} <span class="u">{}</span>', count(ladder.messages), text)


@register.simple_tag(takes_context=True)
def waiting_level(context: template.Context, ladder: Ladder, name: str) -> SafeString:
    """`02:14:09 UTC (in 40 s), on level 5`"""
    found = getattr(ladder, name)
    if found is None:
        reason = ladder.unknown.get(name, "")
        # Where the samples are known, the reason is an answer: nothing waits, or all was due by now.
        if ladder.messages is None:
            return unknown(context, reason, brief=True)
        return format_html('<span class="quiet">{}</span>', reason)
    now = context["now"]
    ahead = {"time": duration(max(0, round((found.at - now).total_seconds())))}
    far = ago(found.at, now) if found.at <= now else _("in %(time)s") % ahead
    level = _("level %(level)s") % {"level": found.level}
    return format_html('{} {} <span class="u">{} · {}</span>', moment(found.at, now), zone_name(), far, level)


@register.simple_tag(takes_context=True)
def last_attempts(context: template.Context, row: LastAttempts) -> SafeString:
    """How many of the sample wait for their last retry, and when the first of them gets it."""
    if row.messages is None:
        return unknown(context, row.unknown.get("messages", ""), brief=True)
    limit = {"n": row.max_retries, "who": row.reported_by}
    limit_words = "" if row.max_retries is None else _("after retry %(n)s, the maximum of %(who)s") % limit
    if not row.messages:
        return format_html(
            '<span class="quiet">{}</span> <span class="u">{}</span>', _("none in the sample"), limit_words
        )
    first = (
        format_html(" · {} {} {}", _("first at"), moment(row.next_due_at, context["now"]), zone_name())
        if row.next_due_at
        else ""
    )
    return format_html(
        '<span class="late">{}</span> <span class="u">{}{}</span>', count(row.messages), limit_words, first
    )


@register.simple_tag(takes_context=True)
def due(context: template.Context, row: DueRetries) -> SafeString:
    """What lies in the group's own retry topics, and how long the oldest of it has been due."""
    reason = row.unknown.get("lag_messages", "")
    shown = _sum(context, row.lag_messages, row.lag_messages_at_least, reason)
    if row.oldest_seconds:
        since = _("oldest: %(time)s") % {"time": duration(row.oldest_seconds)}
        return format_html('{} <span class="u line">{}</span>', shown, since)
    return shown


@register.simple_tag
def retry_policy(row: RetryPolicyRow) -> str:
    """What the group's configuration says of delays, and who heeds it."""
    heeded = {
        True: _("applied by these clients (POP)"),
        False: _("ignored by these clients (pull)"),
        None: row.unknown.get("is_heeded", ""),
    }[row.is_heeded]
    delays = listed(duration(seconds) for seconds in row.delays_seconds)
    words = {"kind": row.kind, "delays": delays, "heeded": heeded}
    return _("Broker retry policy %(kind)s (%(delays)s) · %(heeded)s") % words


def _sum(
    context: template.Context, value: int | None, at_least: int | None, reason: str, since: datetime | None = None
) -> SafeString:
    """`10 messages`, `≥ 10 messages · since 13:39`; "unknown" only where nothing is known."""
    if value is not None:
        return format_html('{} <span class="u">{}</span>', count(value), _("messages"))
    if at_least is None or (not at_least and since is None):
        return unknown(context, reason, brief=True)
    return known_part(context, f"≥ {count(at_least)} {_('messages')}", reason, since)
