"""What is due and not consumed: the queues of a group's own retry topics, POP's among them, as they were last read.

A message is stored in them when it is due: their time lag counts from then.
"""

from datetime import datetime

from consumers.models import ConsumerGroup, QueueSample, QueueSnapshot, QueueState
from consumers.polling.brokers.rows import kind_in_group
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.selectors.brokers import ClusterAge
from consumers.selectors.limits import limits
from consumers.selectors.overlay import asked_time_lag, offsets, time_lag, unjudged_reason

from .ladder_rows import DueRetries

NO_QUEUES = "the group has no retry topic that was read yet"


def due_retries(group: ConsumerGroup, age: ClusterAge, now: datetime) -> DueRetries:
    """Three queries."""
    limit, brokers = limits(), {broker.name: broker for broker in age.brokers}
    named = QueueSnapshot.objects.filter(group=group, queue__topic__name__startswith=RETRY_PREFIX)
    rows = [
        row
        for row in named.select_related("queue__topic").order_by(
            "queue__topic__name", "queue__broker", "queue__queue_id"
        )
        if kind_in_group(group.name, row.queue.topic.name) == "retry"
    ]
    queues = [row.queue_id for row in rows]
    states = {state.queue_id: state for state in QueueState.objects.filter(group=group, queue__in=queues)}
    samples = {one.queue_id: one for one in QueueSample.objects.filter(group=group, queue__in=queues)}
    unjudged = unjudged_reason(getattr(group, "judged", None), now, limit)
    lags: list[int] = []
    oldest: list[float] = []
    unknown: dict[str, str] = {}
    for row in rows:
        broker = brokers.get(row.queue.broker)
        read = offsets(row, broker, now, limit)
        asked = asked_time_lag(samples.get(row.queue_id), read, broker, limit)
        late = time_lag(read, states.get(row.queue_id), unjudged, asked)
        where = f"{row.queue.topic.name}, queue {row.queue.queue_id} on {row.queue.broker}"
        if read.lag_messages is None:
            unknown.setdefault("lag_messages", f"{where}: {read.reason}")
        else:
            lags.append(read.lag_messages)
        if late.seconds is None:
            unknown.setdefault("oldest_seconds", f"{where}: {late.reason}")
        else:
            oldest.append(late.seconds)
    if not rows:
        unknown = dict.fromkeys(("lag_messages", "lag_messages_at_least", "oldest_seconds"), NO_QUEUES)
    elif not lags:
        unknown["lag_messages_at_least"] = unknown["lag_messages"]
    return DueRetries(
        queues=len(rows),
        lag_messages=sum(lags) if rows and "lag_messages" not in unknown else None,
        lag_messages_at_least=sum(lags) if lags else None,
        oldest_seconds=max(oldest) if oldest and "oldest_seconds" not in unknown else None,
        unknown=unknown,
    )
