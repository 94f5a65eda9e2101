"""Time lags of queues for metrics, with the same values as on pages, from columns that are read in bulk."""

from datetime import datetime

from django.db.models import FloatField, OuterRef, QuerySet, Subquery

from consumers.models import QueueSample, QueueSnapshot, QueueState, TimeLagKind
from consumers.queries.queues.overlay import polled_seconds, seconds_between

# Seconds and kind; null where unknown.
Wait = tuple[float | None, str | None]
NOT_JUDGED: Wait = (None, None)

# By group and queue id: the offset that a broker was asked for, and when its message was stored.
StoreTimes = dict[tuple[int, int], tuple[int | None, datetime]]


def store_times(samples: QuerySet[QueueSample]) -> StoreTimes:
    """One query."""
    columns = ("group_id", "queue_id", "offset", "first_stored_at")
    rows = samples.filter(first_stored_at__isnull=False).values_list(*columns)
    return {(group, queue): (offset, at) for group, queue, offset, at in rows if at is not None}


def with_evaluated(rows: QuerySet[QueueSnapshot]) -> QuerySet[QueueSnapshot]:
    """Adds `judged_seconds` and `judged_kind`, the evaluated time lag."""
    state = QueueState.objects.filter(group=OuterRef("group_id"), queue=OuterRef("queue_id"))
    return rows.annotate(
        judged_seconds=Subquery(state.values("time_lag_seconds")[:1], output_field=FloatField()),
        judged_kind=Subquery(state.values("time_lag_kind")[:1]),
    )


def first_wait(
    sample: tuple[int | None, datetime] | None,
    offset: int,
    first_stored_us: int | None,
    read_at: datetime | None,
    judged: Wait,
) -> Wait:
    """Returns the time lag of a queue with lag: by the broker's store time of the message at exactly this offset, else
    by the evaluation, and by the polls where the lag is newer than that. The order is that of overlay.time_lag.
    """
    if sample is not None and sample[0] == offset and read_at is not None:
        seconds = seconds_between(sample[1], read_at)
        if seconds is not None:
            return seconds, TimeLagKind.EXACT
    if judged[0] == 0 and (polled := polled_seconds(first_stored_us, read_at)) is not None:
        return polled, TimeLagKind.INTERPOLATED
    return judged if judged[0] else NOT_JUDGED
