"""What is due and not consumed: the queues of a group's own retry topics, POP's among them, as they were last read.

A message is stored in them when it is due: their time lag counts from then.
"""

from dataclasses import dataclass
from datetime import datetime

from consumers.models import ConsumerGroup, QueueSample, QueueSnapshot, QueueState
from consumers.polling.brokers.rows import kind_in_group
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.selectors.brokers import ClusterAge
from consumers.selectors.limits import limits
from consumers.selectors.overlay import asked_time_lag, offsets, time_lag, unjudged_reason

from .ladder_rows import DueRetries

NO_QUEUES = "the group has no retry topic that was read yet"


@dataclass(frozen=True)
class _Queue:
    """Of one retry queue, why one of them is null beside it."""

    lag: int | None
    no_lag: str
    seconds: float | None
    no_seconds: str


def due_retries(group: ConsumerGroup, age: ClusterAge, now: datetime) -> DueRetries:
    """Three queries."""
    queues = _queues(group, age, now)
    if not queues:
        names = ("lag_messages", "lag_messages_at_least", "oldest_seconds")
        nothing = dict.fromkeys(names, NO_QUEUES)
        return DueRetries(queues=0, lag_messages=None, lag_messages_at_least=None, oldest_seconds=None, unknown=nothing)
    lags = [queue.lag for queue in queues if queue.lag is not None]
    no_lag = next((queue.no_lag for queue in queues if queue.lag is None), None)
    no_seconds = next((queue.no_seconds for queue in queues if queue.seconds is None), None)
    reasons = {
        "lag_messages": no_lag,
        "lag_messages_at_least": None if lags else no_lag,
        "oldest_seconds": no_seconds,
    }
    return DueRetries(
        queues=len(queues),
        lag_messages=sum(lags) if no_lag is None else None,
        lag_messages_at_least=sum(lags) if lags else None,
        oldest_seconds=max(queue.seconds or 0.0 for queue in queues) if no_seconds is None else None,
        unknown={name: why for name, why in reasons.items() if why is not None},
    )


def _queues(group: ConsumerGroup, age: ClusterAge, now: datetime) -> list[_Queue]:
    limit, brokers = limits(), {broker.name: broker for broker in age.brokers}
    named = QueueSnapshot.objects.filter(group=group, queue__topic__name__startswith=RETRY_PREFIX)
    ordered = named.select_related("queue__topic").order_by("queue__topic__name", "queue__broker", "queue__queue_id")
    rows = [row for row in ordered if kind_in_group(group.name, row.queue.topic.name) == "retry"]
    keys = [row.queue_id for row in rows]
    states = {state.queue_id: state for state in QueueState.objects.filter(group=group, queue__in=keys)}
    samples = {one.queue_id: one for one in QueueSample.objects.filter(group=group, queue__in=keys)}
    unjudged = unjudged_reason(getattr(group, "judged", None), now, limit)
    found = []
    for row in rows:
        broker, place = brokers.get(row.queue.broker), row.queue
        read = offsets(row, broker, now, limit)
        asked = asked_time_lag(samples.get(row.queue_id), read, broker, limit)
        late = time_lag(read, states.get(row.queue_id), unjudged, asked)
        where = f"{place.topic.name}, queue {place.queue_id} on {place.broker}"
        found.append(_Queue(read.lag_messages, f"{where}: {read.reason}", late.seconds, f"{where}: {late.reason}"))
    return found
