"""Broadcasting members that began again behind where they had been: each keeps its offsets in a file of its own.

A client writes that file every 5 s, and once more when it is shut down (RocketMQ 5.4.0, DefaultMQPushConsumerImpl): one
that begins behind its last report was not shut down. Takes one query where none began.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from consumers.lake.store import Lake
from consumers.models import Client
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatEvidence
from consumers.vocabulary.states import BROADCASTING
from consumers.vocabulary.times import MICROSECOND, microseconds

from .away_file import FileReading
from .holders import NO_REPORT_OLDER
from .parts import RepeatPart, evidence
from .stored_history import HeldReport, Place, StoredHistory, broker_offsets

# A member that began again later than this has nothing left to tell.
REACH = timedelta(days=2)
# How long before its pace is looked at.
PACE = timedelta(minutes=10)


@dataclass(frozen=True)
class BroadcastQueue:
    """A queue of a member that began again. `was_at` and `held_until`: as it last reported before. `began_low` and
    `began_high`: where it can have begun. `could_move`: what it can have taken after its last report; null: nobody saw
    how fast it is."""

    client_id: str
    place: Place
    after_us: int
    at_us: int
    was_at: int
    held_until: int | None
    began_low: int
    began_high: int
    could_move: int | None
    broker_offset: int | None
    is_filed: bool


def broadcast_part(queue: BroadcastQueue) -> RepeatPart | None:
    """None where nothing can have come again."""
    low = max(queue.was_at - queue.began_high, 0)
    reached = max(queue.was_at, queue.held_until or 0)
    if queue.could_move is not None:
        reached += queue.could_move
    if queue.broker_offset is not None:
        end = queue.broker_offset
        reached = max(end if queue.could_move is None else min(reached, end), queue.was_at)
    high = max(reached - queue.began_low, low)
    if not high:
        return None
    gap = evidence(RepeatEvidence.START_BEHIND_MEMORY, messages=low) if low else evidence(RepeatEvidence.NO_GAP_SEEN)
    found = [evidence(RepeatEvidence.MEMBER_RESTARTED, client_id=queue.client_id), gap]
    if queue.is_filed:
        found.append(evidence(RepeatEvidence.FILE_HELD, broker=queue.client_id, offset=queue.began_low))
    topic, broker, queue_id = queue.place
    return RepeatPart(
        cause=RepeatCause.BROADCAST_CRASH,
        confidence=Confidence.PROVEN if low else Confidence.POSSIBLE,
        after_us=queue.after_us,
        at_us=queue.at_us,
        topic=topic,
        broker=broker,
        queue_id=queue_id,
        low=low,
        high=high,
        from_offset=queue.began_low,
        until_offset=queue.began_low + high,
        evidence=found,
    )


def broadcast_parts(
    clusters: Sequence[str], lake: Lake, after: datetime, until: datetime
) -> dict[int, list[RepeatPart]]:
    """Of members that began in (after, until), by group id."""
    broadcasting = Client.objects.filter(group__message_model=BROADCASTING, group__cluster__name__in=clusters)
    begun = list(
        broadcasting.filter(seen_since__gt=after, seen_since__lt=until, started_at__isnull=False).select_related(
            "group__cluster"
        )
    )
    if not begun:
        return {}
    earlier = _earlier(begun, after)
    ends = broker_offsets({one.group_id for one in begun})
    stored = StoredHistory(lake)
    found: dict[int, list[RepeatPart]] = defaultdict(list)
    for one in begun:
        before = earlier.get(one.pk)
        if before is None or before.gone_by is None or before.started_at in (None, one.started_at):
            continue
        for queue in _queues(before, one, stored, until, ends):
            part = broadcast_part(queue)
            found[one.group_id] += [part] if part is not None else []
    return found


def _earlier(begun: Sequence[Client], after: datetime) -> Mapping[int, Client]:
    """The last interval of the same member before each, by its primary key."""
    rows = Client.objects.filter(
        group__in={one.group_id for one in begun}, gone_by__isnull=False, last_seen__gt=after - REACH
    )
    of_member: dict[tuple[int, str], list[Client]] = defaultdict(list)
    for row in rows.order_by("seen_since"):
        of_member[row.group_id, row.client_id].append(row)
    found = {}
    for one in begun:
        before = [row for row in of_member[one.group_id, one.client_id] if row.seen_since < one.seen_since]
        if before:
            found[one.pk] = before[-1]
    return found


def _queues(
    before: Client,
    begun: Client,
    stored: StoredHistory,
    until: datetime,
    ends: Mapping[tuple[int, Place], int],
) -> list[BroadcastQueue]:
    assert before.gone_by is not None
    cluster, group = begun.group.cluster.name, begun.group.name
    reports = stored.held(cluster, before.last_seen - PACE, before.last_seen)
    later = stored.held(cluster, begun.seen_since - MICROSECOND, until)
    files = stored.client_files(cluster, before.gone_by, begun.seen_since)
    own = {
        place: [one for one in held_reports if one.client_id == begun.client_id]
        for (name, place), held_reports in reports.items()
        if name == group
    }
    pace = max((_pace(held_reports) for held_reports in own.values()), default=0.0)
    found = []
    for place, held_reports in own.items():
        if not held_reports or held_reports[-1].at < before.last_seen - NO_REPORT_OLDER:
            continue
        last, of_file = held_reports[-1], files.get((group, begun.client_id, place), ())
        filed = _left_behind(of_file, before.gone_by, begun.seen_since)
        first = next((one for one in later.get((group, place), ()) if one.client_id == begun.client_id), None)
        high = filed if filed is not None else (None if first is None else first.offset)
        if high is None:
            continue
        # A client's file only moves on: it began no lower than what was read of it at any time before.
        low = max((one.offset for one in of_file if one.taken_at < begun.seen_since), default=0)
        found.append(
            BroadcastQueue(
                client_id=begun.client_id,
                place=place,
                after_us=microseconds(last.at),
                at_us=microseconds(begun.seen_since),
                was_at=last.offset,
                held_until=last.held_until,
                began_low=min(low, high),
                began_high=high,
                could_move=math.ceil(pace * (before.gone_by - last.at).total_seconds()) if pace else None,
                broker_offset=ends.get((begun.group_id, place)),
                is_filed=filed is not None,
            )
        )
    return found


def _left_behind(files: Sequence[FileReading], gone: datetime, begun: datetime) -> int | None:
    """What the file held after the member was gone and before it was there again."""
    found = [one for one in files if gone <= one.taken_at < begun and one.modified_at <= gone]
    return found[-1].offset if found else None


def _pace(held_reports: Sequence[HeldReport]) -> float:
    """The fastest step, messages a second."""
    steps = ((b.offset - a.offset) / (b.at - a.at).total_seconds() for a, b in pairwise(held_reports) if b.at > a.at)
    return max((step for step in steps if step > 0), default=0.0)
