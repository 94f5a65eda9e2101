"""A group of which everything that health looks at is known, and nothing is wrong."""

from consumers.models import Cluster, ConsumerGroup, GroupState, GroupTotal, GroupWindow
from tests.browser.fleets import a_fleet, read_for_an_hour
from tests.retry_rows import retries_work, volumes_flow
from tests.world import a_broker, a_cluster

BROKERS = ("broker-a", "broker-b")


def a_read_cluster(name: str = "prod") -> Cluster:
    cluster = a_cluster(name, read_at=None)
    for broker in BROKERS:
        a_broker(cluster, broker)
    read_for_an_hour(cluster)
    return cluster


def a_healthy_group(cluster: Cluster, name: str = "billing", state: str = "OK", lag: int = 0) -> ConsumerGroup:
    """Three members that share eight queues as they are to; no dead letter in the hour that was watched."""
    group = a_fleet(cluster, name, f"{name}-orders", BROKERS, 8, 3)
    group.rebalances.all().delete()
    GroupTotal.objects.filter(group=group).update(lag_messages=lag, lag_messages_at_least=lag)
    GroupState.objects.filter(group=group).update(state=state, dlq_day_messages=None)
    group.refresh_from_db()
    retries_work(group)
    volumes_flow(group)
    GroupWindow.objects.filter(group=group).update(into_dlq=0)
    return group
