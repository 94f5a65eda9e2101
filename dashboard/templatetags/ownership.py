"""Findings about ownership: how bad each is by word and shape, and the queues that it is about."""

from collections.abc import Sequence
from itertools import groupby

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.ownership.finding import Level
from consumers.rocketmq.allocation.strategies import QueueKey
from dashboard.wording.numbers import count

from .drawings import like_state

register = template.Library()

WORDS = {
    Level.PROBLEM: gettext_lazy("problem"),
    Level.WARNING: gettext_lazy("warning"),
    Level.NOTE: gettext_lazy("note"),
}
# The states whose shape and colour each has.
LIKE = {Level.PROBLEM: "STOP", Level.WARNING: "WARN", Level.NOTE: "UNKNOWN"}
QUEUES_NAMED = 6


@register.simple_tag
def level_of(level: Level) -> SafeString:
    return like_state(LIKE[level], WORDS[level])


@register.filter
def named(queues: Sequence[QueueKey]) -> str:
    """`Orders / broker-a / 0, 1, 3 and 12 more`."""
    shown = sorted(queues)[:QUEUES_NAMED]
    places = [
        f"{topic} / {broker} / {', '.join(str(queue.queue_id) for queue in same)}"
        for (topic, broker), same in groupby(shown, key=lambda queue: (queue.topic, queue.broker))
    ]
    more = len(queues) - len(shown)
    text = "; ".join(places)
    return _("%(queues)s and %(n)s more") % {"queues": text, "n": count(more)} if more else text
