"""Numbers of single queues, for scrapers that want so many series: the greatest lags of all groups, and every queue of
groups that are named.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from django.db.models import F

from consumers.groups.overlay import Overlay
from consumers.models import QueueSample, QueueSnapshot, TimeLagKind
from consumers.overview.exporter import CHUNK, KNOWN_LAG, KNOWN_OFFSET
from consumers.overview.waits import NOT_JUDGED, Wait, first_wait, store_times, with_evaluated
from consumers.queries.limits import BrokerAge


class QueueLag(NamedTuple):
    group_id: int
    topic: str
    broker: str
    queue_id: int
    lag_messages: int


def queue_lags(overlay: Overlay, cluster: str | None = None, besides: Collection[int] = ()) -> Iterator[QueueLag]:
    """Yields known queues on brokers whose lags are exact, the greatest lag first, without those of the groups
    `besides`. One query."""
    rows = QueueSnapshot.objects.filter(KNOWN_LAG).exclude(group__in=besides)
    if cluster is not None:
        rows = rows.filter(group__cluster__name=cluster)
    exact = _brokers(overlay, overlay.has_exact_lags)
    columns = ("group_id", "queue__topic__name", "queue__broker", "queue__queue_id", "lag")
    found = rows.annotate(lag=F("broker_offset") - F("consumer_offset")).order_by("-lag", "pk")
    for of_cluster, *values in found.values_list("group__cluster_id", *columns).iterator(chunk_size=CHUNK):
        if (of_cluster, values[2]) in exact:
            yield QueueLag(*values)


class QueueNumbers(NamedTuple):
    """Null is unknown. `broker_offset` and `lag_messages` are known together. `time_lag_seconds` is 0 without lag; its
    kind is at_least where the message may have waited for longer.
    """

    group_id: int
    topic: str
    broker: str
    queue_id: int
    consumer_offset: int
    broker_offset: int | None
    lag_messages: int | None
    time_lag_seconds: float | None
    time_lag_kind: str | None


def queue_numbers(overlay: Overlay, groups: Collection[int], judged: Collection[int]) -> Sequence[QueueNumbers]:
    """Queues with a consumer offset on brokers that are read, by group, topic, broker and queue id. Of groups outside
    `judged` no evaluated time lag counts: it is late. Two queries."""
    if not groups:
        return []
    rows = with_evaluated(QueueSnapshot.objects.filter(KNOWN_OFFSET, group__in=groups))
    columns = ("group_id", "queue__topic__name", "queue__broker", "queue__queue_id")
    numbers = ("queue_id", "consumer_offset", "broker_offset", "unknown_reason", "first_stored_us")
    waits = ("judged_seconds", "judged_kind")
    samples = store_times(QueueSample.objects.filter(group__in=groups))
    read = _brokers(overlay, lambda age: not overlay.is_unread(age))
    exact = _brokers(overlay, overlay.has_exact_lags)
    read_at = {(age.cluster_id, age.name): age.last_read_at for age in overlay.brokers.values()}
    found = []
    for of_cluster, group, topic, broker, queue_id, queue, offset, end, unknown, first_us, *waited in (
        rows.order_by(*columns).values_list("group__cluster_id", *columns, *numbers, *waits).iterator(chunk_size=CHUNK)
    ):
        if (of_cluster, broker) not in read:
            continue
        at_least = end - offset if unknown is None and end is not None else None
        lag = at_least if (of_cluster, broker) in exact else None
        wait: Wait = (0.0, TimeLagKind.EXACT) if lag == 0 else NOT_JUDGED
        if at_least:
            # Its first message is known, whatever its broker hides behind it.
            of_judged = tuple(waited) if group in judged else NOT_JUDGED
            wait = first_wait(samples.get((group, queue)), offset, first_us, read_at[of_cluster, broker], of_judged)
        shown_end = None if lag is None else end
        found.append(QueueNumbers(group, topic, broker, queue_id, offset, shown_end, lag, *wait))
    return found


def _brokers(overlay: Overlay, chosen: Callable[[BrokerAge], bool]) -> set[tuple[int, str]]:
    return {(age.cluster_id, age.name) for age in overlay.brokers.values() if chosen(age)}
