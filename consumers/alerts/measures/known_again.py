"""Until when something else left the groups of a cluster unknown: from then on it is a matter of their own.

What was not read, or not judged, is judged again some readings later: a group is UNKNOWN for a while after its broker
is back, and would else be told of for all the time that its broker was away.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from consumers.models import PipelineRun, Reading
from consumers.selectors.groups.overlay import Overlay

# Whoever came back before that has been judged since.
BACK = timedelta(minutes=30)
# Stands for all brokers where a reading knew none.
EVERY_BROKER = frozenset({""})

Seen = tuple[datetime, frozenset[str]]  # when it was read, and the brokers that were not


def known_again(overlay: Overlay) -> dict[int, datetime]:
    """By cluster id: when one of its brokers, or the site, was read or judged again after it had not been.

    Clusters where that was long ago, or never, are left out. Four queries, and one for each cluster that was not read.
    """
    judged = _judged_again(overlay)
    found = {} if judged is None else dict.fromkeys(overlay.clusters, judged)
    for cluster, readings in _readings(overlay).items():
        if (read := _read_again(readings, overlay.limits.late_seconds)) is not None:
            found[cluster] = max(read, found.get(cluster, read))
    return found


def _readings(overlay: Overlay) -> dict[int, list[Seen]]:
    """Those of late in order of time, after the newest one before them where these begin late."""
    start, found = overlay.now - BACK, dict[int, list[Seen]]()
    rows = Reading.objects.filter(taken_at__gt=start, taken_at__lte=overlay.now).order_by("taken_at")
    for cluster, at, brokers, error in rows.values_list("cluster", "taken_at", "brokers", "error").iterator():
        found.setdefault(cluster, []).append((at, _unread(brokers, error)))
    for cluster, readings in found.items():
        if readings[0][0] - start > timedelta(seconds=overlay.limits.late_seconds):
            older = Reading.objects.filter(cluster=cluster, taken_at__lte=start).order_by("-taken_at")
            readings[:0] = [(one.taken_at, _unread(one.brokers, one.error)) for one in older[:1]]
    return found


def _unread(brokers: Sequence[dict[str, object]], error: str | None) -> frozenset[str]:
    if error is not None and not brokers:
        return EVERY_BROKER
    return frozenset(str(one["name"]) for one in brokers if not one["read"])


def _read_again(readings: Sequence[Seen], late_seconds: float) -> datetime | None:
    late, again = timedelta(seconds=late_seconds), None
    for (before, missed), (at, missing) in pairwise(readings):
        if at - before > late or missed - missing:
            again = at
    return again


def _judged_again(overlay: Overlay) -> datetime | None:
    """When the first run ended after which judgements held again."""
    start, again = overlay.now - BACK, None
    good = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=overlay.now)
    rows = good.filter(finished_at__gt=start).order_by("finished_at").values_list("until", "finished_at")
    ends = [(until, finished_at) for until, finished_at in rows if finished_at is not None]
    judged_until = good.filter(finished_at__lte=start).order_by("-until").values_list("until", flat=True).first()
    for until, finished_at in ends:
        if judged_until is None or judged_until < overlay.limits.judged_since(finished_at):
            again = finished_at
        judged_until = max(until, judged_until or until)
    return again
