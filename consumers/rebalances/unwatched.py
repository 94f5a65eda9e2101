"""Times when groups were not read, or not evaluated: nobody knows what their members did meanwhile.

Whether they settled is unknown then, and what is counted over an hour or a day with such a time is a lower bound.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from django.conf import settings

from consumers.models import ConsumerGroup, PipelineRun, Reading
from consumers.queries.groups import brokers_of
from consumers.queries.limits import limits

Span = tuple[datetime, datetime]  # the last reading before such a time, and the first one after it

Key = tuple[int, str]  # cluster and broker; the name is empty for the whole cluster


def unread_spans(
    groups: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> Mapping[int, Sequence[Span]]:
    """By group id, in order: times longer than `longest` within [since, until] when the group's cluster, or a broker
    that holds queues of it, was not read. The time before the first stored reading counts as not read.

    Groups that were always read are left out. Two queries, one more for clusters that were not always read completely,
    and one for each 500 groups where a broker was not read.
    """
    clusters = {pk: cluster for pk, cluster in ConsumerGroup.objects.values_list("pk", "cluster") if pk in groups}
    spans = _by_broker(set(clusters.values()), since, until, longest)
    held = brokers_of(groups) if any(broker for _, broker in spans) else {}
    found = {
        group: {span for broker in ("", *held.get(group, ())) for span in spans.get((cluster, broker), ())}
        for group, cluster in clusters.items()
    }
    return {group: sorted(own) for group, own in found.items() if own}


def _by_broker(
    clusters: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> dict[Key, list[Span]]:
    read: dict[Key, list[datetime]] = {(cluster, ""): [since] for cluster in clusters}
    rows = Reading.objects.filter(cluster__in=clusters, taken_at__gte=since - longest, taken_at__lte=until)
    rows = rows.order_by("taken_at")
    failed: set[int] = set()
    # Of a day thousands of readings name all brokers: of clusters that were read completely they tell nothing.
    for cluster, at, complete in rows.values_list("cluster", "taken_at", "complete").iterator():
        read[cluster, ""].append(at)
        if not complete:
            failed.add(cluster)
    read |= {(cluster, ""): [since] for cluster in failed}
    columns = ("cluster", "taken_at", "brokers", "error")
    partly = rows.filter(cluster__in=failed).values_list(*columns).iterator() if failed else ()
    for cluster, at, brokers, error in partly:
        for one in brokers:
            # Nothing was missed of a broker that no earlier reading named.
            times = read.setdefault((cluster, str(one["name"])), [at])
            if one["read"]:
                times.append(at)
        if error is None or any(one["read"] for one in brokers):
            read[cluster, ""].append(at)
    spans = {key: list(_longer([*times, until], longest)) for key, times in read.items()}
    return {key: found for key, found in spans.items() if found}


def _longer(times: Sequence[datetime], longest: timedelta) -> Iterator[Span]:
    return ((before, after) for before, after in pairwise(times) if after - before > longest)


def quiet() -> timedelta:
    """For how long a group must be settled before its episode ends."""
    return timedelta(seconds=settings.JUDGE["rebalance_merge_seconds"])


def unwatched_spans(groups: Collection[int], since: datetime, until: datetime) -> Mapping[int, Sequence[Span]]:
    """By group id, in order: times within [since, until] when brokers of the group were not read, or what was read was
    not evaluated. Groups that were always watched are left out.

    Three queries, one more for clusters that were not always read completely, and one for each 500 groups where a
    broker was not read.
    """
    longest = max(quiet(), timedelta(seconds=limits().late_seconds))
    found = unread_spans(groups, since, until, longest)
    gaps = list(_unevaluated(since, until))
    return {group: sorted({*found.get(group, ()), *gaps}) for group in groups} if gaps else found


def longest_of(spans: Sequence[Span]) -> Span:
    return max(spans, key=lambda span: span[1] - span[0])


def _unevaluated(since: datetime, until: datetime) -> Iterator[Span]:
    """After a long pause a run leaves out what lies too long ago. What no run could evaluate yet is no gap."""
    done = PipelineRun.objects.filter(error=None, finished_at__isnull=False, since__lt=until, until__gt=since)
    end = since
    for begin, over in done.order_by("since").values_list("since", "until"):
        if begin > end:
            yield end, begin
        end = max(end, over)
    if end < limits().judged_since(until):
        yield end, until
