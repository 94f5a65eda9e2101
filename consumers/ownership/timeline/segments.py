"""Who held one queue, interval by interval, and the times that are not known. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import combinations, pairwise
from typing import NamedTuple

from django.utils.translation import gettext

from consumers.ownership.rows import Holding
from consumers.ownership.timeline.claims import Claim, Patience
from consumers.queries.texts import iso


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
    told = [
        piece
        for start, end in _between_ends(claims, doubts, since, until)
        for piece in _told(claims, doubts, start, end)
    ]
    return _joined(_with_holes(told, doubts.unread) if doubts.unread else told)


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


def _told(claims: Sequence[Claim], doubts: Doubts, since: datetime, until: datetime) -> Iterator[Segment]:
    """One stretch in which no interval begins or ends."""
    sure = [claim for claim in claims if claim.since <= since < claim.certain_until(doubts.patience)]
    if sure:
        yield _claimed(sure, since, until)
        return
    left = [claim for claim in claims if claim.since <= since and (claim.gone_by is None or since < claim.gone_by)]
    silent = [claim for claim in left if claim.gone_by is None]
    if silent:
        reason = gettext("%(owner)s has not reported its queues since %(since)s") % {
            "owner": silent[-1].owner,
            "since": iso(silent[-1].told),
        }
        yield Segment(since, until, Holding.UNKNOWN, reason=reason)
        return
    if left:
        yield _left(left, _successors(claims, left), doubts.patience.length, since, until)
        return
    yield from _unclaimed(doubts.silent, since, until)


def _claimed(sure: Sequence[Claim], since: datetime, until: datetime) -> Segment:
    """Two owners are two where both were told twice: the answers of one reading are not of one moment."""
    if len({claim.owner for claim in sure}) == 1:
        return Segment(since, until, Holding.OWNER, (sure[-1],))
    pairs = ((one, other) for one, other in combinations(sure, 2) if one.owner != other.owner)
    is_double = any(min(one.told, other.told) > max(one.since, other.since) for one, other in pairs)
    return Segment(since, until, Holding.SEVERAL if is_double else Holding.CHANGED, tuple(sure))


def _left(
    left: Sequence[Claim], then: Sequence[Claim], longest: timedelta, since: datetime, until: datetime
) -> Segment:
    """The same owner before and after a long silence may have held it all the time, or not."""
    told, denied = left[-1].told, left[-1].gone_by
    if denied is not None and denied - told > longest and {claim.owner for claim in then} == {left[-1].owner}:
        reason = gettext("%(owner)s did not report its queues between %(after)s and %(before)s") % {
            "owner": left[-1].owner,
            "after": iso(told),
            "before": iso(denied),
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
    """Those that were first told by the answer that denied the others."""
    denied = max(claim.gone_by for claim in left if claim.gone_by is not None)
    told = max(claim.told for claim in left)
    return tuple(claim for claim in claims if told < claim.since <= denied and claim not in left)


def _with_holes(told: Sequence[Segment], unread: Sequence[Stretch]) -> Iterator[Segment]:
    for segment in told:
        reached = segment.since
        for hole in within(unread, segment.since, segment.until):
            if hole.since > reached:
                yield segment._replace(since=reached, until=hole.since)
            yield Segment(hole.since, hole.until, Holding.UNKNOWN, reason=hole.reason)
            reached = hole.until
        if reached < segment.until:
            yield segment._replace(since=reached)


def _joined(told: Sequence[Segment] | Iterator[Segment]) -> list[Segment]:
    joined: list[Segment] = []
    for segment in told:
        if joined and joined[-1][2:] == segment[2:]:
            joined[-1] = joined[-1]._replace(until=segment.until)
        else:
            joined.append(segment)
    return joined
