"""A group's dead-letter messages, newest first, and how many of them have rows."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext, gettext_lazy

from consumers.dead_letters.filters import MAYBE_SENT, DeadLetterFilters
from consumers.models import ConsumerGroup, DeadLetter, DeadLetterLook, GroupTotal, ResendItem, ResendOutcome
from consumers.queries.declared import answer, public
from consumers.vocabulary.states import MASTER
from consumers.words.marks import chained, labelled
from consumers.words.reasons import stored_words

TRIED = (*MAYBE_SENT, ResendOutcome.FAILED)


@dataclass(frozen=True)
class Resent:
    """One try to send a letter again. `result`: sending, sent, failed or unknown, which is: it may have been sent."""

    at: datetime
    by: str
    result: str = field(metadata=public(of=[(outcome.value, outcome.label) for outcome in TRIED]))
    resend: str = field(metadata=public("The id of the re-send"))


@answer("A dead-letter message without its body. A missing value is null: `unknown` has the reason.")
@dataclass(frozen=True)
class DeadLetterRow:
    """`resent` is newest first."""

    broker: str
    queue_id: int
    offset: int
    stored_id: str = field(metadata=public("Where it is stored: address of the broker and offset there"))
    message_id: str | None = field(metadata=public("Its producer's, the same at every attempt"))
    origin_topic: str | None
    origin_message_id: str | None
    keys: str | None = field(metadata=public("Separated by spaces"))
    tags: str | None
    reconsume_times: int
    born_at: datetime
    stored_at: datetime
    size: int = field(metadata=public("Bytes of the stored body"))
    sent_by_application: bool | None = field(metadata=public("Dead-lettered before its retries were exceeded"))
    resent: list[Resent]
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The message as a resend names it."""
        return f"{self.broker}/{self.queue_id}/{self.offset}"


@answer("`unknown_reason`: why the list is, or may be, partial; null if it is complete.")
@dataclass(frozen=True)
class Completeness:
    """`looked_at` is its oldest good look. `messages` is null where a queue could not be read."""

    messages: int | None = field(metadata=public("In the dead-letter topic of the group"))
    indexed_messages: int | None = field(metadata=public("The newest, as many as a list can contain"))
    looked_at: datetime | None = field(metadata=public("As of when"))
    unknown_reason: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DeadLetterPage:
    """`count` of the letters that the filters choose; `page` from 1 of `pages`."""

    rows: list[DeadLetterRow]
    count: int
    page: int
    pages: int
    completeness: Completeness


# How many of a group's dead-letter messages have rows, and why not all.
NOT_LOOKED = gettext_lazy("the dead-letter topic has not been indexed yet")

NOT_COUNTED = gettext_lazy("not all brokers were scraped: there may be newer messages")

NOBODY_KNOWS = gettext_lazy("not all brokers were scraped: the number of dead-letter messages is unknown")


def completeness(group: ConsumerGroup) -> Completeness:
    """Two queries."""
    inspected = list(group.dead_letter_looks.order_by("broker", "queue_id"))
    total = GroupTotal.objects.filter(group=group).values_list("dlq_messages", flat=True).first()
    if not inspected:
        return _without_a_pass(group, total)
    stocks = [stock for queue in inspected if (stock := _stock(queue)) is not None]
    indexed = [_indexed(queue) for queue in inspected if queue.indexed_to is not None]
    messages = sum(stocks) if len(stocks) == len(inspected) else None
    reason = _reason(inspected, messages, sum(indexed), total)
    return Completeness(
        messages=messages,
        indexed_messages=sum(indexed) if indexed else None,
        looked_at=min((queue.looked_at for queue in inspected if queue.indexed_to is not None), default=None),
        unknown_reason=reason,
        unknown=_unknown(reason, messages, indexed),
    )


def _without_a_pass(group: ConsumerGroup, total: int | None) -> Completeness:
    """The poll counts dead-letter messages too: a counted zero is known without an index pass."""
    if total == 0:
        read = group.cluster.brokers.filter(broker_id=MASTER).values_list("last_read_at", flat=True)
        looked_at = min((at for at in read if at), default=None)
        return Completeness(0, 0, looked_at, None, {} if looked_at else {"looked_at": str(NOT_LOOKED)})
    reason = str(NOBODY_KNOWS) if total is None else str(NOT_LOOKED)
    return Completeness(total, None, None, reason, _unknown(reason, total, []) | {"looked_at": str(NOT_LOOKED)})


