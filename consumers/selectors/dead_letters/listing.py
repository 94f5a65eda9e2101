"""A group's dead letters, newest first: one page of those that the filters choose."""

from consumers.models import ConsumerGroup, DeadLetter

from .completeness import completeness
from .filters import DeadLetterFilters
from .resent import key_of, resent_of
from .rows import DeadLetterPage, DeadLetterRow, Resent

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
