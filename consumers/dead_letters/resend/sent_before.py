"""Which messages were sent again by another re-send, or may have been: nothing is sent twice without being told to."""

from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from consumers.models import ConsumerGroup, ResendItem, ResendOutcome
from consumers.selectors.dead_letters.filters import MAYBE_SENT

# SQLite takes some 32,000 values in one statement; a place takes four.
AT_ONCE = 500

Place = tuple[str, int, int, str]


def place_of(item: ResendItem) -> Place:
    """Of the dead letter: its queue and offset, and where it is stored, for a topic may be made anew."""
    return item.broker, item.queue_id, item.offset, item.stored_id


def sent_before(group: ConsumerGroup, items: Sequence[ResendItem]) -> dict[Place, ResendItem]:
    """By place, the newest of another re-send that was sent or may have been. A query for every few hundred items."""
    earlier: dict[Place, ResendItem] = {}
    resends = {item.resend_id for item in items}
    for start in range(0, len(items), AT_ONCE):
        for item in _at(group, items[start : start + AT_ONCE]).exclude(resend__in=resends).order_by("pk"):
            earlier[place_of(item)] = item
    return earlier


def _at(group: ConsumerGroup, items: Iterable[ResendItem]) -> QuerySet[ResendItem]:
    queues: dict[tuple[str, int], list[int]] = {}
    for item in items:
        queues.setdefault((item.broker, item.queue_id), []).append(item.offset)
    places = Q(pk__in=[])
    for (broker, queue_id), offsets in queues.items():
        places |= Q(broker=broker, queue_id=queue_id, offset__in=offsets)
    return ResendItem.objects.filter(places, resend__group=group, outcome__in=MAYBE_SENT).select_related("resend")


def before_in_words(item: ResendItem) -> str:
    done = "was re-sent" if item.outcome == ResendOutcome.SENT else "may have been re-sent"
    moment = item.at or item.resend.created_at
    return f"it {done} at {moment:%Y-%m-%d %H:%M:%S} UTC by {item.resend.by_name}"
