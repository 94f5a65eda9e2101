"""`{% field row "lag_messages" %}`: a public field with its unit, or why it is not known. Never 0 or a dash instead."""

from datetime import datetime
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, gettext_lazy

from consumers.vocabulary.reasons import ReasonCode, VolumeReason, reason_code
from consumers.vocabulary.states import NO_LAG_REASONS, Flag
from consumers.words import spans
from consumers.words.alerts import rule_name_words
from consumers.words.marks import between_names, bracketed, clauses, listed
from consumers.words.spans import utc
from dashboard.wording import numbers
from dashboard.wording.help import HELP
from dashboard.wording.numbers import FIELDS

# Moments: `{% age at %}` is relative, `{% clock at %}` the time of day; both tell the absolute time on hover.

register = template.Library()
register.filter("rule_name", rule_name_words)
register.filter("count", numbers.count)
register.filter("day_and_time", numbers.day_and_time)
register.filter("duration", numbers.duration)
register.filter("size", numbers.size)
register.filter("share", numbers.share)
register.filter("per_second", numbers.per_second)
register.filter("end_of_id", numbers.end_of_id)
register.filter("listed", listed)


@register.simple_tag(takes_context=True)
def age(context: template.Context, at: datetime | None, never: str = "") -> SafeString:
    """How long ago; `never` is said where it has not happened yet."""
    if at is None:
        return format_html('<span class="unknown"><b>{}</b></span>', never or _("never"))
    return _time(at, numbers.ago(at, context["now"]))


@register.filter("bracketed")
def in_brackets(text: object) -> SafeString:
    """` (timed out)`, in the brackets of the language."""
    return format_html(bracketed("{}"), text)


@register.simple_tag(takes_context=True)
def aged(context: template.Context, at: datetime) -> SafeString:
    """` (6 s ago)`"""
    return in_brackets(age(context, at))


@register.simple_tag(takes_context=True)
def since(context: template.Context, at: datetime) -> SafeString:
    """`since 02:14:09`, on one line."""
    return since_when(at, context["now"])


def since_when(at: datetime, now: datetime) -> SafeString:
    return format_html("{}\u00a0{}", _("since"), moment(at, now))


@register.simple_tag(takes_context=True)
def clock(context: template.Context, at: datetime) -> SafeString:
    return moment(at, context["now"])


def moment(at: datetime, now: datetime) -> SafeString:
    return _time(at, numbers.clock(at, now))


def _time(at: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), utc(at), text)


# What a row says of each kind of time lag, in the text and on hover.
KINDS = {
    "exact": ("", gettext_lazy("exact: store time of the first unconsumed message")),
    "interpolated": ("≈ ", gettext_lazy("interpolated between scrapes")),
    "at_least": ("≥ ", gettext_lazy("at least: older than the retained history, or not evaluated recently")),
}


@register.simple_tag(takes_context=True)
def field(context: template.Context, row: Any, name: str, unit: bool = False, brief: bool = False) -> SafeString:
    """`unit` writes the unit beside the number: where no column head says it. `brief` leaves a reason to the hover:
    where the row says it already in another cell."""
    how, value = FIELDS[name], getattr(row, name)
    if value is None:
        return _not_known(context, row, name, brief)
    text = how.write(value)
    if name == "time_lag_seconds":
        return _time_lag(context, row, text, unit)
    if name == "expires_unconsumed_seconds" and row.expires_unconsumed_at_most:
        return format_html('<abbr title="{}">≤ {}</abbr>', _("a queue that is unknown may lose messages sooner"), text)
    unit_words = how.unit_of(value) if unit else ""
    return format_html('{} <span class="u">{}</span>', text, unit_words) if unit_words else format_html("{}", text)


def reason_of(row: Any, name: str) -> str:
    """Why `name` is not known, in the row's own words."""
    own = row.unknown_reason if name == "lag_messages" else None
    return own or row.unknown.get(name) or getattr(row, "unknown_reason", None) or _("no reason recorded")


def last_good_of(row: Any, name: str) -> datetime | None:
    """When a lag was last known. What was read and still has no lag, as ahead of the broker, has no such time."""
    if name != "lag_messages":
        return None
    offsets = (getattr(row, "consumer_offset", None), getattr(row, "broker_offset", None))
    return getattr(row, "taken_at", None) if offsets == (None, None) else None


def _not_known(context: template.Context, row: Any, name: str, brief: bool) -> SafeString:
    reason = reason_of(row, name)
    if reason_code(reason) is ReasonCode.NEVER_DRAINS:
        return format_html('<span class="late" title="{}">{}</span>', reason, _("never"))
    if _is_answer(row, name, reason):
        return format_html('<span class="quiet">{}</span>', reason)
    if part := getattr(row, "known_parts", {}).get(name):
        written = FIELDS[name].write(part.value)
        return known_part(context, written if name == "retry_share" else f"≥ {written}", reason, part.since)
    if brief or _is_shown_beside(row, name, reason):
        return unknown(context, reason, brief=True)
    at_least = getattr(row, "lag_messages_at_least", None) if name == "lag_messages" else None
    shown = unknown(context, reason, last_good_of(row, name))
    if not at_least:
        return shown
    sum_of_known = f"≥ {spans.messages(at_least)}"
    return format_html('<span class="at-least">{}</span>{}', sum_of_known, shown)


