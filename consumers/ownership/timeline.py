"""Who owned which queue over time, for the picture of it; and why that is unknown in parts of a time range, collected
once for all queues.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from django.db.models import Min, Q, QuerySet
from django.utils.translation import gettext, gettext_lazy

from consumers.models import Assignment, Client, ClientSubscription, ConsumerGroup, GroupWindow, Reading
from consumers.ownership.reports import (
    EVERY_MEMBER,
    POPS,
    OwnableQueue,
    is_broadcasting,
    is_popping,
    ownable_queues,
    why_ownerless,
)
from consumers.ownership.rows import Holding, Timeline, TimelineQueue, TimelineRun
from consumers.ownership.segments import (
    Claim,
    Claims,
    Doubts,
    Patience,
    Segment,
    Stretch,
    as_text,
    claims_between,
    in_a_row,
    moment,
    moment_or_none,
    patience_of,
    segments,
    uncovered,
)
from consumers.queries.groups import find_group
from consumers.words.marks import labelled
from consumers.words.reasons import members_not_since, membership_reason, stored_words
from consumers.words.spans import when

# Who was listed as a member of a group over a range of time, and what each said that it subscribes to.


class Listing(NamedTuple):
    """A client from its first listing to the whole answer that lacked it. `error`: why it did not answer last."""

    client_id: str
    since: datetime
    gone_by: datetime | None
    error: str | None


class Subscribed(NamedTuple):
    """A client reported first at `since` and last at `reported_at` that it subscribes to the topic. At `gone_by` it
    no longer did."""

    client_id: str
    topic: str
    since: datetime
    reported_at: datetime
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
        subscriptions = ClientSubscription.objects.filter(touching, group=group).order_by("topic", "seen_since")
        first, last, gone_by = as_text("seen_since"), as_text("last_seen"), as_text("gone_by")
        return cls(
            [
                Listing(client_id, moment(begun), moment_or_none(ended), error)
                for client_id, begun, ended, error in members.values_list(
                    "client_id", first, gone_by, "running_info_error"
                )
            ],
            [
                Subscribed(client_id, topic, moment(begun), moment(reported_at), moment_or_none(ended))
                for client_id, topic, begun, reported_at, ended in subscriptions.values_list(
                    "client_id", "topic", first, last, gone_by
                )
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
            end = patience.until(one.client_id, one.reported_at) if one.gone_by is None else one.reported_at
            spans.setdefault(one.client_id, []).append((one.since, end))
        return spans


# Stretches of time in which a cluster was not read: nobody's ownership is known there.
# Readings are kept for two days; of the time before, the group's windows of ten minutes tell that there were some.

TEN_MINUTES = 600


def unread_stretches(group: ConsumerGroup, since: datetime, until: datetime, patience: timedelta) -> list[Stretch]:
    """Within [since, until): between readings that lie further apart than `patience`. Five queries at most."""
    # One that read nothing at all is none.
    readings = Reading.objects.filter(cluster=group.cluster_id).exclude(Reading.READ_NOTHING)
    first = readings.order_by("taken_at").values_list("taken_at", flat=True).first()
    if first is None:
        return [Stretch(since, until, gettext("the cluster has not been scraped yet"))]
    found: list[Stretch] = []
    if since < first:
        found += _before_the_kept(group, since, min(first, until), first)
    if until > first:
        found += _holes(_readings(readings, max(since, first), until), max(since, first), until, patience)
    return in_a_row(found)


def _readings(readings: QuerySet[Reading], since: datetime, until: datetime) -> list[datetime]:
    """Those of the range with the one before and the one after it, in order."""
    times = readings.order_by("taken_at").values_list("taken_at", flat=True)
    before, after = times.filter(taken_at__lte=since).last(), times.filter(taken_at__gte=until).first()
    inside = readings.filter(taken_at__gt=since, taken_at__lt=until).order_by("taken_at")
    texts = inside.values_list(as_text("taken_at"), flat=True)
    return [at for at in (before, *map(moment, texts), after) if at is not None]


def _holes(readings: Sequence[datetime], since: datetime, until: datetime, patience: timedelta) -> Iterator[Stretch]:
    for before, after in pairwise(readings):
        if after - before > patience:
            yield Stretch(
                max(before, since),
                min(after, until),
                gettext("no poll between %(after)s and %(before)s") % {"after": when(before), "before": when(after)},
            )
    if until > readings[-1] + patience:
        yield Stretch(max(readings[-1], since), until, gettext("no poll after %(at)s") % {"at": when(readings[-1])})


def _before_the_kept(group: ConsumerGroup, since: datetime, until: datetime, first: datetime) -> Iterator[Stretch]:
    length = timedelta(seconds=TEN_MINUTES)
    windows = GroupWindow.objects.filter(
        group=group, step_seconds=TEN_MINUTES, start__gt=since - length, start__lt=until, readings__gt=0
    )
    covered = [(start, start + length) for start in windows.values_list("start", flat=True)]
    for start, end in uncovered(covered, since, until):
        yield Stretch(
            start,
            end,
            gettext("no poll and no 10 min window is retained from before %(at)s") % {"at": when(first)},
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
            reason = labelled(reason, stored_words(member.error))
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
        yield Stretch(max(asked, since), until, members_not_since(group.membership_at))


# Stretches of time in which a queue needed no owner: one without is nothing to be alarmed by.


def unsubscribed(listed: Listed, topic: str, since: datetime, until: datetime) -> Iterator[Stretch]:
    """While members had said what they subscribe to, and none subscribed to the topic."""
    subscribed = [(one.since, one.gone_by or until) for one in listed.subscribed]
    wanted = [(one.since, one.gone_by or until) for one in listed.subscribed if one.topic == topic]
    silent = list(uncovered(subscribed, since, until))
    for start, end in uncovered([*wanted, *silent], since, until):
        yield Stretch(start, end, gettext("no member subscribed to %(topic)s") % {"topic": topic})


def not_there(queue: OwnableQueue, since: datetime, until: datetime) -> Iterator[Stretch]:
    """Before it was first seen, and while nothing can be read of it."""
    if queue.first_seen_at is not None and queue.first_seen_at > since:
        yield Stretch(
            since,
            min(queue.first_seen_at, until),
            gettext("the queue was first seen at %(at)s") % {"at": when(queue.first_seen_at)},
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
            unsubscribed_spans = unsubscribed(self.listed, topic, self.since, self.until)
            self._of_topics[topic] = Doubts(self.unread, in_a_row([*unsubscribed_spans, *self.silent]), self.patience)
        return self._of_topics[topic]


# Who held a queue as cells of a picture: in each the worst that holds in it. Pure.
SEVERITY = {holding: number for number, holding in enumerate(reversed(Holding))}


class Axis(NamedTuple):
    """`cells` cells of `step` from `since` on."""

    since: datetime
    step: timedelta
    cells: int

    @classmethod
    def over(cls, since: datetime, until: datetime, cells: int) -> "Axis":
        """About so many cells of whole seconds that hold [since, until), the same ones whenever they are asked for."""
        seconds = max(1, -int(-(until - since).total_seconds() // cells))
        first = int(since.timestamp() // seconds)
        count = -int(-until.timestamp() // seconds) - first
        return cls(datetime.fromtimestamp(first * seconds, since.tzinfo), timedelta(seconds=seconds), count)

    @property
    def until(self) -> datetime:
        return self.since + self.step * self.cells


def runs(pieces: Sequence[Segment], axis: Axis, places: Mapping[str, int]) -> list[TimelineRun]:
    """`pieces` in order, within the axis; `places`: of the owners in the timeline's list."""
    if len(pieces) == 1:
        return [_run(pieces[0], axis.cells, places)]
    cells: list[int | None] = [None] * axis.cells
    for number in sorted(range(len(pieces)), key=lambda number: SEVERITY[pieces[number].holding]):
        first = (pieces[number].since - axis.since) // axis.step
        last = -((axis.since - pieces[number].until) // axis.step)
        cells[first:last] = [number] * (last - first)
    found = ((number, len(list(same))) for number, same in groupby(cells))
    return [_run(pieces[number], length, places) for number, length in found if number is not None]


def _run(segment: Segment, cells: int, places: Mapping[str, int]) -> TimelineRun:
    owners = tuple(dict.fromkeys(places[claim.owner] for claim in segment.claims))
    since, until = segment.since, segment.until
    if segment.holding is Holding.OWNER:
        since, until = segment.claims[0].since, segment.claims[0].reported_at
    return TimelineRun(cells, segment.holding, owners, since, until, segment.reason)


class RunsByPattern:
    """Works out each pattern of intervals once, whoever the owners are. `places`: theirs in the timeline's list."""

    def __init__(self, axis: Axis, until: datetime, places: Mapping[str, int]) -> None:
        self._axis, self._until, self._places = axis, until, places
        # The doubts are kept with what they led to: as long as they are there, no others have their id.
        self._known: dict[Any, tuple[list[int], list[TimelineRun], Doubts]] = {}

    def runs(self, claims: Sequence[Claim], doubts: Doubts) -> list[TimelineRun]:
        owners = list(dict.fromkeys([claim.owner for claim in claims]))
        mine = [self._places[owner] for owner in owners]
        pattern = tuple([(owners.index(owner), since, until, gone_by) for owner, since, until, gone_by in claims])
        # The reason names an owner that has not answered for too long.
        silent = [c.owner for c in claims if c.gone_by is None and c.certain_until(doubts.patience) < self._until]
        key = (pattern, id(doubts.silent), tuple(silent))
        if key not in self._known:
            pieces = segments(claims, doubts, self._axis.since, self._until)
            self._known[key] = mine, runs(pieces, self._axis, self._places), doubts
        theirs, known, _ = self._known[key]
        if theirs == mine:
            return known
        place = dict(zip(theirs, mine, strict=True))
        return [
            TimelineRun(cells, holding, tuple([place[owner] for owner in held]), since, until, reason)
            for cells, holding, held, since, until, reason in known
        ]


CELLS = 240

NO_QUEUE = gettext_lazy("no queue of the group is known yet")


def timeline(
    cluster: str, group: str, *, since: datetime, until: datetime, topic: str | None = None, cells: int = CELLS
) -> Timeline | None:
    """About `cells` cells that hold [since, until); None when there is no such group. A fixed number of queries."""
    found = find_group(cluster, group)
    if found is None:
        return None
    axis = Axis.over(since.astimezone(UTC), until, cells)
    claims = claims_between(found, axis.since, until)
    ownerless = why_ownerless(found)
    pops = not claims and is_popping(found)
    shared = str(EVERY_MEMBER) if is_broadcasting(found) else str(POPS) if pops else None
    if shared is not None:
        return _picture(axis, [], [], shared)
    doubts = GroupDoubts.of(found, claims, axis.since, until, ownerless)
    owners = sorted({claim.owner for of_queue in claims.values() for claim in of_queue})
    runs_by_pattern = RunsByPattern(axis, until, {owner: place for place, owner in enumerate(owners)})
    queues = [
        TimelineQueue(
            queue.topic,
            queue.broker,
            queue.queue_id,
            runs_by_pattern.runs(claims.get(queue.pk, ()), doubts.of_queue(queue)),
        )
        for queue in ownable_queues(found, claims.keys(), topic=topic, retries=False)
    ]
    return _picture(axis, owners, queues, None if queues else str(NO_QUEUE))


def _picture(axis: Axis, owners: list[str], queues: list[TimelineQueue], unknown_reason: str | None) -> Timeline:
    return Timeline(
        since=axis.since,
        until=axis.until,
        step_seconds=axis.step.total_seconds(),
        cells=axis.cells,
        owners=owners,
        queues=queues,
        unknown_reason=unknown_reason,
    )


# The owners that the picture of a range names, without the picture.
def timeline_owners(group: ConsumerGroup, *, since: datetime, until: datetime, cells: int = CELLS) -> list[str]:
    """In the order of `Timeline.owners` over the same range. One query."""
    begins = Axis.over(since.astimezone(UTC), until, cells).since
    touching = Q(seen_since__lt=until) & (Q(gone_by=None) | Q(gone_by__gt=begins))
    rows = Assignment.objects.filter(touching, group=group).order_by()
    return sorted(set(rows.values_list("client_id", flat=True).distinct()))
