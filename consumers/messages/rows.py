"""Rows of the attempts of a message. Field names are those of REST; each null has its reason beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext, ngettext

from consumers.queries.declared import INSIDE, answer, public
from consumers.vocabulary.repeats import AttemptProgress, CopyKind, DeliveryBasis
from consumers.words.marks import chained, labelled
from consumers.words.repeats import DEAD, basis_words
from consumers.words.spans import local

from .deliveries import Delivery
from .history import Owners


@answer("A member that held the queue. It left between `left_after` and `left_before`; null: it is still there.")
@dataclass(frozen=True, kw_only=True)
class AttemptOwnerRow:
    client_id: str
    since: datetime = field(metadata=public("From when on, of the time in question"))
    until: datetime
    left_after: datetime | None
    left_before: datetime | None
    unknown: dict[str, str]


@answer("A repeat that covers a copy.")
@dataclass(frozen=True, kw_only=True)
class AttemptRepeatRow:
    id: str = field(metadata=public("Its ID in `repeats/`"))
    cause: str
    certain: bool = field(metadata=public("At least so many messages came again, and this is one of them"))
    at: datetime = field(metadata=public("The first poll that shows it"))


@answer(
    "A stored copy of a message: the original, one in the retry topic or on a delay level, or a dead letter.",
    name="MessageAttempt",
)
@dataclass(frozen=True, kw_only=True)
class AttemptRow:
    at: datetime = field(metadata=public("When the broker stored it"))
    kind: CopyKind
    message_id: str | None = field(metadata=public("UNIQ_KEY: the same in all copies of a message"))
    stored_id: str = field(metadata=public("The ID of its place"))
    topic: str
    broker: str
    queue_id: int
    offset: int
    reconsume_times: int
    due_at: datetime | None = field(metadata=public("When a copy on a delay level is delivered to its topic"))
    resent: bool = field(metadata=public("Consumerscope sent it again"))
    progress: AttemptProgress | None = field(metadata=public("What the group's offset says of it"))
    consumer_offset: int | None = field(metadata=public("The group's offset of the queue when it was looked up"))
    owner: str | None = field(metadata=public("The member that held the queue when it was delivered"))
    owners: list[AttemptOwnerRow] = field(metadata=public("All members that are known to have held it then"))
    repeat: str | None = field(metadata=public("The ID of the repeat that covers it, the first of `repeats`"))
    repeats: list[AttemptRepeatRow]
    unknown: dict[str, str]

    @property
    def place(self) -> str:
        return f"{self.topic} · {self.broker}/{self.queue_id} · {self.offset:,}"


@answer(
    "A delivery, between two times. Brokers do not store deliveries: it is what copies, polls and repeats prove.",
    name="MessageDelivery",
)
@dataclass(frozen=True, kw_only=True)
class DeliveryRow:
    after: datetime | None
    before: datetime | None
    basis: DeliveryBasis
    certain: bool = field(metadata=public("False: it is possible"))
    times: int = field(metadata=public("So many deliveries"))
    stored_id: str | None = field(metadata=public("Of the copy that was delivered"))
    owner: str | None
    repeat: str | None
    dead_lettered: bool = field(metadata=public("It was the last one"))
    sentence: str
    unknown: dict[str, str]


@answer("A message that was found, and how often it was delivered to the group.")
@dataclass(frozen=True, kw_only=True)
class AttemptedMessageRow:
    message_id: str | None
    keys: str | None
    tags: str | None
    origin_topic: str | None
    born_at: datetime
    deliveries_low: int = field(metadata=public("So many deliveries are certain"))
    deliveries_high: int | None
    deliveries: list[DeliveryRow]
    sentence: str
    unknown: dict[str, str]


@answer("A message that shares a key, or its ID, with another one of the same topic.")
@dataclass(frozen=True, kw_only=True)
class SendRow:
    at: datetime
    message_id: str | None
    stored_id: str
    topic: str
    broker: str
    queue_id: int
    offset: int
    same_body: bool = field(metadata=public("As the first of them"))
    unknown: dict[str, str]


@answer("Messages that a producer sent more than once: no repeated consumption.")
@dataclass(frozen=True, kw_only=True)
class SentTwiceRow:
    cause: str
    is_repeat: bool
    sentence: str
    sends: list[SendRow]


@answer("A topic's index on one broker, and why it was not searched.")
@dataclass(frozen=True, kw_only=True)
class SearchedPlaceRow:
    topic: str
    broker: str
    found: int
    unknown_reason: str | None
    unknown_reason_code: str | None


@answer("The attempts of a message in one group, joined by the producer's ID.")
@dataclass(frozen=True, kw_only=True)
class MessageAttemptsRow:
    """`complete`: every place that may have a copy was searched."""

    cluster: str
    group: str
    message: str = field(metadata=public("What was asked for: an ID or a key"))
    at: datetime = field(metadata=public("When brokers were asked"))
    calls: int
    complete: bool
    messages: list[AttemptedMessageRow]
    attempts: list[AttemptRow] = field(metadata=public("Of all these messages, in the order in which they were stored"))
    sent_twice: SentTwiceRow | None
    searched: list[SearchedPlaceRow]
    unknown: dict[str, str]
    not_searched: list[SearchedPlaceRow] = field(metadata=INSIDE)


# Deliveries in words: `Delivered at least 2 times: 14:03:08 to 14:03:11 by a@1 (left by 14:03:15), sent back; ...`
PIECES = 8


def message_sentence(low: int, rows: Sequence[DeliveryRow]) -> str:
    if not rows:
        return gettext("No delivery is known.")
    if low:
        head = ngettext("Delivered at least once", "Delivered at least %(n)s times", low) % {"n": f"{low:,}"}
    else:
        head = gettext("No delivery is certain")
    more = [gettext("and %(n)s more") % {"n": len(rows) - PIECES}] if len(rows) > PIECES else []
    return gettext("%s.") % labelled(head, chained([*(row.sentence for row in rows[:PIECES]), *more]))


def delivery_sentence(one: Delivery, owner: str | None, owners: Owners | None, now: datetime) -> str:
    words = {"times": _times(one, now), "basis": str(DEAD) if one.is_dead else basis_words(one.basis)}
    if one.basis is DeliveryBasis.COUNTED:
        count = {"n": f"{one.times:,}", **words}
        sentence = ngettext("%(n)s more %(times)s, %(basis)s", "%(n)s more %(times)s, %(basis)s", one.times) % count
    elif owner is None:
        sentence = gettext("%(times)s, member unknown, %(basis)s") % words
    else:
        sentence = gettext("%(times)s by %(owner)s, %(basis)s") % {**words, "owner": _named(owner, owners, now)}
    return sentence if one.certain else gettext("possibly %(delivery)s") % {"delivery": sentence}


def _named(owner: str, owners: Owners | None, now: datetime) -> str:
    left = next((one.left_before for one in (owners.known if owners else ()) if one.left_before is not None), None)
    if left is None:
        return owner
    return gettext("%(owner)s (left by %(at)s)") % {"owner": owner, "at": _clock(left, now)}


def _times(one: Delivery, now: datetime) -> str:
    if one.after is not None and one.before is not None:
        return "–".join(dict.fromkeys((_clock(one.after, now), _clock(one.before, now))))
    if one.before is not None:
        return gettext("before %(at)s") % {"at": _clock(one.before, now)}
    assert one.after is not None
    return gettext("after %(at)s") % {"at": _clock(one.after, now)}


def _clock(at: datetime, now: datetime) -> str:
    """With the date where it is not that of the look-up."""
    there = local(at)
    return f"{there:%H:%M:%S}" if there.date() == local(now).date() else f"{there:%Y-%m-%d %H:%M:%S}"
