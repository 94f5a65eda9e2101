"""Queues of a broker that was away, with the step that their offsets took meanwhile.

A broker that lost commits begins behind, and a member that takes a queue anew goes on from there. By the time that its
broker is read again the member may have regained the old offset: no offset is seen to fall. The members' own reports in
between show it. Nor is it seen to fall where the broker was away for longer than the kernel has readings in hand.
Takes one query where every broker was read.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from consumers.models import Reading
from consumers.vocabulary.states import UnknownReason
from consumers.vocabulary.times import from_microseconds, microseconds

from .holders import NO_REPORT_OLDER, gave_up
from .stored_history import OffsetRead, Place, StoredHistory

# A broker that was away for longer has nothing left to compare.
REACH = timedelta(days=2)
# How long before its broker went a queue's pace is looked at.
PACE = timedelta(minutes=5)

Key = tuple[str, Place]  # group, place


class Absence(NamedTuple):
    """`before`: the last reading that got the brokers' answers; `away` and `back`: the first that did not, and the next
    that did."""

    cluster: str
    before: datetime
    away: datetime
    back: datetime
    brokers: frozenset[str]


def absences(clusters: Sequence[str], after: datetime, until: datetime, slack: timedelta) -> list[Absence]:
    """That ended in (after, until). `slack`: the longest time between two readings."""
    lately = Reading.objects.filter(cluster__name__in=clusters, taken_at__gt=after - slack, taken_at__lt=until)
    partial = set(lately.filter(complete=False).order_by().values_list("cluster__name", flat=True))
    found: dict[tuple[str, datetime, datetime, datetime], set[str]] = defaultdict(set)
    for cluster in sorted(partial):
        rows = lately.filter(cluster__name=cluster).order_by("taken_at").values_list("taken_at", "brokers")
        for broker, back in _returns(rows):
            span = _left(cluster, broker, back) if back > after else None
            if span is not None:
                found[cluster, *span, back].add(broker)
    return [Absence(*span, frozenset(brokers)) for span, brokers in found.items()]


def _returns(readings: Iterable[tuple[datetime, Sequence[Mapping[str, Any]]]]) -> Iterator[tuple[str, datetime]]:
    """Brokers with the readings that got their answers after one that did not."""
    unread: set[str] = set()
    for at, brokers in readings:
        read = {one["name"] for one in brokers if one["read"]}
        for broker in sorted(unread & read):
            yield broker, at
        unread = (unread | {one["name"] for one in brokers}) - read


def _left(cluster: str, broker: str, back: datetime) -> tuple[datetime, datetime] | None:
    """The last reading of the broker before it was away, and the next one; None: it is not known."""
    rows = Reading.objects.filter(cluster__name=cluster, taken_at__gt=back - REACH, taken_at__lt=back)
    away = back
    for at, brokers in rows.order_by("-taken_at").values_list("taken_at", "brokers").iterator(chunk_size=100):
        if any(one["name"] == broker and one["read"] for one in brokers):
            return at, away
        away = at
    return None


def returned_rows(absence: Absence, stored: StoredHistory, until: datetime) -> list[dict[str, Any]]:
    """As rows of kernel/falls.py: of queues that fell, that a member reported to be behind where they had been, or that
    were given up and taken anew."""
    since = absence.before - NO_REPORT_OLDER
    held, answer_times = stored.held(absence.cluster, since, until), stored.answer_times(absence.cluster, since, until)
    held_reports = {key: reports for key, reports in held.items() if key[1][1] in absence.brokers}
    if not held_reports:
        return []
    wanted = absence.cluster, absence.brokers, {group for group, _ in held_reports}
    earlier = stored.offsets(*wanted, absence.before - PACE, absence.before)
    later = stored.offsets(*wanted, absence.back, until)
    found = []
    for key, reports in held_reports.items():
        row = _step(key, earlier.get(key, ()), later.get(key, ()))
        if row is None:
            continue
        reported = [one.offset for one in reports if row["before_us"] < microseconds(one.at) <= row["at_us"]]
        at = from_microseconds(row["at_us"])
        is_anew = gave_up(reports, answer_times.get(key[0], {}), from_microseconds(row["before_us"]), absence.away, at)
        if is_anew or min([*reported, row["to_offset"]]) < row["from_offset"]:
            found.append({"cluster": absence.cluster, **row})
    return found


def _step(key: Key, earlier: Sequence[OffsetRead], later: Sequence[OffsetRead]) -> dict[str, Any] | None:
    """From the last known offset before to the first one afterwards. None: one of them is not known, or the topic was
    created anew."""
    before, after = ([one for one in some if one.is_known] for some in (earlier, later))
    if not before or not after or (after[0].broker_offset or 0) < (before[-1].broker_offset or 0):
        return None
    between = (one for one in (*earlier, *later) if before[-1].at < one.at < after[0].at)
    if any(one.reason == UnknownReason.TOPIC_GONE for one in between):
        return None
    group, (topic, broker, queue_id) = key
    first = after[0]
    steps = [*pairwise(before), *pairwise(after)]
    paces = [((b.offset or 0) - (a.offset or 0)) / (b.at - a.at).total_seconds() for a, b in steps if b.at > a.at]
    return {
        "group": group,
        "topic": topic,
        "broker": broker,
        "queue_id": queue_id,
        "before_us": microseconds(before[-1].at),
        "from_offset": before[-1].offset,
        "at_us": microseconds(first.at),
        "to_offset": first.offset,
        "broker_offset": first.broker_offset,
        "min_offset": first.min_offset,
        "fastest": max((pace for pace in paces if pace > 0), default=0.0),
        "was_lost": any(one.reason == UnknownReason.OFFSET_LOST for one in later if one.at < first.at),
        "was_behind": False,
    }
