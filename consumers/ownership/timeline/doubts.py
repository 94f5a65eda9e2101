"""Collects why ownership of a group's queues is unknown in parts of a time range, once for all queues."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from django.db.models import Min, Q, QuerySet
from django.utils.translation import gettext

from consumers.models import Client, ClientSubscription, ConsumerGroup, GroupWindow, Reading
from consumers.ownership.reports import OwnableQueue
from consumers.words.reasons import membership_reason, stored_words
from consumers.words.spans import iso

from .segments import (
    Claims,
    Doubts,
    Patience,
    Stretch,
    as_text,
    in_a_row,
    moment,
    moment_or_none,
    patience_of,
    uncovered,
)

# Who was listed as a member of a group over a range of time, and what each said that it subscribes to.


class Listing(NamedTuple):
    """A client from its first listing to the whole answer that lacked it. `error`: why it did not answer last."""

    client_id: str
    since: datetime
    gone_by: datetime | None
    error: str | None


class Subscribed(NamedTuple):
    """A client said at `since`, and at `told` still, that it subscribes to the topic; at `gone_by` no more."""

    client_id: str
    topic: str
    since: datetime
    told: datetime
    gone_by: datetime | None


@dataclass(frozen=True)
class Listed:
    """`first_at`: when the first member of all was seen; null: never one."""

    members: list[Listing]
    subscribed: list[Subscribed]
    first_at: datetime | None

    @classmethod
    def of(cls, group: ConsumerGroup, since: datetime, until: datetime) -> "Listed":
        """Three queries."""
        touching = Q(seen_since__lt=until) & (Q(gone_by=None) | Q(gone_by__gt=since))
        members = Client.objects.filter(touching, group=group).order_by("client_id", "seen_since")
        said = ClientSubscription.objects.filter(touching, group=group).order_by("topic", "seen_since")
        first, last, gone_by = as_text("seen_since"), as_text("last_seen"), as_text("gone_by")
        return cls(
            [
                Listing(client_id, moment(begun), moment_or_none(ended), error)
                for client_id, begun, ended, error in members.values_list(
                    "client_id", first, gone_by, "running_info_error"
                )
            ],
            [
                Subscribed(client_id, topic, moment(begun), moment(told), moment_or_none(ended))
                for client_id, topic, begun, told, ended in said.values_list("client_id", "topic", first, last, gone_by)
            ],
            group.clients.aggregate(first=Min("seen_since"))["first"],
        )

    @property
    def silent(self) -> frozenset[str]:
        """Present members that did not answer when they were asked last."""
        return frozenset(member.client_id for member in self.members if member.error and member.gone_by is None)

    def answered(self, patience: Patience) -> dict[str, list[tuple[datetime, datetime]]]:
        """By client id, from one answer to another, as far as subscriptions tell."""
        spans: dict[str, list[tuple[datetime, datetime]]] = {}
        for one in self.subscribed:
            end = patience.until(one.client_id, one.told) if one.gone_by is None else one.told
            spans.setdefault(one.client_id, []).append((one.since, end))
        return spans


# Stretches of time in which a cluster was not read: nobody's ownership is known there.
# Readings are kept for two days; of the time before, the group's windows of ten minutes tell that there were some.

TEN_MINUTES = 600


def unread_stretches(group: ConsumerGroup, since: datetime, until: datetime, patience: timedelta) -> list[Stretch]:
    """Within [since, until): between readings that lie further apart than `patience`. Five queries at most."""
    # One that read nothing at all is none.
    kept = Reading.objects.filter(cluster=group.cluster_id).exclude(complete=False, queues=0)
    first = kept.order_by("taken_at").values_list("taken_at", flat=True).first()
    if first is None:
        return [Stretch(since, until, gettext("the cluster has not been scraped yet"))]
    found: list[Stretch] = []
    if since < first:
        found += _before_the_kept(group, since, min(first, until), first)
    if until > first:
        found += _holes(_readings(kept, max(since, first), until), max(since, first), until, patience)
    return in_a_row(found)


def _readings(kept: QuerySet[Reading], since: datetime, until: datetime) -> list[datetime]:
    """Those of the range with the one before and the one after it, in order."""
    times = kept.order_by("taken_at").values_list("taken_at", flat=True)
    before, after = times.filter(taken_at__lte=since).last(), times.filter(taken_at__gte=until).first()
    inside = kept.filter(taken_at__gt=since, taken_at__lt=until).order_by("taken_at")
    texts = inside.values_list(as_text("taken_at"), flat=True)
    return [at for at in (before, *map(moment, texts), after) if at is not None]


def _holes(readings: Sequence[datetime], since: datetime, until: datetime, patience: timedelta) -> Iterator[Stretch]:
    for before, after in pairwise(readings):
        if after - before > patience:
            yield Stretch(
                max(before, since),
                min(after, until),
                gettext("no poll between %(after)s and %(before)s") % {"after": iso(before), "before": iso(after)},
            )
    if until > readings[-1] + patience:
        yield Stretch(max(readings[-1], since), until, gettext("no poll after %(at)s") % {"at": iso(readings[-1])})


def _before_the_kept(group: ConsumerGroup, since: datetime, until: datetime, first: datetime) -> Iterator[Stretch]:
    length = timedelta(seconds=TEN_MINUTES)
    windows = GroupWindow.objects.filter(
        group=group, step_seconds=TEN_MINUTES, start__gt=since - length, start__lt=until, readings__gt=0
    )
    covered = [(start, start + length) for start in windows.values_list("start", flat=True)]
    for start, end in uncovered(covered, since, until):
        yield Stretch(
            start, end, gettext("no poll and no 10 min window is retained from before %(at)s") % {"at": iso(first)}
        )


# Stretches of time in which a member was listed that had not said what it holds: no queue is known to be unowned.
# A client is known to have answered at both ends of what it was seen to hold, and of what it said that it subscribes
# to.


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
        reason = gettext("%(client_id)s was listed and had not reported its queues") % {"client_id": member.client_id}
        if member.error and member.gone_by is None:
            reason = f"{reason}: {stored_words(member.error)}"
        found += [Stretch(*piece, reason) for piece in uncovered(answered.get(member.client_id, ()), start, end)]
    return in_a_row(
        [*found, *_nobody_listed_yet(listed, since, until), *_not_asked(group, since, until, patience.length)]
    )


def _nobody_listed_yet(listed: Listed, since: datetime, until: datetime) -> Iterator[Stretch]:
    """Nobody may have been in the group then, or nobody asked."""
    end = until if listed.first_at is None else min(listed.first_at, until)
    if end > since:
        yield Stretch(since, end, gettext("no member of the group had been seen yet"))


def _not_asked(group: ConsumerGroup, since: datetime, until: datetime, patience: timedelta) -> Iterator[Stretch]:
    """Who was in it is known up to the newest answer of all brokers."""
    if group.membership_at is None:
        yield Stretch(since, until, membership_reason(group.membership_error))
    elif (asked := group.membership_at + patience) < until:
        reason = gettext("not every broker has reported the group's members since %(since)s") % {
            "since": iso(group.membership_at)
        }
        yield Stretch(max(asked, since), until, reason)


# Stretches of time in which a queue needed no owner: one without is nothing to be alarmed by.


def unsubscribed(listed: Listed, topic: str, since: datetime, until: datetime) -> Iterator[Stretch]:
    """While members had said what they subscribe to, and none subscribed to the topic."""
    said = [(one.since, one.gone_by or until) for one in listed.subscribed]
    wanted = [(one.since, one.gone_by or until) for one in listed.subscribed if one.topic == topic]
    silent = list(uncovered(said, since, until))
    for start, end in uncovered([*wanted, *silent], since, until):
        yield Stretch(start, end, gettext("no member subscribed to %(topic)s") % {"topic": topic})


def not_there(queue: OwnableQueue, since: datetime, until: datetime) -> Iterator[Stretch]:
    """Before it was first seen, and while nothing can be read of it."""
    if queue.first_seen_at is not None and queue.first_seen_at > since:
        yield Stretch(
            since,
            min(queue.first_seen_at, until),
            gettext("the queue was first seen at %(at)s") % {"at": iso(queue.first_seen_at)},
        )
    if queue.readable is False:
        start = max(queue.readable_since or since, since)
        if start < until:
            yield Stretch(start, until, gettext("the queue is not readable, so it needs no owner"))


@dataclass
class GroupDoubts:
    since: datetime
    until: datetime
    listed: Listed
    unread: list[Stretch]
    silent: list[Stretch]
    patience: Patience

    def __post_init__(self) -> None:
        self._of_topics: dict[str, Doubts] = {}

    @classmethod
    def of(
        cls, group: ConsumerGroup, claims: Claims, since: datetime, until: datetime, ownerless: str | None
    ) -> "GroupDoubts":
        """`claims`: all of the group in that range; `ownerless`: why its queues need no owner at all. Six queries."""
        listed = Listed.of(group, since, until)
        patience = patience_of(group, listed.silent)
        unread = unread_stretches(group, since, until, patience.length)
        silent = silent_stretches(group, listed, claims, since, until, patience)
        if ownerless is not None:
            silent = [Stretch(since, until, ownerless)]
        return cls(since, until, listed, unread, silent, patience)

    def of_queue(self, queue: OwnableQueue) -> Doubts:
        of_topic = self._of_topic(queue.topic)
        absent = list(not_there(queue, self.since, self.until))
        return of_topic._replace(silent=in_a_row([*of_topic.silent, *absent])) if absent else of_topic

    def _of_topic(self, topic: str) -> Doubts:
        if topic not in self._of_topics:
            undue = unsubscribed(self.listed, topic, self.since, self.until)
            self._of_topics[topic] = Doubts(self.unread, in_a_row([*undue, *self.silent]), self.patience)
        return self._of_topics[topic]
