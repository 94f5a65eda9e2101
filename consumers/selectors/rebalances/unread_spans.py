"""Times in which groups were not read: whether their members came to rest meanwhile nobody knows."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from consumers.models import ConsumerGroup, QueueSnapshot, Reading

Span = tuple[datetime, datetime]  # the last reading before it, and the first one after it
Key = tuple[int, str]  # cluster and broker; of the whole cluster under no name
# SQLite takes no more than some thousand parameters in one statement.
AT_ONCE = 500


def unread_spans(
    groups: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> Mapping[int, Sequence[Span]]:
    """By group id, in order: what is longer than `longest` within [since, until] and in which its cluster was not read,
    or a broker that holds queues of it. What was before the first reading that is kept counts as not read.

    Groups that were always read are left out. Two queries, and one for each 500 groups where a broker was not read.
    """
    clusters = {pk: cluster for pk, cluster in ConsumerGroup.objects.values_list("pk", "cluster") if pk in groups}
    spans = _by_broker(set(clusters.values()), since, until, longest)
    held = _brokers(groups) if any(broker for _, broker in spans) else {}
    found = {
        group: {span for broker in ("", *held.get(group, ())) for span in spans.get((cluster, broker), ())}
        for group, cluster in clusters.items()
    }
    return {group: sorted(own) for group, own in found.items() if own}


def _brokers(groups: Collection[int]) -> dict[int, set[str]]:
    held: dict[int, set[str]] = {}
    ordered = sorted(groups)
    for start in range(0, len(ordered), AT_ONCE):
        rows = QueueSnapshot.objects.filter(group__in=ordered[start : start + AT_ONCE]).order_by()
        for group, broker in rows.values_list("group_id", "queue__broker").distinct():
            held.setdefault(group, set()).add(broker)
    return held


def _by_broker(
    clusters: Collection[int], since: datetime, until: datetime, longest: timedelta
) -> dict[Key, list[Span]]:
    read: dict[Key, list[datetime]] = {(cluster, ""): [since] for cluster in clusters}
    rows = Reading.objects.filter(cluster__in=clusters, taken_at__gte=since - longest, taken_at__lte=until)
    columns = ("cluster", "taken_at", "brokers", "error")
    for cluster, at, brokers, error in rows.order_by("taken_at").values_list(*columns).iterator():
        for one in brokers:
            # Nothing was missed of one that no reading named before.
            times = read.setdefault((cluster, str(one["name"])), [at])
            if one["read"]:
                times.append(at)
        if error is None or any(one["read"] for one in brokers):
            read[cluster, ""].append(at)
    spans = {key: list(_longer([*times, until], longest)) for key, times in read.items()}
    return {key: found for key, found in spans.items() if found}


def _longer(times: Sequence[datetime], longest: timedelta) -> Iterator[Span]:
    return ((before, after) for before, after in pairwise(times) if after - before > longest)