def _is_shown_beside(row: Any, name: str, reason: str) -> bool:
    """Whether the row shows the reason in full with its lag, or with its kinds."""
    of_its_kind = getattr(row, "flag_reasons", {}).get(Flag.OUTSIDE_STORE)
    return reason == of_its_kind or (name != "lag_messages" and reason == getattr(row, "unknown_reason", None))


def _is_answer(row: Any, name: str, reason: str) -> bool:
    """Whether everything is known and there is no such number: nothing drains, was consumed or ever committed."""
    if name == "drain_seconds":
        is_young = reason_code(reason) is ReasonCode.LAG_IS_YOUNG
        return not is_young and None not in (row.lag_messages, row.consume_rate, row.produce_rate)
    if name == "expires_unconsumed_seconds":
        return reason_code(reason) == ReasonCode.NO_EXPIRY_EXPECTED
    if name == "retry_share":
        return getattr(row, "unknown_codes", {}).get(name) == VolumeReason.NOTHING_CONSUMED
    return name == "lag_messages" and getattr(row, "unknown_reason_code", None) in NO_LAG_REASONS


def _time_lag(context: template.Context, row: Any, text: str, with_moment: bool) -> SafeString:
    """On hover its kind and, where it was judged before the lag beside it was read, of which moment it is.

    `with_moment` says that in the text too.
    """
    sign, kind = KINDS.get(row.time_lag_kind, ("", row.time_lag_kind))
    error = getattr(row, "time_lag_error_seconds", None)
    if error is not None:
        kind = clauses([str(kind), f"± {FIELDS['time_lag_seconds'].write(error)}"])
    at: datetime | None = getattr(row, "time_lag_at", None)
    earlier = None if at == getattr(row, "taken_at", None) else at
    if earlier is not None:
        kind = f"{kind} · {_('as of %(time)s') % {'time': numbers.zoned(earlier, context['now'])}}"
    hovered = sign or error or earlier
    shown = format_html('<abbr title="{}">{}{}</abbr>', kind, sign, text) if hovered else format_html("{}", text)
    if earlier is None or not with_moment:
        return shown
    return format_html('{} <span class="u">{}\u00a0{}</span>', shown, _("at"), moment(earlier, context["now"]))


def known_part(context: template.Context, text: str, reason: str, since: datetime | None) -> SafeString:
    """Returns `≥ 44 · since 13:39:20`: the known part of a number. Why the number is not complete is on hover and for a
    screen reader."""
    begun = ""
    if since:
        begun = format_html(
            '<span class="dot"> · </span><span class="since">{}</span>', since_when(since, context["now"])
        )
    why = reason or _("no reason recorded")
    markup = '<span class="known-part" title="{1}">{0}<span class="said">: {1}</span>{2}</span>'
    return format_html(markup, text, why, begun)


@register.simple_tag(takes_context=True)
def unknown(
    context: template.Context, reason: str, last_good: datetime | None = None, brief: bool = False, bare: bool = False
) -> SafeString:
    """The word, the time when it was last known, and the reason: on hover if `brief`, in another cell if `bare`."""
    why = reason or _("no reason recorded")
    if brief:
        return format_html(
            '<span class="unknown" title="{0}"><b>{1}</b><span class="said">: {0}</span></span>', why, _("unknown")
        )
    good = (
        format_html(' · <span class="good">{} {}</span>', _("last success"), moment(last_good, context["now"]))
        if last_good
        else ""
    )
    why_shown = "" if bare else format_html('<span class="why">{}</span>', why)
    return format_html('<span class="unknown"><b>{}</b>{}{}</span>', _("unknown"), good, why_shown)


@register.simple_tag(takes_context=True)
def topic_link(context: template.Context, cluster: str, topic: str) -> SafeString:
    """The topic's name, and its page with the range of this one."""
    return format_html('<a href="{}">{}</a>', context["frame"].to("topic", cluster, topic), topic)


@register.simple_tag(takes_context=True)
def client_link(context: template.Context, cluster: str, client_id: str, brief: bool = False) -> SafeString:
    """The client ID, or several with commas, each with its page in the range of this one.

    `brief`: a long one is cut in its middle; the hover has all of it.
    """
    names = client_id.split(", ")
    cut = {name: numbers.middle_cut(name) if brief else name for name in names}
    titles = {name: "" if text == name else format_html(' title="{}"', name) for name, text in cut.items()}
    return format_html_join(
        between_names(),
        '<a href="{}"{}>{}</a>',
        ((context["frame"].to("client", cluster, name), titles[name], text) for name, text in cut.items()),
    )


# `<th scope="col"{% describe "lag_messages" %}>`: the help of a column or measure, on hover and by the keyboard.
@register.simple_tag
def describe(name: str, is_focused_within: object = False) -> SafeString:
    """`is_focused_within`: what the head contains takes the focus, or the head has no visible label."""
    focusable = "" if is_focused_within else ' tabindex="0"'
    return format_html('{} aria-description="{}"', SafeString(focusable), HELP[name])
