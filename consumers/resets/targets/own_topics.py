"""The topics that a reset of a group is about where nobody chose any."""

from consumers.models import ConsumerGroup, QueueSnapshot, Topic, TopicKind


def own_topics(group: ConsumerGroup) -> list[str]:
    """Those with offsets of the group, and those that its members subscribe to: normal ones, by name."""
    with_offsets = QueueSnapshot.objects.filter(group=group).order_by().values("queue__topic").distinct()
    subscribed = [subscription["topic"] for subscription in group.subscriptions]
    normal = Topic.objects.filter(cluster=group.cluster_id, kind=TopicKind.NORMAL)
    names = set(normal.filter(pk__in=with_offsets).values_list("name", flat=True))
    return sorted(names.union(normal.filter(name__in=subscribed).values_list("name", flat=True)))
