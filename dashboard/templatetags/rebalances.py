"""The numbers of rebalances and repeats in cells: with units, or why they are not known."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from consumers.rebalances.events import moment_text, rebalance_counts
from consumers.rebalances.flapping import LEVEL_WORDS
from consumers.repeats import RepeatedQueue
from consumers.rocketmq.allocation import QueueKey
from consumers.vocabulary.reasons import ReasonCode, reason_code
from consumers.words.marks import chained, listed
from consumers.words.reasons import cause_words
from consumers.words.repeats import confidence_words, kind_words, progress_words, repeat_cause_words
from dashboard.wording.numbers import again, count, duration

from .fields import age, unknown

register = template.Library()
register.filter("rebalance_counts", rebalance_counts)
register.filter("level", lambda level: LEVEL_WORDS[level])
register.filter("cause", cause_words)


@register.simple_tag(takes_context=True)
def last_rebalance(context: template.Context, row: Any) -> SafeString:
    """Of a group's row: how long ago, as a link to it."""
    at = row.last_rebalance_at
    if at is not None:
        href = reverse("rebalance", args=(row.cluster, row.group, moment_text(at)))
        return format_html('<a href="{}" id="rebalance-of-{}">{}</a>', href, row.id, age(context, at))
    reason = row.unknown["last_rebalance_at"]
    if reason_code(reason) is ReasonCode.NO_REBALANCE:
        return format_html('<span class="quiet" title="{}">{}</span>', reason, _("none seen"))
    return unknown(context, reason, brief=True)


@register.simple_tag
def causes(event: Any) -> SafeString:
    """The words of all causes, and whether it was a rollout."""
    words = [cause_words(cause) for cause in event.causes]
    if event.rollout:
        words.append(_("rollout"))
    return format_html_join(" ", '<span class="tag">{}</span>', ((word,) for word in words))


@register.simple_tag(takes_context=True)
def moved(context: template.Context, cost: Any) -> SafeString:
    """`3 of 8`"""
    if cost.queues_moved is None:
        return unknown(context, cost.unknown["queues_moved"], brief=True)
    if cost.queues is None:
        return format_html("{}", count(cost.queues_moved))
    return format_html("{}", _("%(moved)s of %(all)s") % {"moved": count(cost.queues_moved), "all": count(cost.queues)})


@register.simple_tag(takes_context=True)
def unowned(context: template.Context, cost: Any) -> SafeString:
    """Seconds summed over queues. None that a reading saw is not none at all."""
    seconds = cost.unowned_queue_seconds
    if seconds is None:
        return unknown(context, cost.unknown["unowned_queue_seconds"], brief=True)
    return _loud(seconds) if seconds else format_html('<span class="quiet">{}</span>', _("none seen"))


@register.simple_tag(takes_context=True)
def doubly(context: template.Context, cost: Any) -> SafeString:
    """How many queues had two owners, and for how long in all."""
    queues, seconds = cost.doubly_owned_queues, cost.doubly_owned_queue_seconds
    if queues is None:
        return unknown(context, cost.unknown["doubly_owned_queues"], brief=True)
    text = _("none seen") if queues == 0 else _("%(n)s for %(time)s") % {"n": count(queues), "time": _length(seconds)}
    return format_html('<span class="{}">{}</span>', "late" if queues else "quiet", text)


@register.simple_tag(takes_context=True)
def replayed(context: template.Context, row: Any) -> SafeString:
    """Of a rebalance, a topic or a queue: between two bounds."""
    words = again(row.replayed_messages_low, row.replayed_messages)
    if words is None:
        return unknown(context, row.unknown["replayed_messages"], brief=True)
    return format_html('<span class="{}">{}</span>', "" if row.replayed_messages else "quiet", words)


@register.simple_tag(takes_context=True)
def ends(context: template.Context, row: Any, name: str) -> SafeString:
    """`2 → 3`, of the fields `{name}_before` and `{name}_after`."""
    return _arrow(context, row, f"{name}_before", f"{name}_after")


