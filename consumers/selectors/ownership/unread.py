"""Stretches of time in which a cluster was not read: nobody's ownership is known there.

Readings are kept for two days; of the time before, the group's windows of ten minutes tell that there were some.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from django.db.models import QuerySet

from consumers.models import ConsumerGroup, GroupWindow, Reading
from consumers.selectors.overlay import iso

from .moments import as_text, moment
from .stretches import Stretch, in_a_row, uncovered

TEN_MINUTES = 600


def unread_stretches(group: ConsumerGroup, since: datetime, until: datetime, patience: timedelta) -> list[Stretch]:
    """Within [since, until): between readings that lie further apart than `patience`. Five queries at most."""
    # One that read nothing at all is none.
    kept = Reading.objects.filter(cluster=group.cluster_id).exclude(complete=False, queues=0)
    first = kept.order_by("taken_at").values_list("taken_at", flat=True).first()
    if first is None:
        return [Stretch(since, until, "the cluster has not been read yet")]
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
            yield Stretch(max(before, since), min(after, until), f"no reading between {iso(before)} and {iso(after)}")
    if until > readings[-1] + patience:
        yield Stretch(max(readings[-1], since), until, f"no reading after {iso(readings[-1])}")


def _before_the_kept(group: ConsumerGroup, since: datetime, until: datetime, first: datetime) -> Iterator[Stretch]:
    length = timedelta(seconds=TEN_MINUTES)
    windows = GroupWindow.objects.filter(
        group=group, step_seconds=TEN_MINUTES, start__gt=since - length, start__lt=until, readings__gt=0
    )
    covered = [(start, start + length) for start in windows.values_list("start", flat=True)]
    for start, end in uncovered(covered, since, until):
        yield Stretch(
            start, end, f"no reading is kept of the time before {iso(first)}, nor a window of its ten minutes"
        )
