"""Which letters were sent again: by whom, when and with what result."""

from collections import defaultdict
from collections.abc import Sequence

from consumers.models import ConsumerGroup, DeadLetter, ResendItem, ResendOutcome

from .filters import MAYBE_SENT
from .rows import Resent

TRIED = (*MAYBE_SENT, ResendOutcome.FAILED)
# A broker's queue, an offset in it, and where the letter is stored: a topic that was made anew has other letters.
LetterKey = tuple[str, int, int, str]


def key_of(letter: DeadLetter) -> LetterKey:
    return letter.broker, letter.queue_id, letter.offset, letter.stored_id


def resent_of(group: ConsumerGroup, letters: Sequence[DeadLetter]) -> dict[LetterKey, list[Resent]]:
    """Newest first, for those of the letters that were tried. One query."""
    wanted = {key_of(letter) for letter in letters}
    items = ResendItem.objects.filter(
        resend__group=group,
        broker__in={broker for broker, _, _, _ in wanted},
        offset__in={offset for _, _, offset, _ in wanted},
        outcome__in=TRIED,
    )
    found: dict[LetterKey, list[Resent]] = defaultdict(list)
    for item in items.select_related("resend").order_by("-resend__created_at"):
        key = (item.broker, item.queue_id, item.offset, item.stored_id)
        if key in wanted:
            at = item.at or item.resend.started_at or item.resend.created_at
            found[key].append(Resent(at, item.resend.by_name, item.outcome, str(item.resend_id)))
    return dict(found)
