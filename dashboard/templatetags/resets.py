"""Offset resets on pages: status and outcome by word and shape, where a queue stands and goes, and what that costs."""

from typing import Any

from django import template
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, gettext_lazy

from consumers.models import ResetOutcome, ResetStatus
from consumers.queries.codes import RESET_METHODS, RESETS
from consumers.resets.rows import ResetQueueRow, ResetRow, ResetTotals
from consumers.vocabulary.reasons import reason_code
from consumers.vocabulary.resets import RowReason
from consumers.words.resets import STEPS
from dashboard.figures.offset_bars import reset_bar
from dashboard.templatetags.fields import unknown
from dashboard.wording.numbers import count
from dashboard.wording.resets import OUTCOME_LIKE, STATUS_LIKE, destination

from .kinds import like_state

register = template.Library()
# Reasons for which nothing is missing.
ANSWERS: dict[str | None, Promise] = {
    RowReason.NO_COMMIT: gettext_lazy("no commit"),
    RowReason.NOTHING_COMMITTED: gettext_lazy("no commit"),
    RowReason.NOT_WRITTEN_YET: gettext_lazy("not written"),
    RowReason.ENDED_BEFORE: gettext_lazy("not written"),
    RowReason.AT_TARGET: gettext_lazy("as planned"),
}


@register.simple_tag
def reset_status(status: str) -> SafeString:
    return like_state(STATUS_LIKE[ResetStatus(status)], str(RESETS[status]))


@register.simple_tag
def outcome(word: str) -> SafeString:
    return like_state(OUTCOME_LIKE[ResetOutcome(word)], word)


@register.simple_tag
def reset_to(row: ResetRow) -> str:
    return destination(row.kind, row.value)


@register.filter
def step_words(name: str) -> str:
    return str(STEPS[name])


@register.filter
def method(name: str) -> str:
    return str(RESET_METHODS[name])


@register.simple_tag
def reset_picture(row: ResetQueueRow) -> SafeString:
    return reset_bar(row.min_offset, row.max_offset, row.now, row.target, row.unknown.get("now", ""))


@register.simple_tag(takes_context=True)
def offset(context: template.Context, row: Any, name: str) -> SafeString:
    """A number of a queue, or why there is none: a queue without a commit is known to have none."""
    value = getattr(row, name)
    if value is not None:
        return format_html("{}", count(value))
    reason = row.unknown.get(name, "")
    if (code := reason_code(reason)) in ANSWERS:
        return format_html('<span class="quiet" title="{}">{}</span>', reason, ANSWERS[code])
    return unknown(context, reason, brief=True)


@register.simple_tag(takes_context=True)
def effect(context: template.Context, row: ResetQueueRow) -> SafeString:
    """What the group gets again or never gets, of one queue."""
    if row.replayed_messages is None or row.skipped_messages is None:
        name = "replayed_messages" if row.replayed_messages is None else "skipped_messages"
        return unknown(context, row.unknown.get(name, ""), brief=True)
    if row.replayed_messages:
        return format_html("{}", _("%(n)s redelivered") % {"n": count(row.replayed_messages)})
    if row.skipped_messages:
        return format_html(
            '<span class="difference">{}</span>', _("%(n)s skipped") % {"n": count(row.skipped_messages)}
        )
    return format_html('<span class="quiet">{}</span>', _("none"))


@register.simple_tag(takes_context=True)
def total(context: template.Context, totals: ResetTotals, name: str, brief: bool = False) -> SafeString:
    """A number of messages of all queues that move, or of those confirmed; `brief` leaves a reason to the hover."""
    value, at_least = getattr(totals, name), getattr(totals, f"{name}_at_least", 0)
    if value is None and not at_least:
        return unknown(context, totals.unknown.get(name, ""), brief=True)
    if value is None:
        words, why = _("≥ %(n)s") % {"n": count(at_least)}, totals.unknown.get(name, "")
        if brief:
            return format_html('<abbr title="{}">{}</abbr>', why, words)
        return format_html('{} <span class="u">{} ({})</span>', words, _("messages"), why)
    return (
        format_html("{}", count(value))
        if brief
        else format_html('{} <span class="u">{}</span>', count(value), _("messages"))
    )
