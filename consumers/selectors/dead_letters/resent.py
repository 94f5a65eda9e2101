"""Which letters were sent again: by whom, when and with what result."""

from collections import defaultdict
from collections.abc import Sequence

from consumers.models import ConsumerGroup, DeadLetter, ResendItem

from .rows import TRIED, Resent

# A broker's queue, an offset in it, and where the letter is stored: a topic that was made anew has other letters.
LetterKey = tuple[str, int, int, str]


def key_of(letter: DeadLetter) -> LetterKey:
    return letter.broker, letter.queue_id, letter.offset, letter.stored_id


def resent_of(group: ConsumerGroup, letters: Sequence[DeadLetter]) -> dict[LetterKey, list[Resent]]:
    """Newest first, for those of the letters that were tried, and perhaps for others of their offsets. One query."""
    items = ResendItem.objects.filter(
        resend__group=group,
        broker__in={letter.broker for letter in letters},
        offset__in={letter.offset for letter in letters},
        outcome__in=TRIED,
    )
    found: dict[LetterKey, list[Resent]] = defaultdict(list)
    for item in items.select_related("resend").order_by("-resend__created_at"):
        at = item.at or item.resend.started_at or item.resend.created_at
        tried = Resent(at, item.resend.by_name, item.outcome, str(item.resend_id))
        found[item.broker, item.queue_id, item.offset, item.stored_id].append(tried)
    return dict(found)
