"""Members and queues in sentences, many of them as few words."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from django.utils.translation import gettext, ngettext

from consumers.rocketmq.allocation.queue_key import QueueKey
from consumers.selectors.text.measures import count
from consumers.selectors.text.places import place

MOST_IDS, MOST_PLACES = 4, 3


def ids(client_ids: Iterable[str]) -> str:
    """`c1, c2, c3 and 9 more`."""
    named = sorted(set(client_ids))
    if len(named) <= MOST_IDS:
        return ", ".join(named)
    shown = ", ".join(named[: MOST_IDS - 1])
    return gettext("%(ids)s and %(n)s more") % {"ids": shown, "n": count(len(named) - MOST_IDS + 1)}


def queues(found: Sequence[QueueKey]) -> str:
    """`queue 3 of Orders on broker-a`, `6 queues of Orders on broker-a (0–5)`, `412 queues of 3 topics`."""
    places = [
        place(topic, broker, [queue.queue_id for queue in of_broker])
        for (topic, broker), of_broker in groupby(sorted(found), key=lambda queue: (queue.topic, queue.broker))
    ]
    if len(places) <= MOST_PLACES:
        return gettext(" and ").join(places)
    topics = sorted({queue.topic for queue in found})
    words = {"queues": queue_count(len(found)), "topics": ids(topics)}
    return gettext("%(queues)s of %(topics)s") % words


def queue_count(number: int) -> str:
    return ngettext("%(n)s queue", "%(n)s queues", number) % {"n": count(number)}