def _stock(inspected: DeadLetterLook) -> int | None:
    if inspected.min_offset is None or inspected.broker_offset is None:
        return None
    return inspected.broker_offset - inspected.min_offset


def _indexed(inspected: DeadLetterLook) -> int:
    assert inspected.indexed_from is not None
    assert inspected.indexed_to is not None
    return inspected.indexed_to - inspected.indexed_from


def _reason(inspected: list[DeadLetterLook], messages: int | None, indexed: int, total: int | None) -> str | None:
    """The reason of the first problem."""
    errors = [labelled(queue.broker, stored_words(queue.error)) for queue in inspected if queue.error]
    if errors:
        return chained(dict.fromkeys(errors))
    if messages is None:
        return str(NOT_LOOKED)
    if total is None:
        return str(NOT_COUNTED)
    if total != messages:
        return gettext(
            "the newest poll counts %(polled)s, the last indexing %(indexed)s: the next indexing adds the rest"
        ) % {"polled": f"{total:,}", "indexed": f"{messages:,}"}
    if indexed < messages:
        return gettext("the newest %(indexed)s of %(messages)s are listed") % {
            "indexed": f"{indexed:,}",
            "messages": f"{messages:,}",
        }
    return None


def _unknown(reason: str | None, messages: int | None, indexed: list[int]) -> dict[str, str]:
    why = reason or str(NOT_LOOKED)
    missing = {} if indexed else {"indexed_messages": why, "looked_at": why}
    return missing | ({"messages": why} if messages is None else {})


# One page of them, and which were resent: by whom, when, with what result.

# A broker's queue, an offset in it, and the stored id: a recreated topic has other messages at the same offsets.
LetterKey = tuple[str, int, int, str]


def key_of(message: DeadLetter) -> LetterKey:
    return message.broker, message.queue_id, message.offset, message.stored_id


def resent_of(group: ConsumerGroup, messages: Sequence[DeadLetter]) -> dict[LetterKey, list[Resent]]:
    """Newest first: resends of these messages, and perhaps of others at their offsets. One query."""
    items = ResendItem.objects.filter(
        resend__group=group,
        broker__in={message.broker for message in messages},
        offset__in={message.offset for message in messages},
        outcome__in=TRIED,
    )
    found: dict[LetterKey, list[Resent]] = defaultdict(list)
    for item in items.select_related("resend").order_by("-resend__created_at"):
        at = item.at or item.resend.started_at or item.resend.created_at
        tried = Resent(at, item.resend.by_name, item.outcome, str(item.resend_id))
        found[item.broker, item.queue_id, item.offset, item.stored_id].append(tried)
    return dict(found)


MOST_ROWS = 1000

NOT_SAID = gettext_lazy("not in the message")

NOT_JUDGED = gettext_lazy(
    "the retry limit at the time of dead-lettering is unknown, members differ in it, or members consume in order"
)

WHY = {
    "message_id": gettext_lazy("the producer gave the message no ID"),
    "origin_topic": NOT_SAID,
    "origin_message_id": NOT_SAID,
    "keys": gettext_lazy("the message has no keys"),
    "tags": gettext_lazy("the message has no tags"),
    "sent_by_application": NOT_JUDGED,
}


def dead_letter_list(
    group: ConsumerGroup, filters: DeadLetterFilters, *, page: int = 1, page_size: int = 100
) -> DeadLetterPage:
    """Five queries. A page beyond the last one is empty."""
    found = filters.letters_of(group)
    count, size = found.count(), min(page_size, MOST_ROWS)
    messages = list(found[(page - 1) * size : page * size])
    resent = resent_of(group, messages) if messages else {}
    return DeadLetterPage(
        rows=[letter_row(message, resent.get(key_of(message), [])) for message in messages],
        count=count,
        page=page,
        pages=max(1, -(-count // size)),
        completeness=completeness(group),
    )


def letter_at(group: ConsumerGroup, broker: str, queue_id: int, offset: int) -> DeadLetterRow | None:
    """None: the message is not listed. Two queries."""
    message = DeadLetter.objects.filter(group=group, broker=broker, queue_id=queue_id, offset=offset).first()
    return None if message is None else letter_row(message, resent_of(group, [message]).get(key_of(message), []))


def letter_row(message: DeadLetter, resent: list[Resent]) -> DeadLetterRow:
    own = [name for name in DeadLetterRow.__dataclass_fields__ if name not in ("resent", "unknown")]
    unknown = {name: str(why) for name, why in WHY.items() if getattr(message, name) is None}
    return DeadLetterRow(**{name: getattr(message, name) for name in own}, resent=resent, unknown=unknown)
