"""Intervals in which a client was seen to own a queue, as far as they touch a range."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Q, QuerySet

from consumers.models import Assignment, ConsumerGroup

from .moments import as_text, moment, moment_or_none
from .patience import Patience

# Both ends of an interval are answers: at the last of them the client still said so.
INSTANT = timedelta(microseconds=1)


class Claim(NamedTuple):
    """It was told first at `since`, last at `told`, and denied at `gone_by`; null: it was not denied yet."""

    owner: str
    since: datetime
    told: datetime
    gone_by: datetime | None

    def certain_until(self, patience: Patience) -> datetime:
        """Members are asked in turn: an owner that was not asked again is not doubted at once."""
        return patience.until(self.owner, self.told) if self.gone_by is None else self.told + INSTANT


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
    for queue, owner, since, told, gone_by in rows.order_by("seen_since").values_list("queue_id", "client_id", *times):
        claim = Claim(owner, moment(since), moment(told), moment_or_none(gone_by))
        claims.setdefault(queue, []).append(claim)
    return claims
