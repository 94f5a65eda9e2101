"""Groups that nobody read for a time since their last evaluation: their state was unknown meanwhile.

A run while brokers are not read makes states UNKNOWN. Where no run went on either, the next one finds the state of
before, which says nothing about the time between.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from consumers.models import GroupState, Reading

from .durations import Durations


def unknown_since(clusters: Sequence[str], judged_at: datetime, durations: Durations) -> dict[int, datetime]:
    """By group id, since when: of groups whose cluster was not read for too long between their last
    evaluation and this one. One query, and one for each cluster that was evaluated too long ago.
    """
    longest = timedelta(seconds=max(durations.unknown_after_seconds, 3 * durations.poll_seconds))
    late = GroupState.objects.filter(group__cluster__name__in=clusters, judged_at__lt=judged_at - longest)
    rows = list(late.values_list("group_id", "group__cluster_id", "judged_at"))
    begins: dict[int, datetime] = {}
    for _group, cluster, at in rows:
        begins[cluster] = min(at, begins.get(cluster, at))
    gaps = {cluster: list(_gaps(cluster, begin, judged_at, longest)) for cluster, begin in begins.items()}
    found: dict[int, datetime] = {}
    for group, cluster, at in rows:
        since = next((max(since, at) for since, end in gaps[cluster] if end > at), None)
        if since is not None:
            found[group] = since
    return found


def _gaps(cluster: int, begin: datetime, end: datetime, longest: timedelta) -> Iterator[tuple[datetime, datetime]]:
    """From when states were unknown until the next reading that read any broker."""
    rows = Reading.objects.filter(cluster=cluster, taken_at__gt=begin - longest, taken_at__lte=end)
    # Of a broker that is away for days there are thousands of readings, each with what it says of every broker.
    read = rows.exclude(Reading.READ_NOTHING).order_by("taken_at").values_list("taken_at", flat=True)
    return ((before + longest, after) for before, after in pairwise([*read, end]) if after - before > longest)
