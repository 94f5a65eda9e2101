"""Deliveries of one message, as far as copies, readings and repeats prove them. Pure.

Brokers do not store when a message was delivered: every delivery has two bounds, and either may be unknown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from consumers.messages.joined import Attempt, JoinedMessage, SendBack, StoredCopy
from consumers.vocabulary.repeats import AttemptProgress, CopyKind, DeliveryBasis

# An owner whose commit is not seen yet may have delivered the message again by so much earlier (RocketMQ 5.4.0,
# persistConsumerOffsetInterval: 5 s by default, a minute where it is set so).
COMMITTED_WITHIN = timedelta(minutes=1)


@dataclass(frozen=True)
class Crossing:
    """A consumer offset was past a message at `before`, and not at the reading before.

    `again_after`: it was past the message before, last at this reading, and went back; null for the first time.
    `unseen`: the last reading that did not have it past. `is_set`: a reset wrote the offset then, so that nothing need
    have been delivered.
    """

    before: datetime
    unseen: datetime | None = None
    again_after: datetime | None = None
    is_set: bool = False


@dataclass(frozen=True)
class Cover:
    """A repeat that covers a copy. `certain`: at least so many messages were redelivered, and the copy is one of them.

    `after`: the last reading before it, `at`: the first one that shows it. `is_round` False: it is what made the copy,
    and no other delivery of it.
    """

    event: str
    cause: str
    at: datetime
    certain: bool
    is_round: bool = True
    after: datetime | None = None


@dataclass(frozen=True)
class Evidence:
    """Of one attempt. `progress` null: unknown. `crossings` in order."""

    progress: AttemptProgress | None
    crossings: tuple[Crossing, ...] = ()
    covers: tuple[Cover, ...] = ()


@dataclass(frozen=True)
class Delivery:
    """Between `after` and `before`, of which either may be null; `certain` False: possible.

    `copy` null: its copy was not found. `times`: so many deliveries of which nothing else is known apart. `held`: who
    held the queue then got it, where that is less than all of the time.
    """

    copy: StoredCopy | None
    basis: DeliveryBasis
    after: datetime | None
    before: datetime | None
    certain: bool = True
    times: int = 1
    cover: Cover | None = None
    is_dead: bool = False
    held: tuple[datetime, datetime] | None = None


def crossings(readings: Iterable[tuple[datetime, int | None]], offset: int) -> tuple[Crossing, ...]:
    """`readings` of one queue in order: when each was taken, and the consumer offset; null where it was not read.

    The offset is that of the next message to consume: a message is passed as soon as it is higher.
    """
    found: list[Crossing] = []
    unseen: datetime | None = None
    was_past: datetime | None = None
    passed = False
    for at, consumer_offset in readings:
        if consumer_offset is None:
            continue
        if consumer_offset <= offset:
            unseen, passed = at, False
            continue
        if not passed:
            found.append(Crossing(at, unseen, was_past))
        was_past, passed = at, True
    return tuple(found)


def deliveries(message: JoinedMessage, evidence: Sequence[Evidence]) -> list[Delivery]:
    """In order of time as far as it is known. `evidence`: of each attempt of the message."""
    found = [_of_send_back(None, back, None) for back in message.orphans]
    found += [_missed(back, None) for back in message.orphans if back.missed]
    for attempt, known in zip(message.attempts, evidence, strict=True):
        if attempt.kind in (CopyKind.ORIGINAL, CopyKind.RETRY):
            found += _of_attempt(attempt, known)
    return sorted(found, key=_when)


def _when(delivery: Delivery) -> tuple[datetime, bool]:
    at = delivery.before or delivery.after
    assert at is not None, "a delivery has one bound at least"
    return at, not delivery.certain


def _of_attempt(attempt: Attempt, known: Evidence) -> list[Delivery]:
    copy, backs = attempt.copy, attempt.send_backs
    found: list[Delivery] = []
    since = copy.stored_at
    for back in backs:
        found.append(_of_send_back(copy, back, since))
        if back.missed:
            found.append(_missed(back, since))
        since = max(since, back.at)
    # The offset passes a message that is sent back, too.
    rest = list(enumerate(known.crossings))[len(backs) :]
    covers = [cover for cover in known.covers if cover.is_round and cover.at >= copy.stored_at]
    is_consumed = known.progress is AttemptProgress.CONSUMED
    rounds = len(backs) + len(rest) or int(is_consumed)
    # Each repeat repeats a delivery. Where the message waits the last one is yet to come.
    unseen = covers[: max(0, len(covers) + int(is_consumed) - rounds)]
    found += [_of_crossing(copy, one, _is_certain(one, number, known), unseen) for number, one in rest]
    if not found and is_consumed:
        found = [Delivery(copy, DeliveryBasis.COMMITTED, copy.stored_at, None)]
    return found + [_of_cover(copy, cover) for cover in unseen]


def _of_send_back(copy: StoredCopy | None, back: SendBack, since: datetime | None) -> Delivery:
    after = since if since is not None and since <= back.at else None
    return Delivery(copy, DeliveryBasis.SENT_BACK, after, back.at, is_dead=back.is_dead)


def _missed(back: SendBack, since: datetime | None) -> Delivery:
    after = since if since is not None and since <= back.at else None
    return Delivery(None, DeliveryBasis.COUNTED, after, back.at, times=back.missed)


def _is_certain(crossing: Crossing, number: int, known: Evidence) -> bool:
    """Two members that commit in turn move an offset back and forth, and deliver nothing by that: each round but the
    first needs a certain repeat of its own."""
    repeats = sum(cover.certain and cover.at <= crossing.before for cover in known.covers)
    return not crossing.is_set and number <= repeats


def _of_crossing(copy: StoredCopy, crossing: Crossing, certain: bool, unseen: Sequence[Cover]) -> Delivery:
    """A reading without the message behind its offset says nothing of the time of delivery: a delivered message is
    committed seconds later, or once the messages before it are done."""
    again = None if crossing.again_after is None else crossing.again_after - COMMITTED_WITHIN
    after = max((at for at in (again, copy.stored_at) if at is not None and at <= crossing.before), default=None)
    repeated = [cover for cover in unseen if cover.certain and cover.at <= crossing.before]
    if not repeated:
        return Delivery(copy, DeliveryBasis.COMMITTED, after, crossing.before, certain=certain)
    # What was committed is the delivery after the repeat.
    last = repeated[-1]
    after = max((at for at in (after, last.after) if at is not None), default=None)
    held = last.at, crossing.before
    return Delivery(copy, DeliveryBasis.COMMITTED, after, crossing.before, certain=certain, held=held)


def _of_cover(copy: StoredCopy, cover: Cover) -> Delivery:
    """The delivery that the repeat repeated: before it, to whoever had the queue then."""
    held = copy.stored_at, max(copy.stored_at, cover.after or cover.at)
    return Delivery(
        copy, DeliveryBasis.REDELIVERED, copy.stored_at, cover.at, certain=cover.certain, cover=cover, held=held
    )


def least(found: Iterable[Delivery]) -> int:
    """So many deliveries are certain."""
    return sum(one.times for one in found if one.certain)
