"""The queues that a rebalance left where they were, with who held them."""

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Q

from consumers.models import Assignment, Queue, Rebalance

from .rows import Move, Stayed

# By topic, then by broker and queue id: who was seen to hold the queue when it was over; none: nobody is known to.
Holders = dict[str, dict[tuple[str, int], list[str]]]


def holders(row: Rebalance) -> Holders:
    """Of the queues that the rebalance's topics had then. Two queries."""
    at = row.settled_at or row.last_change_at
    topics = [topic.topic for topic in row.topics.all()]
    found: Holders = defaultdict(dict)
    queues = Queue.objects.filter(topic__cluster=row.group.cluster_id, topic__name__in=topics)
    # A queue that was first seen later was no part of it; one without that time is from before it was recorded.
    then = queues.filter(Q(first_seen_at=None) | Q(first_seen_at__lte=at))
    for topic, broker, queue_id in then.values_list("topic__name", "broker", "queue_id"):
        found[topic][broker, queue_id] = []
    held = Assignment.objects.filter(group=row.group_id, seen_since__lte=at, queue__topic__name__in=topics)
    held = held.filter(Q(gone_by=None) | Q(gone_by__gt=at)).order_by("client_id")
    for topic, broker, queue_id, owner in held.values_list(
        "queue__topic__name", "queue__broker", "queue__queue_id", "client_id"
    ):
        found[topic].setdefault((broker, queue_id), []).append(owner)
    return found


def stayed(held: dict[tuple[str, int], list[str]], moves: Sequence[Move]) -> list[Stayed]:
    told = {(move.broker, move.queue_id) for move in moves}
    rest = sorted(key for key in held if key not in told)
    return [Stayed(broker, queue_id, tuple(held[broker, queue_id]) or None) for broker, queue_id in rest]
