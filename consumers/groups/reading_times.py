"""What the times of readings say of groups, in SQL: when their numbers were read, and how long a lag had lasted."""

from collections.abc import Iterator, Mapping

from django.db import models
from django.db.models import Case, ExpressionWrapper, F, Q, Value, When
from django.db.models.functions import Coalesce

from consumers.models import TimeLagKind
from consumers.queries.limits import ClusterAge
from consumers.queries.queues.overlay import SECOND_US
from consumers.vocabulary.times import microseconds


def polled_waits(clusters: Mapping[int, ClusterAge]) -> Iterator[tuple[Q, ExpressionWrapper]]:
    """Of each cluster which of its groups polls tell a time lag of, and that in seconds."""
    is_young = Q(judged__time_lag_seconds=0, judged__time_lag_kind=TimeLagKind.EXACT, total__lag_messages__gt=0)
    for pk, cluster in clusters.items():
        if cluster.newest_reading_at is not None:
            at_us = microseconds(cluster.newest_reading_at)
            waited = (at_us - F("total__first_stored_us")) / Value(float(SECOND_US))
            is_told = is_young & Q(cluster=pk, total__first_stored_us__lt=at_us)
            yield is_told, ExpressionWrapper(waited, models.FloatField())


def taken_at(clusters: Mapping[int, ClusterAge]) -> Coalesce | F:
    # Without a time there is nothing to choose from; PostgreSQL would type a choice of nulls as text.
    times = [
        When(unread_by=broker.id, then=Value(broker.last_read_at))
        for cluster in clusters.values()
        for broker in cluster.brokers
        if broker.last_read_at is not None
    ]
    newest = [
        When(cluster=cluster.id, unread_by__isnull=True, then=Value(cluster.newest_reading_at))
        for cluster in clusters.values()
        if cluster.newest_reading_at is not None
    ]
    if not times and not newest:
        return F("total__last_good_at")
    by_broker = Case(*times, *newest, output_field=models.DateTimeField())
    return Coalesce(F("total__last_good_at"), by_broker, output_field=models.DateTimeField())
