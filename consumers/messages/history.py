"""Stored history around one copy of a message: readings of its queue, members that held the queue, repeats, resets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.db.models import Q

from consumers.lake.one_group import TooManyRows, read_group
from consumers.lake.store import Lake
from consumers.messages.joined import QueuePlace, StoredCopy, kind_of
from consumers.models import Client, ConsumerGroup, Queue, RepeatEvent, ResetOutcome, ResetQueue
from consumers.ownership.assignments import changed_words, why_nobody
from consumers.ownership.reports import OwnableQueue, why_ownerless
from consumers.ownership.rows import Holding
from consumers.ownership.segments import Claims, Segment, claims_between, segments
from consumers.ownership.timeline import GroupDoubts
from consumers.repeats import event_name
from consumers.vocabulary.repeats import Confidence
from consumers.vocabulary.times import MICROSECOND, from_microseconds

from .deliveries import Cover, Crossing, crossings

# Readings are looked at in stretches, until one has the offset past the message. A message that waited for longer has
# no time of delivery here.
STRETCH, STRETCHES = timedelta(hours=1), 6
COLUMNS = ("taken_at", "broker", "queue_id", "consumer_offset")
MOST_READINGS = 500_000
# A reading before the copy was stored tells that nothing was consumed then.
BEFORE = timedelta(minutes=2)


@dataclass(frozen=True)
class Passed:
    """`looked_until`: to which time readings were looked at. `error`: why no history could be read."""

    crossings: tuple[Crossing, ...]
    looked_until: datetime
    error: str | None = None


class QueueReadings:
    """Readings of a group's queues, whole hours of a topic at once: copies of one message lie close together."""

    def __init__(self, group: ConsumerGroup, now: datetime) -> None:
        self._group, self._now = group, now
        self._lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
        self._hours: dict[tuple[str, datetime], pa.Table] = {}

    def passed(self, copy: StoredCopy) -> Passed:
        """When readings saw the group's offset pass a copy. Reads Parquet."""
        since = copy.stored_at - BEFORE
        readings: list[tuple[datetime, int | None]] = []
        hour = since.replace(minute=0, second=0, microsecond=0)
        for number in range(STRETCHES):
            start = hour + number * STRETCH
            if start > self._now:
                break
            try:
                readings += [one for one in self._of_hour(copy.place, start) if one[0] >= since]
            except (TooManyRows, OSError) as error:
                return Passed((), max(start, since), str(error))
            if any(offset is not None and offset > copy.offset for _, offset in readings):
                break
        found = crossings(readings, copy.offset)
        looked_until = min(hour + STRETCHES * STRETCH, self._now)
        return Passed(_marked(self._group, copy.place, found, since), looked_until)

    def _of_hour(self, place: QueuePlace, hour: datetime) -> list[tuple[datetime, int | None]]:
        rows = self._hours.get((place.topic, hour))
        if rows is None:
            rows = self._hours[place.topic, hour] = self._read(place.topic, hour)
        of_queue = pc.and_(pc.equal(rows["broker"], place.broker), pc.equal(rows["queue_id"], place.queue_id))
        found = rows.filter(of_queue).sort_by("taken_at")
        return list(zip(found["taken_at"].to_pylist(), found["consumer_offset"].to_pylist(), strict=True))

    def _read(self, topic: str, hour: datetime) -> pa.Table:
        group, until = self._group, min(hour + STRETCH, self._now + MICROSECOND)
        return read_group(
            self._lake,
            "readings",
            group.cluster.name,
            group.name,
            hour,
            until,
            COLUMNS,
            equal={"topic": topic},
            most_rows=MOST_READINGS,
        )


def _marked(
    group: ConsumerGroup, place: QueuePlace, found: Sequence[Crossing], since: datetime
) -> tuple[Crossing, ...]:
    """Those that a reset from here made."""
    if not found:
        return ()
    rows = ResetQueue.objects.filter(
        reset__group=group, topic=place.topic, broker=place.broker, queue_id=place.queue_id, written_at__gte=since
    ).exclude(outcome=ResetOutcome.UNCHANGED)
    written = [at for at in rows.values_list("written_at", flat=True) if at is not None]
    return tuple(replace(one, is_set=any((one.unseen or since) <= at <= one.before for at in written)) for one in found)


@dataclass(frozen=True)
class Owner:
    """A member that held the queue in [since, until) of the time asked about; then it `left` between two answers."""

    client_id: str
    since: datetime
    until: datetime
    left_after: datetime | None
    left_before: datetime | None


@dataclass(frozen=True)
class Owners:
    """`why`: why it is not known for all of the time. Both may be there."""

    known: tuple[Owner, ...]
    why: str | None


