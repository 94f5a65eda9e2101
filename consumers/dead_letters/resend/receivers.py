"""Which groups a topic's messages reach: those that were seen to consume it, or that subscribe to it."""

from collections.abc import Collection

from consumers.models import Cluster, ConsumerGroup


def receivers(cluster: Cluster, topics: Collection[str]) -> list[str]:
    """Two queries. Groups that no reading has seen are not among them."""
    groups = ConsumerGroup.objects.filter(cluster=cluster).order_by()
    read = groups.filter(snapshots__queue__topic__name__in=topics, snapshots__queue__topic__cluster=cluster)
    subscribed = groups.filter(client_subscriptions__topic__in=topics, client_subscriptions__gone_by=None)
    return sorted({*read.values_list("name", flat=True), *subscribed.values_list("name", flat=True)})
