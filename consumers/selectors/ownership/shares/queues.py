"""The queues of a group that may have an owner: those of its topics, and whatever anyone was seen to hold."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from consumers.models import ConsumerGroup, Queue, QueueSnapshot, Topic, TopicKind


class OwnableQueue(NamedTuple):
    """A tuple, because a picture has thousands of them."""

    pk: int
    topic: str
    broker: str
    queue_id: int
    topic_id: int
    readable: bool | None
    first_seen_at: datetime | None
    readable_since: datetime | None


def ownable_queues(
    group: ConsumerGroup, held: Collection[int], *, topic: str | None = None, retries: bool = True
) -> list[OwnableQueue]:
    """In order of topic, broker and id. Four queries, none over all queues of a cluster.

    `held`: the keys of queues that were held. The group's own dead letters are left out, which no member consumes, and
    queues that give no messages, unless they were held.
    """
    own = set(QueueSnapshot.objects.filter(group=group).order_by().values_list("queue__topic", flat=True).distinct())
    subscribed = [subscription["topic"] for subscription in group.subscriptions]
    own |= set(Topic.objects.filter(cluster=group.cluster_id, name__in=subscribed).values_list("pk", flat=True))
    ever = set(Queue.objects.filter(assignments__group=group).order_by().values_list("topic", flat=True).distinct())
    rows = Queue.objects.filter(topic__in=own | ever).exclude(topic__name=f"%DLQ%{group.name}")
    if topic is not None:
        rows = rows.filter(topic__name=topic)
    if not retries:
        rows = rows.exclude(topic__kind=TopicKind.RETRY)
    columns = ("pk", "topic__name", *OwnableQueue._fields[2:])
    ordered = map(OwnableQueue._make, rows.order_by("topic__name", "broker", "queue_id").values_list(*columns))
    return [queue for queue in ordered if queue.pk in held or (queue.topic_id in own and queue.readable is not False)]
