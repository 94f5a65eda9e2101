"""Stretches of time in which a member was listed that had not said what it holds: no queue is known to be unowned.

A client is known to have answered at both ends of what it was seen to hold, and of what it said that it subscribes to.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from consumers.models import ConsumerGroup
from consumers.selectors.overlay import iso

from .claims import Claims
from .listed import Listed
from .patience import Patience
from .stretches import Stretch, in_a_row, uncovered


def silent_stretches(
    group: ConsumerGroup, listed: Listed, claims: Claims, since: datetime, until: datetime, patience: Patience
) -> list[Stretch]:
    """Within [since, until). `listed` and `claims`: all of the group in that range."""
    answered = listed.answered(patience)
    for claim in (claim for of_queue in claims.values() for claim in of_queue):
        answered.setdefault(claim.owner, []).append((claim.since, claim.certain_until(patience)))
    found: list[Stretch] = []
    for member in listed.members:
        start, end = max(member.since, since), min(member.gone_by or until, until)
        why = f": {member.error}" if member.error and member.gone_by is None else ""
        reason = f"{member.client_id} was listed and had not said what it holds{why}"
        found += [Stretch(*piece, reason) for piece in uncovered(answered.get(member.client_id, ()), start, end)]
    return in_a_row(
        [*found, *_nobody_listed_yet(listed, since, until), *_not_asked(group, since, until, patience.length)]
    )


def _nobody_listed_yet(listed: Listed, since: datetime, until: datetime) -> Iterator[Stretch]:
    """Nobody may have been in the group then, or nobody asked."""
    end = until if listed.first_at is None else min(listed.first_at, until)
    if end > since:
        yield Stretch(since, end, "no member of the group had been seen yet")


def _not_asked(group: ConsumerGroup, since: datetime, until: datetime, patience: timedelta) -> Iterator[Stretch]:
    """Who was in it is known up to the newest answer of all brokers."""
    if group.membership_at is None:
        yield Stretch(since, until, group.membership_error or "no broker has said yet who is in the group")
    elif (asked := group.membership_at + patience) < until:
        reason = f"not every broker has said since {iso(group.membership_at)} who is in the group"
        yield Stretch(max(asked, since), until, reason)
