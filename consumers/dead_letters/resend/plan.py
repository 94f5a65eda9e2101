"""Plans a resend: every selected message gets a row, also an excluded one. Nothing is sent."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext as _

from consumers.dead_letters.filters import MAYBE_SENT, DeadLetterFilters, words_of
from consumers.jobs.acts import ActRefused, note
from consumers.models import (
    ConsumerGroup,
    DeadLetter,
    Destination,
    Resend,
    ResendItem,
    ResendOutcome,
    ResendStatus,
    Topic,
)
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.dead import RESEND_PROPERTY
from consumers.rocketmq.messages.stored import PullOutcome
from consumers.rocketmq.names import retry_topic
from consumers.vocabulary.reasons import ResendCause, stored_reason
from consumers.vocabulary.times import iso
from consumers.words.marks import listed

from .preview import preview

# The messages of a plan: named ones, or all that pass filters.
Place = tuple[str, int, int]

OLDEST_FIRST = ("stored_at", "broker", "queue_id", "offset")


@dataclass(frozen=True)
class Selection:
    """Exactly one of the two is set. `messages`: broker, queue id, offset of each; an empty list is no message, never
    all.
    """

    messages: Sequence[Place] | None = None
    filters: DeadLetterFilters | None = None

    def __post_init__(self) -> None:
        if (self.messages is None) == (self.filters is None):
            raise ValueError(gettext("Select either messages or filters, not both."))

    def stored(self) -> dict[str, Any]:
        if self.filters is not None:
            return {"filter": words_of(self.filters)}
        return {"messages": [list(place) for place in self.messages or ()]}

    def letters(self, group: ConsumerGroup, most: int) -> list[DeadLetter]:
        """The oldest first; with filters no more than `most` + 1."""
        if self.filters is not None:
            return list(self.filters.letters_of(group).order_by(*OLDEST_FIRST)[: most + 1])
        queues: dict[tuple[str, int], list[int]] = {}
        for broker, queue_id, offset in dict.fromkeys(self.messages or ()):
            queues.setdefault((broker, queue_id), []).append(offset)
        messages = (message for queue, offsets in queues.items() for message in _of_queue(group, queue, offsets))
        return sorted(messages, key=lambda message: tuple(getattr(message, name) for name in OLDEST_FIRST))

    def missing(self, messages: Iterable[DeadLetter]) -> list[Place]:
        """Named messages without a row."""
        there = {(message.broker, message.queue_id, message.offset) for message in messages}
        return [place for place in self.messages or () if place not in there]


# SQLite accepts some 32,000 values in one statement.
OFFSETS_AT_ONCE = 10_000


def _of_queue(group: ConsumerGroup, queue: tuple[str, int], offsets: list[int]) -> Iterable[DeadLetter]:
    broker, queue_id = queue
    for start in range(0, len(offsets), OFFSETS_AT_ONCE):
        there = Q(broker=broker, queue_id=queue_id, offset__in=offsets[start : start + OFFSETS_AT_ONCE])
        yield from DeadLetter.objects.filter(there, group=group)


# The selected messages, before they are planned.
@dataclass(frozen=True)
class Chosen:
    """`topics`: the original topics of the messages. `gone`: how many of the named messages are not listed
    (any more).
    """

    messages: int
    most: int
    topics: list[str]
    gone: int = 0

    @property
    def is_too_many(self) -> bool:
        return self.messages > self.most


def chosen_of(group: ConsumerGroup, selection: Selection) -> Chosen:
    most = settings.RESEND_MESSAGES_MAX
    if selection.filters is not None:
        found = selection.filters.letters_of(group).order_by()
        topics = found.exclude(origin_topic=None).values_list("origin_topic", flat=True).distinct()
        return Chosen(found.count(), most, sorted(topic for topic in topics if topic))
    messages = selection.letters(group, most)
    named = {message.origin_topic for message in messages if message.origin_topic}
    return Chosen(len(messages), most, sorted(named), len(selection.missing(messages)))


# Messages that another resend sent or may have sent: nothing is sent twice unless somebody asks for it.
# SQLite accepts some 32,000 values in one statement; a place takes four.
ITEMS_AT_ONCE = 500

SentPlace = tuple[str, int, int, str]


def place_of(item: ResendItem) -> SentPlace:
    """Identity of the message: its queue, offset and stored id, because a topic may be recreated."""
    return item.broker, item.queue_id, item.offset, item.stored_id


def sent_before(group: ConsumerGroup, items: Sequence[ResendItem]) -> dict[SentPlace, ResendItem]:
    """By place, the newest other resend that sent the message or may have. A query for every few hundred items."""
    earlier: dict[SentPlace, ResendItem] = {}
    resends = {item.resend_id for item in items}
    for start in range(0, len(items), ITEMS_AT_ONCE):
        for item in _at(group, items[start : start + ITEMS_AT_ONCE]).exclude(resend__in=resends).order_by("pk"):
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


def earlier_resend(item: ResendItem) -> str:
    """The resend as a stored cause."""
    is_sent = item.outcome == ResendOutcome.SENT
    cause = ResendCause.RESENT_BEFORE if is_sent else ResendCause.MAYBE_RESENT_BEFORE
    at = item.at or item.resend.created_at
    return stored_reason(cause, at=iso(at), by=item.resend.by_name)


VALID_FOR = timedelta(minutes=15)

LEAST_RATE, MOST_RATE, USUAL_RATE = 1.0, 500.0, 50.0

ROWS_AT_ONCE = 5_000

NAMED = 3


class PlanRefused(ActRefused):
    """A resend."""


@dataclass(frozen=True)
class ResendRequest:
    """`again`: messages that were resent before are sent once more."""

    selection: Selection
    destination: Destination
    reason: str
    again: bool = False
    rate_per_second: float = USUAL_RATE


def plan(group: ConsumerGroup, requested: ResendRequest, by: Any, now: datetime) -> Resend:
    """Raises PlanRefused. `by`: a user."""
    _check(requested)
    if against := preview(group, requested.destination, set(), now).refusals:
        raise PlanRefused(" ".join(against))
    messages = _letters(group, requested.selection)
    with transaction.atomic():
        resend = Resend.objects.create(
            group=group,
            by=by,
            by_name=by.get_username(),
            reason=requested.reason.strip(),
            destination=requested.destination,
            again=requested.again,
            selection=requested.selection.stored(),
            rate_per_second=requested.rate_per_second,
            status=ResendStatus.PLANNED,
            created_at=now,
            expires_at=now + VALID_FOR,
        )
        ResendItem.objects.bulk_create(_items(resend, messages), batch_size=ROWS_AT_ONCE)
        note(resend, resend.title, by, f"Planned a resend of {len(messages)} dead-letter messages.", now)
    return resend


def _check(requested: ResendRequest) -> None:
    if not requested.reason.strip():
        raise PlanRefused(_("A resend needs a reason. State why these messages may be consumed once more."))
    if not LEAST_RATE <= requested.rate_per_second <= MOST_RATE:
        words = {"least": f"{LEAST_RATE:g}", "most": f"{MOST_RATE:g}"}
        raise PlanRefused(_("The rate must be from %(least)s to %(most)s messages a second.") % words)


def _letters(group: ConsumerGroup, selection: Selection) -> list[DeadLetter]:
    most = settings.RESEND_MESSAGES_MAX
    if selection.messages is not None and len(selection.messages) > most:
        raise PlanRefused(_too_many(most))
    messages = selection.letters(group, most)
    if missing := selection.missing(messages):
        named = listed(f"{broker}/{queue_id}/{offset}" for broker, queue_id, offset in missing[:NAMED])
        words = {"n": len(missing), "named": named}
        raise PlanRefused(
            _("%(n)s of the selected messages are not listed (any more), %(named)s among them. Select again.") % words
        )
    if not messages:
        raise PlanRefused(_("No message is chosen."))
    if len(messages) > most:
        raise PlanRefused(_too_many(most))
    return messages


def _too_many(most: int) -> str:
    return _("More than %(most)s messages are chosen (RESEND_MESSAGES_MAX): narrow the filters.") % {"most": most}


def _items(resend: Resend, messages: Sequence[DeadLetter]) -> list[ResendItem]:
    items = [_item(resend, message) for message in messages]
    before = {} if resend.again else sent_before(resend.group, items)
    topics = {item.target_topic for item in items if item.target_topic}
    there = set(Topic.objects.filter(cluster=resend.group.cluster, name__in=topics).values_list("name", flat=True))
    for item in items:
        earlier = before.get(place_of(item))
        why = earlier_resend(earlier) if earlier is not None else _why_not(item, there)
        if why is not None:
            item.outcome, item.error = ResendOutcome.SKIPPED, why
    return items


def _item(resend: Resend, message: DeadLetter) -> ResendItem:
    to_group = resend.destination == Destination.GROUP
    return ResendItem(
        resend=resend,
        broker=message.broker,
        queue_id=message.queue_id,
        offset=message.offset,
        stored_id=message.stored_id,
        message_id=message.message_id,
        outcome=ResendOutcome.PLANNED,
        target_topic=retry_topic(resend.group.name) if to_group else message.origin_topic,
    )


def _why_not(item: ResendItem, there: set[str]) -> str | None:
    if item.target_topic is None:
        return stored_reason(ResendCause.NO_ORIGIN)
    if item.target_topic not in there:
        return stored_reason(ResendCause.TOPIC_NEVER_READ, topic=item.target_topic)
    return None


# Searches a target queue for messages that may have been sent: by our mark, from its former end to its present end.

# A broker returns no more at once (5.4.0, MessageStoreConfig).
AT_ONCE = 32

MOST_MESSAGES = 20_000

TRIES, PAUSE_SECONDS = 5, 0.2


@dataclass
class Search:
    """`found`: offset by mark. `gap`: why not every message of the range was read, as a stored cause; null where all
    were. `diverted`: marks that were found in the DLQ.
    """

    found: dict[str, int] = field(default_factory=dict)
    gap: str | None = None
    diverted: Collection[str] = ()


async def search(
    broker: BrokerAdmin, topic: str, queue_id: int, floor: int, marks: Collection[str], deadline_seconds: float
) -> Search:
    """Raises RocketMQError where the broker does not answer. Stops early once every mark is found."""
    end = await broker.max_offset(topic, queue_id, deadline_seconds=deadline_seconds)
    result = Search()
    if end < floor:
        result.gap = stored_reason(ResendCause.QUEUE_RECREATED, end=end, floor=floor)
        return result
    last = min(end, floor + MOST_MESSAGES)
    if last < end:
        result.gap = stored_reason(ResendCause.TOO_MANY_SINCE, messages=end - floor, searched=MOST_MESSAGES)
    at, tries = floor, 0
    while at < last and len(result.found) < len(marks):
        pulled = await broker.pull(topic, queue_id, at, AT_ONCE, deadline_seconds=deadline_seconds)
        if pulled.outcome in (PullOutcome.NO_MESSAGE_YET, PullOutcome.RETRY) and (tries := tries + 1) < TRIES:
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        first = pulled.messages[0].queue_offset if pulled.messages else pulled.next_offset
        for message in pulled.messages:
            mark = message.properties.get(RESEND_PROPERTY)
            if mark is not None and mark in marks:
                result.found[mark] = message.queue_offset
        if first > at or pulled.next_offset <= at:
            result.gap = stored_reason(ResendCause.OFFSETS_UNREADABLE, **{"from": at, "to": max(first, at)})
        if pulled.next_offset <= at:
            break
        at, tries = pulled.next_offset, 0
    return result


@dataclass(frozen=True)
class SendResult:
    outcome: ResendOutcome
    target_offset: int | None = None
    error: str | None = None


def send_result(mark: str, search: Search, *, answered: bool) -> SendResult:
    """Returns the outcome of a message whose worker stopped while sending, or whose answer did not arrive. PLANNED:
    certainly not sent, so it may be sent. `answered`: the broker had said that it stored the message."""
    if mark in search.found:
        return SendResult(ResendOutcome.SENT, search.found[mark])
    if mark in search.diverted:
        return SendResult(ResendOutcome.FAILED, error=stored_reason(ResendCause.DIVERTED))
    if search.gap is not None:
        return SendResult(ResendOutcome.UNKNOWN, error=stored_reason(ResendCause.MAYBE_SENT, why=search.gap))
    if answered:
        return SendResult(ResendOutcome.FAILED, error=stored_reason(ResendCause.DIVERTED))
    return SendResult(ResendOutcome.PLANNED)
