"""A group's dead letters, newest first: one page of those that the filters choose."""

from collections import defaultdict
from collections.abc import Sequence

from consumers.models import ConsumerGroup, DeadLetter, ResendItem

from .completeness import completeness
from .filters import DeadLetterFilters
from .rows import TRIED, DeadLetterPage, DeadLetterRow, Resent

# Which letters were sent again: by whom, when and with what result.

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


MOST_ROWS = 1000
NOT_SAID = "the message does not say it"
NOT_JUDGED = (
    "how often its members let a message be tried when it died is not known, they differ in it, or consume in order"
)
WHY = {
    "message_id": "it has no id of its producer's",
    "origin_topic": NOT_SAID,
    "origin_message_id": NOT_SAID,
    "keys": "it has no keys",
    "tags": "it has no tags",
    "sent_by_application": NOT_JUDGED,
}


def dead_letter_list(
    group: ConsumerGroup, filters: DeadLetterFilters, *, page: int = 1, page_size: int = 100
) -> DeadLetterPage:
    """Five queries. A page beyond the last has no rows."""
    found = filters.letters_of(group)
    count, size = found.count(), min(page_size, MOST_ROWS)
    letters = list(found[(page - 1) * size : page * size])
    resent = resent_of(group, letters) if letters else {}
    return DeadLetterPage(
        rows=[letter_row(letter, resent.get(key_of(letter), [])) for letter in letters],
        count=count,
        page=page,
        pages=max(1, -(-count // size)),
        completeness=completeness(group),
    )


def letter_at(group: ConsumerGroup, broker: str, queue_id: int, offset: int) -> DeadLetterRow | None:
    """None: it is not listed. Two queries."""
    letter = DeadLetter.objects.filter(group=group, broker=broker, queue_id=queue_id, offset=offset).first()
    return None if letter is None else letter_row(letter, resent_of(group, [letter]).get(key_of(letter), []))


def letter_row(letter: DeadLetter, resent: list[Resent]) -> DeadLetterRow:
    own = [name for name in DeadLetterRow.__dataclass_fields__ if name not in ("resent", "unknown")]
    unknown = {name: why for name, why in WHY.items() if getattr(letter, name) is None}
    return DeadLetterRow(**{name: getattr(letter, name) for name in own}, resent=resent, unknown=unknown)