class QueueOwners:
    """Who held queues of a group between two times. The number of queries does not depend on that of copies."""

    def __init__(self, group: ConsumerGroup, places: Iterable[QueuePlace], since: datetime, until: datetime) -> None:
        self._until = max(until, since) + MICROSECOND
        self._since = since
        self._claims: Claims = claims_between(group, since, self._until)
        self._doubts = GroupDoubts.of(group, self._claims, since, self._until, why_ownerless(group))
        self._queues = _queues(group, set(places))
        self._left = _left(group, since)

    def between(self, place: QueuePlace, since: datetime, until: datetime) -> Owners | None:
        """None: no reading has seen the queue."""
        queue = self._queues.get(place)
        if queue is None:
            return None
        since = min(max(since, self._since), self._until - MICROSECOND)
        until = min(max(until, since + MICROSECOND), self._until)
        found = segments(
            self._claims.get(queue.pk, ()), self._doubts.of_queue(queue), since, max(until, since + MICROSECOND)
        )
        known = tuple(self._owner(claim.owner, one) for one in found if one.holding in HELD for claim in one.claims)
        unsure = next((one for one in found if one.holding not in HELD), None)
        return Owners(_merged(known), None if unsure is None else self._why(unsure))

    def _owner(self, client_id: str, segment: Segment) -> Owner:
        left = [times for times in self._left.get(client_id, ()) if times[1] > segment.since]
        after, before = left[0] if left else (None, None)
        return Owner(client_id, segment.since, segment.until, after, before)

    def _why(self, segment: Segment) -> str:
        if segment.holding is Holding.CHANGED:
            return changed_words(segment)
        return segment.reason or why_nobody(self._doubts)


HELD = (Holding.OWNER, Holding.SEVERAL)


def _merged(owners: Sequence[Owner]) -> tuple[Owner, ...]:
    by_id: dict[str, Owner] = {}
    for one in owners:
        before = by_id.get(one.client_id)
        by_id[one.client_id] = one if before is None else replace(before, until=max(before.until, one.until))
    return tuple(by_id.values())


def _queues(group: ConsumerGroup, places: set[QueuePlace]) -> dict[QueuePlace, OwnableQueue]:
    columns = ("pk", "topic__name", *OwnableQueue._fields[2:])
    rows = Queue.objects.filter(
        topic__cluster=group.cluster_id,
        topic__name__in={place.topic for place in places},
        broker__in={place.broker for place in places},
    )
    queues = map(OwnableQueue._make, rows.values_list(*columns))
    found = {QueuePlace(queue.topic, queue.broker, queue.queue_id): queue for queue in queues}
    return {place: found[place] for place in places if place in found}


def _left(group: ConsumerGroup, since: datetime) -> dict[str, list[tuple[datetime, datetime]]]:
    """By client id, between which answers it left, in order."""
    rows = Client.objects.filter(group=group, gone_by__gt=since).order_by("gone_by")
    left: dict[str, list[tuple[datetime, datetime]]] = {}
    for client_id, last_seen, gone_by in rows.values_list("client_id", "last_seen", "gone_by"):
        if gone_by is not None:
            left.setdefault(client_id, []).append((last_seen, gone_by))
    return left


def covers(group: ConsumerGroup, copies: Sequence[StoredCopy]) -> dict[str, tuple[Cover, ...]]:
    """By stored id, the repeats that cover a copy, in order. One query."""
    if not copies:
        return {}
    first = min(copy.stored_at for copy in copies) - BEFORE
    rows = RepeatEvent.objects.filter(Q(last_at__gte=first), group=group).order_by("started_at", "pk")
    found: dict[str, list[Cover]] = {}
    for event in rows.select_related("group__cluster"):
        for part in event.parts:
            for copy in copies:
                if _covers(part, copy):
                    found.setdefault(copy.stored_id, []).append(_cover(event, part, copy))
    return {stored_id: tuple(of_copy) for stored_id, of_copy in found.items()}


def _cover(event: RepeatEvent, part: dict[str, Any], copy: StoredCopy) -> Cover:
    is_round = part["broker"] is not None
    after = None if part["after_us"] is None else from_microseconds(part["after_us"])
    return Cover(
        event_name(event), event.cause, from_microseconds(part["at_us"]), _is_certain(part, copy), is_round, after
    )


def _covers(part: dict[str, Any], copy: StoredCopy) -> bool:
    """Of a queue by offset; of a retry topic, which is counted as a whole, by the minute in which the copy arrived."""
    if part["topic"] != copy.place.topic:
        return False
    if part["broker"] is None:
        after = from_microseconds(part["after_us"] or 0)
        return kind_of(copy) == "retry" and after <= copy.stored_at <= from_microseconds(part["at_us"])
    first, end = part["from_offset"], part["until_offset"]
    same = (part["broker"], part["queue_id"]) == (copy.place.broker, copy.place.queue_id)
    return same and isinstance(first, int) and isinstance(end, int) and first <= copy.offset < end


def _is_certain(part: dict[str, Any], copy: StoredCopy) -> bool:
    """At least `low` messages came again: those at the beginning, as an offset cannot leave one out."""
    first, low = part["from_offset"], part["low"]
    sure = part["confidence"] != Confidence.POSSIBLE
    return sure and isinstance(first, int) and isinstance(low, int) and copy.offset < first + low
