"""Intervals in which clients were seen to own queues, and how long such an answer stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from consumers.models import Assignment, ConsumerGroup
from consumers.queries.limits import limits

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
    """`unchanged`: from when to when brokers told of no change in the group: not every client is asked each time then.

    `silent`: clients that did not answer when they were asked last.
    """

    length: timedelta
    unchanged: tuple[datetime, datetime] | None = None
    silent: frozenset[str] = frozenset()

    def until(self, client_id: str, told: datetime) -> datetime:
        if self.unchanged is not None and client_id not in self.silent and told >= self.unchanged[0]:
            told = max(told, self.unchanged[1])
        return told + self.length


def patience_of(group: ConsumerGroup, silent: frozenset[str] = frozenset()) -> Patience:
    changed_at, asked_at = group.members_changed_at, group.membership_at
    unchanged = (changed_at, asked_at) if changed_at is not None and asked_at is not None else None
    return Patience(timedelta(seconds=max(limits().late_seconds, LEAST_SECONDS)), unchanged, silent)


# Intervals in which a client was seen to own a queue, as far as they touch a range.
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
