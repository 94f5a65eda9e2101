"""Stretches of time in which a cluster was not read: nobody's ownership is known there.

Readings are kept for two days; of the time before, the group's windows of ten minutes tell that there were some.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from consumers.models import ConsumerGroup, GroupWindow, Reading
from consumers.selectors.overlay import iso

from .moments import as_text, moment
from .stretches import Stretch, in_a_row, uncovered

TEN_MINUTES = 600


def unread_stretches(group: ConsumerGroup, since: datetime, until: datetime, patience: timedelta) -> list[Stretch]:
    """Within [since, until): between readings that lie further apart than `patience`. Three queries at most."""
    kept = Reading.objects.filter(cluster=group.cluster_id).order_by("taken_at")
    first = kept.values_list("taken_at", flat=True).first()
    if first is None:
        return [Stretch(since, until, "the cluster has not been read yet")]
    found: list[Stretch] = []
    if since < first:
        found += _before_the_kept(group, since, min(first, until), first)
    if until > first:
        near = kept.filter(taken_at__gte=since - patience, taken_at__lt=until + patience)
        readings = [moment(at) for at in near.values_list(as_text("taken_at"), flat=True)]
        found += _holes([first, *readings], max(since, first), until, patience)
    return in_a_row(found)


def _holes(readings: Sequence[datetime], since: datetime, until: datetime, patience: timedelta) -> Iterable[Stretch]:
    for before, after in pairwise(sorted(readings)):
        if after - before > patience and after > since and before < until:
            yield Stretch(max(before, since), min(after, until), f"no reading between {iso(before)} and {iso(after)}")
    last = max(readings)
    if until > last + patience:
        yield Stretch(max(last, since), until, f"no reading after {iso(last)}")


def _before_the_kept(group: ConsumerGroup, since: datetime, until: datetime, first: datetime) -> Iterable[Stretch]:
    length = timedelta(seconds=TEN_MINUTES)
    windows = GroupWindow.objects.filter(
        group=group, step_seconds=TEN_MINUTES, start__gt=since - length, start__lt=until, readings__gt=0
    )
    covered = [(start, start + length) for start in windows.values_list("start", flat=True)]
    for start, end in uncovered(covered, since, until):
        yield Stretch(
            start, end, f"no reading is kept of the time before {iso(first)}, nor a window of its ten minutes"
        )
