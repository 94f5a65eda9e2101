"""Repeats in cells: causes in words, numbers between their bounds, or why those are not known."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from consumers.repeats.queries import RepeatedQueue
from consumers.words.repeats import confidence_words, kind_words, progress_words, repeat_cause_words
from dashboard.wording.numbers import again, count

from .fields import unknown

register = template.Library()
register.filter("repeat_cause", repeat_cause_words)
register.filter("confidence", confidence_words)


@register.simple_tag(takes_context=True)
def redelivered(context: template.Context, row: Any) -> SafeString:
    """Of an event or a queue: between two bounds; why one of them is unknown is its tooltip."""
    words = again(row.messages_low, row.messages_high)
    reason = row.unknown.get("messages_high") or row.unknown.get("messages_low")
    if words is None:
        return unknown(context, reason, brief=True)
    return format_html('<span title="{}">{}</span>', reason, words) if reason else format_html("{}", words)


@register.simple_tag(takes_context=True)
def repeated_queue(context: template.Context, one: RepeatedQueue) -> SafeString:
    """`Orders broker-a/0 · 900 to 1,020 · 40 to 120`: the queue, its offsets where they are known, and how many."""
    place = one.topic if one.broker is None else f"{one.topic} {one.broker}/{one.queue_id}"
    numbers = redelivered(context, one)
    if one.from_offset is None or one.until_offset is None:
        return format_html("{} · {}", place, numbers)
    offsets = _("offsets %(low)s to %(high)s") % {"low": count(one.from_offset), "high": count(one.until_offset - 1)}
    return format_html("{} · {} · {}", place, offsets, numbers)


# Attempts of a message in cells: what a copy is, and what the group's offset says of it.
register.filter("copy_kind", kind_words)
register.filter("attempt_progress", progress_words)
