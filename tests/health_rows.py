"""A group of which everything that health looks at is known, and nothing is wrong; and findings as the health task
stores them.
"""

from hashlib import sha256
from typing import Any

from consumers.models import Cluster, ConsumerGroup, GroupHealth, GroupState, GroupTotal, GroupWindow, StoredFinding
from tests.browser.fleets import a_fleet, read_for_an_hour
from tests.retry_rows import retries_work, volumes_flow
from tests.world import a_broker, a_cluster, ago

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


def a_finding(subject: ConsumerGroup | Cluster, code: str, severity: str = "critical", **fields: Any) -> StoredFinding:
    """Of a group; or of a broker or file of a cluster. It began ten minutes ago."""
    of_group = {"group": subject, "group_name": subject.name} if isinstance(subject, ConsumerGroup) else {}
    cluster = subject.cluster if isinstance(subject, ConsumerGroup) else subject
    values: dict[str, Any] = {
        "identity": sha256(f"{code} {subject.pk} {fields}".encode()).hexdigest(),
        "since": ago(600),
        "last_seen_at": ago(10),
    }
    values |= {"code": code, "severity": severity, "cluster": cluster, **of_group}
    return StoredFinding.objects.create(**(values | fields))


def was_checked(*groups: ConsumerGroup, seconds_ago: float = 10) -> None:
    for group in groups:
        GroupHealth.objects.update_or_create(
            group=group, defaults={"level": "ok", "noted_at": ago(seconds_ago), "checked_at": ago(seconds_ago)}
        )
