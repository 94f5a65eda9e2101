"""The owners of one queue as intervals, with the times that are unknown. Pure functions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext

from consumers.models import Assignment, ConsumerGroup
from consumers.ownership.rows import Holding
from consumers.queries.limits import limits
from consumers.vocabulary.times import MICROSECOND
from consumers.words.reasons import queues_not_since
from consumers.words.spans import when

# Intervals in which clients were seen to own queues, and how long such an answer stands.

# Who was seen to hold which queue.
Holders = Mapping[int, tuple[str, ...]]  # client ids, by the queue's id


def holders_at(group: ConsumerGroup, at: datetime | None = None) -> Holders:
    """Who holds each queue by the newest answers, or was seen to at `at`. One query."""
    rows = Assignment.objects.filter(group=group)
    if at is None:
        rows = rows.filter(gone_by=None)
    else:
        rows = rows.filter(Q(gone_by=None) | Q(gone_by__gt=at), seen_since__lte=at)
    holders: dict[int, tuple[str, ...]] = {}
    for queue, client_id in rows.order_by("client_id").values_list("queue_id", "client_id"):
        holders[queue] = (*holders.get(queue, ()), client_id)
    return holders


# For how long an answer of a client stands when no other follows. The poll asks and records by the same.
LEAST_SECONDS = 120.0


@dataclass(frozen=True)
class Patience:
    """`unchanged`: from when to when brokers reported no change in the group. Not every client is asked each time then.

    `silent`: clients that did not answer when they were asked last.
    """

    length: timedelta
    unchanged: tuple[datetime, datetime] | None = None
    silent: frozenset[str] = frozenset()

    def until(self, client_id: str, reported_at: datetime) -> datetime:
        if self.unchanged is not None and client_id not in self.silent and reported_at >= self.unchanged[0]:
            reported_at = max(reported_at, self.unchanged[1])
        return reported_at + self.length


def patience_of(group: ConsumerGroup, silent: frozenset[str] = frozenset()) -> Patience:
    changed_at, asked_at = group.members_changed_at, group.membership_at
    unchanged = (changed_at, asked_at) if changed_at is not None and asked_at is not None else None
    return Patience(timedelta(seconds=max(limits().late_seconds, LEAST_SECONDS)), unchanged, silent)


# Intervals in which a client was seen to own a queue, as far as they touch a range.
# Both ends of an interval are answers: at the last of them the client still said so.


class Claim(NamedTuple):
    """The owner reported the queue first at `since` and last at `reported_at`, and no longer at `gone_by`; null: no
    answer without it yet."""

    owner: str
    since: datetime
    reported_at: datetime
    gone_by: datetime | None

    def certain_until(self, patience: Patience) -> datetime:
        """Members are asked in turn: an owner that was not asked again is not doubted at once."""
        return patience.until(self.owner, self.reported_at) if self.gone_by is None else self.reported_at + MICROSECOND


Claims = dict[int, list[Claim]]  # by the queue's key in the database


def claims_between(group: ConsumerGroup, since: datetime, until: datetime) -> Claims:
    """Those that may hold at a moment of [since, until), the earliest first. One query."""
    touching = Q(seen_since__lt=until) & (Q(gone_by=None) | Q(gone_by__gt=since))
    return _by_queue(Assignment.objects.filter(touching, group=group))


def newest_claims(group: ConsumerGroup) -> Claims:
    """Those that were not denied when their clients spoke last. One query."""
    return _by_queue(Assignment.objects.filter(group=group, gone_by=None))


def first_claims(group: ConsumerGroup, after: datetime, by: datetime) -> Claims:
    """Those that began after one moment and by another. One query."""
    return _by_queue(Assignment.objects.filter(group=group, seen_since__gt=after, seen_since__lte=by))


def _by_queue(rows: QuerySet[Assignment]) -> Claims:
    claims: Claims = {}
    times = map(as_text, ("seen_since", "last_seen", "gone_by"))
    for queue, owner, since, reported_at, gone_by in rows.order_by("seen_since").values_list(
        "queue_id", "client_id", *times
    ):
        claim = Claim(owner, moment(since), moment(reported_at), moment_or_none(gone_by))
        claims.setdefault(queue, []).append(claim)
    return claims


# Columns of times, each moment made once: thousands of rows share the moments of a few readings.
#
# Django makes an aware time of every value that SQLite holds as text, which takes longer than all the rest of a page.
def as_text(name: str) -> Cast:
    """A column of times as any database writes it; connections of Django are in UTC."""
    return Cast(name, TextField())


@lru_cache(maxsize=100_000)
def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def moment_or_none(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


# Stretches of time of which something is not known, each with the reason. Pure.
class Stretch(NamedTuple):
    """[since, until)."""

    since: datetime
    until: datetime
    reason: str


def in_a_row(stretches: Iterable[Stretch]) -> list[Stretch]:
    """In order and without overlap: where several lie upon each other the one that began first tells the reason."""
    row: list[Stretch] = []
    for stretch in sorted(stretches):
        if row and stretch.since < row[-1].until:
            stretch = stretch._replace(since=row[-1].until)
        if stretch.since >= stretch.until:
            continue
        if row and row[-1].until == stretch.since and row[-1].reason == stretch.reason:
            row[-1] = row[-1]._replace(until=stretch.until)
        else:
            row.append(stretch)
    return row


def within(row: Sequence[Stretch], since: datetime, until: datetime) -> Iterator[Stretch]:
    """The parts of them that lie in [since, until). `row` has no overlaps."""
    for stretch in row:
        if stretch.until > since and stretch.since < until:
            yield Stretch(max(stretch.since, since), min(stretch.until, until), stretch.reason)


def uncovered(
    covered: Iterable[tuple[datetime, datetime]], since: datetime, until: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """What [since, until) has outside the covered stretches."""
    reached = since
    for start, end in sorted(covered):
        if start >= until:
            break
        if start > reached:
            yield reached, start
        reached = max(reached, end)
    if reached < until:
        yield reached, until


# Who held one queue, moment by moment, out of the intervals that polling gives. Pure.
#
# An interval claims its queue from its first to its last answer. From there to the answer that denied it nobody
# knows.
# Where no interval claims or leaves doubt, nobody held the queue: if every member had said what it holds.
class Segment(NamedTuple):
    """[since, until). `claims` of the owners; where it CHANGED, of whom it left and, if known, of whom it came to."""

    since: datetime
    until: datetime
    holding: Holding
    claims: tuple[Claim, ...] = ()
    reason: str | None = None


class Doubts(NamedTuple):
    """Of a whole group, each in a row: `unread` leaves nothing known, `silent` only whether a queue had no owner."""

    unread: Sequence[Stretch]
    silent: Sequence[Stretch]
    patience: Patience


def segments(claims: Sequence[Claim], doubts: Doubts, since: datetime, until: datetime) -> list[Segment]:
    """They fill [since, until). `claims` of one queue, the earliest first."""
    if not doubts.unread and len(claims) == 1 and _covers(claims[0], doubts, since, until):
        return [Segment(since, until, Holding.OWNER, tuple(claims))]
    pieces = [
        piece
        for start, end in _between_ends(claims, doubts, since, until)
        for piece in _pieces(claims, doubts, start, end)
    ]
    return _joined(_with_holes(pieces, doubts.unread) if doubts.unread else pieces)


def _covers(claim: Claim, doubts: Doubts, since: datetime, until: datetime) -> bool:
    return claim.since <= since and claim.certain_until(doubts.patience) >= until


def _between_ends(
    claims: Sequence[Claim], doubts: Doubts, since: datetime, until: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """[since, until) cut wherever an interval begins, leaves certainty or is denied."""
    ends = {since, until}
    for claim in claims:
        ends.update((claim.since, claim.certain_until(doubts.patience), claim.gone_by or until))
    return pairwise(sorted(end for end in ends if since <= end <= until))


def _pieces(claims: Sequence[Claim], doubts: Doubts, since: datetime, until: datetime) -> Iterator[Segment]:
    """One stretch in which no interval begins or ends."""
    sure = [claim for claim in claims if claim.since <= since < claim.certain_until(doubts.patience)]
    if sure:
        yield _claimed(sure, since, until)
        return
    left = [claim for claim in claims if claim.since <= since and (claim.gone_by is None or since < claim.gone_by)]
    silent = [claim for claim in left if claim.gone_by is None]
    if silent:
        reason = queues_not_since(silent[-1].owner, silent[-1].reported_at)
        yield Segment(since, until, Holding.UNKNOWN, reason=reason)
        return
    if left:
        yield _left(left, _successors(claims, left), doubts.patience.length, since, until)
        return
    yield from _unclaimed(doubts.silent, since, until)


def _claimed(sure: Sequence[Claim], since: datetime, until: datetime) -> Segment:
    """Two owners count as two where both reported the queue twice: the answers of one reading have different times."""
    if len({claim.owner for claim in sure}) == 1:
        return Segment(since, until, Holding.OWNER, (sure[-1],))
    pairs = ((one, other) for one, other in combinations(sure, 2) if one.owner != other.owner)
    is_double = any(min(one.reported_at, other.reported_at) > max(one.since, other.since) for one, other in pairs)
    return Segment(since, until, Holding.SEVERAL if is_double else Holding.CHANGED, tuple(sure))


def _left(
    left: Sequence[Claim], then: Sequence[Claim], longest: timedelta, since: datetime, until: datetime
) -> Segment:
    """The same owner before and after a long silence may have held it all the time, or not."""
    reported_at, denied = left[-1].reported_at, left[-1].gone_by
    if denied is not None and denied - reported_at > longest and {claim.owner for claim in then} == {left[-1].owner}:
        reason = gettext("%(owner)s did not report its queues between %(after)s and %(before)s") % {
            "owner": left[-1].owner,
            "after": when(reported_at),
            "before": when(denied),
        }
        return Segment(since, until, Holding.UNKNOWN, reason=reason)
    return Segment(since, until, Holding.CHANGED, (*left, *then))


def _unclaimed(silent: Sequence[Stretch], since: datetime, until: datetime) -> Iterator[Segment]:
    reached = since
    for silence in within(silent, since, until):
        if silence.since > reached:
            yield Segment(reached, silence.since, Holding.NOBODY)
        yield Segment(silence.since, silence.until, Holding.UNKNOWN, reason=silence.reason)
        reached = silence.until
    if reached < until:
        yield Segment(reached, until, Holding.NOBODY)


def _successors(claims: Sequence[Claim], left: Sequence[Claim]) -> tuple[Claim, ...]:
    """Returns the claims that were first reported by the answer that denied the others."""
    denied = max(claim.gone_by for claim in left if claim.gone_by is not None)
    reported_at = max(claim.reported_at for claim in left)
    return tuple(claim for claim in claims if reported_at < claim.since <= denied and claim not in left)


def _with_holes(pieces: Sequence[Segment], unread: Sequence[Stretch]) -> Iterator[Segment]:
    for segment in pieces:
        reached = segment.since
        for hole in within(unread, segment.since, segment.until):
            if hole.since > reached:
                yield segment._replace(since=reached, until=hole.since)
            yield Segment(hole.since, hole.until, Holding.UNKNOWN, reason=hole.reason)
            reached = hole.until
        if reached < segment.until:
            yield segment._replace(since=reached)


def _joined(pieces: Sequence[Segment] | Iterator[Segment]) -> list[Segment]:
    joined: list[Segment] = []
    for segment in pieces:
        if joined and joined[-1][2:] == segment[2:]:
            joined[-1] = joined[-1]._replace(until=segment.until)
        else:
            joined.append(segment)
    return joined
