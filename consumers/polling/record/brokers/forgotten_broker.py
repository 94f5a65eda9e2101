"""Forgets a broker that was taken out of its cluster for good: until then nobody can tell it from one that is down."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from consumers.models import (
    Assignment,
    Broker,
    Cluster,
    DeadLetter,
    DeadLetterLook,
    DelayLevel,
    GroupBroker,
    HeadMessage,
    Queue,
    QueueSample,
    QueueSnapshot,
    QueueState,
    Rung,
)

MASTER = 0


class BrokerStays(Exception):
    """str() is one sentence: why it is not forgotten."""


def forget_broker(cluster: Cluster, name: str) -> int:
    """With all rows of its queues; how many queues. Raises BrokerStays. Whoever calls holds the cluster's poll."""
    if against := _why_not(cluster, name):
        raise BrokerStays(against)
    with transaction.atomic():
        for rows in _on(cluster, name):
            rows.delete()
        queues = Queue.objects.filter(topic__cluster=cluster, broker=name)
        count = queues.count()
        queues.delete()
        cluster.brokers.filter(name=name).delete()
    return count


def _why_not(cluster: Cluster, name: str) -> str | None:
    found: Broker | None = cluster.brokers.filter(name=name, broker_id=MASTER).first()
    if found is None:
        names = sorted(set(cluster.brokers.values_list("name", flat=True)))
        known = f"it has {', '.join(names)}" if names else "it has none yet"
        return f"{cluster.name} has no broker {name!r}: {known}."
    if found.last_read_at is not None and found.failing_since is None:
        return f"{name} was read when it was asked last: only a broker that does not answer can be forgotten."
    return None


def _on(cluster: Cluster, name: str) -> list[QuerySet[Any]]:
    """What hangs on its queues first, so that queues go without being looked up one by one."""
    of_queues = {"queue__broker": name, "queue__topic__cluster": cluster}
    of_groups = {"broker": name, "group__cluster": cluster}
    return [
        *(
            model.objects.filter(**of_queues)
            for model in (QueueSnapshot, QueueState, QueueSample, HeadMessage, Assignment)
        ),
        *(model.objects.filter(**of_groups) for model in (GroupBroker, Rung, DeadLetter, DeadLetterLook)),
        DelayLevel.objects.filter(cluster=cluster, broker=name),
    ]