@register.simple_tag(takes_context=True)
def lags(context: template.Context, cost: Any) -> SafeString:
    """`120 → 480`: before it, and the most within it."""
    return _arrow(context, cost, "lag_before_messages", "lag_peak_messages")


@register.simple_tag(takes_context=True)
def holders(context: template.Context, move: Any, end: str) -> SafeString:
    """Who held a queue before or after."""
    owners = getattr(move, end)
    if owners is None:
        return unknown(context, move.unknown[end], brief=True)
    return format_html_join(", ", "{}", ((owner,) for owner in owners)) or format_html(
        '<span class="difference">{}</span>', _("no owner")
    )


@register.simple_tag(takes_context=True)
def lapse(context: template.Context, move: Any, name: str) -> SafeString:
    """How long one queue was so: as sampled, and between which bounds."""
    seconds = getattr(move, f"{name}_seconds")
    if seconds is None:
        return unknown(context, move.unknown[f"{name}_seconds"], brief=True)
    low, high = getattr(move, f"{name}_seconds_low"), getattr(move, f"{name}_seconds_high")
    if low is None or high is None or low == high == seconds:
        return _loud(seconds)
    words = {"low": duration(low), "high": duration(high)}
    return format_html('{} <span class="u">({})</span>', _loud(seconds), _("%(low)s to %(high)s") % words)


def _arrow(context: template.Context, row: Any, *names: str) -> SafeString:
    values = {name: getattr(row, name) for name in names}
    parts = [
        format_html("{}", count(value)) if value is not None else unknown(context, row.unknown[name], brief=True)
        for name, value in values.items()
    ]
    return format_html("{} → {}", *parts)


def _loud(seconds: float) -> SafeString:
    return format_html('<span class="{}">{}</span>', "difference" if seconds else "quiet", _length(seconds))


def _length(seconds: float | None) -> str:
    return _("for an unknown time") if seconds is None else duration(seconds)


QUEUES_NAMED = 6


@register.filter
def named(queues: Sequence[QueueKey]) -> str:
    """`Orders / broker-a / 0, 1, 3 and 12 more`."""
    shown = sorted(queues)[:QUEUES_NAMED]
    places = [
        f"{topic} / {broker} / {listed(str(queue.queue_id) for queue in same)}"
        for (topic, broker), same in groupby(shown, key=lambda queue: (queue.topic, queue.broker))
    ]
    more = len(queues) - len(shown)
    text = chained(places)
    return _("%(queues)s and %(n)s more") % {"queues": text, "n": count(more)} if more else text


# Repeats in cells: causes in words, numbers between their bounds, or why those are not known.
register.filter("repeat_cause", repeat_cause_words)
register.filter("confidence", confidence_words)


@register.simple_tag(takes_context=True)
def redelivered(context: template.Context, row: Any) -> SafeString:
    """Of an event or a queue: between two bounds; why one of them is unknown is its tooltip."""
    words = again(row.redelivered_low, row.redelivered_high)
    reason = row.unknown.get("redelivered_high") or row.unknown.get("redelivered_low")
    if words is None:
        return unknown(context, reason, brief=True)
    return format_html('<span title="{}">{}</span>', reason, words) if reason else format_html("{}", words)


@register.simple_tag(takes_context=True)
def repeated_queue(context: template.Context, one: RepeatedQueue) -> SafeString:
    """`Orders broker-a/0 · 900 to 1,020 · 40 to 120`: the queue, its offsets where they are known, and how many."""
    place = one.topic if one.broker is None else f"{one.topic} {one.broker}/{one.queue_id}"
    numbers = redelivered(context, one)
    if one.from_offset is None or one.to_offset is None:
        return format_html("{} · {}", place, numbers)
    offsets = _("offsets %(low)s to %(high)s") % {"low": count(one.from_offset), "high": count(one.to_offset - 1)}
    return format_html("{} · {} · {}", place, offsets, numbers)


# Attempts of a message in cells: what a copy is, and what the group's offset says of it.
register.filter("copy_kind", kind_words)
register.filter("attempt_progress", progress_words)
