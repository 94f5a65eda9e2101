"""Rows of members that hold messages which they do not finish."""

from consumers.models import (
    Assignment,
    Broker,
    Client,
    ConsumerGroup,
    GroupBroker,
    HeadMessage,
    Queue,
    QueueSnapshot,
    Topic,
)
from tests.readings import T0, at

NOW = at(600)
FAILING = {"Stock": {"consume_failed_tps": 0.9, "consume_ok_tps": 0.0, "consume_failed_messages": 30, "consume_rt": 2}}


def a_broker(cluster, name):
    permissions = {"permission": 6, "config_at": at(590), "routed_permission": 6, "routed_at": at(590)}
    Broker.objects.create(
        cluster=cluster, name=name, broker_id=0, address="a:1", last_read_at=at(595), reachable=True, **permissions
    )


def a_group(cluster, name, kind="user"):
    group = ConsumerGroup.objects.create(
        cluster=cluster, name=name, kind=kind, first_seen_at=T0, message_model="CLUSTERING"
    )
    configure(group, "broker-a")
    return group


def configure(group, broker):
    permissions = {f"%RETRY%{group.name}": 6}
    GroupBroker.objects.create(
        group=group, broker=broker, configured=True, retry_permissions=permissions, retry_queue_nums=1, changed_at=T0
    )


def a_queue(cluster, topic="Stock", queue_id=3, kind="normal"):
    row, _ = Topic.objects.get_or_create(cluster=cluster, name=topic, defaults={"kind": kind, "first_seen_at": T0})
    return Queue.objects.get_or_create(topic=row, broker="broker-a", queue_id=queue_id, defaults={"first_seen_at": T0})[
        0
    ]


def hold(group, *, queue_id=3, client_id="c1", orderly=True, consumer_offset=100, **held):
    """A head at 100 that stands for five minutes, of a member that was heard ten seconds ago."""
    queue = a_queue(group.cluster, queue_id=queue_id)
    Client.objects.get_or_create(
        group=group,
        client_id=client_id,
        defaults={
            "address": "10.0.0.7:3312",
            "language": "JAVA",
            "orderly": orderly,
            "consume_status": FAILING,
            "settings": {"consumeTimeout": "15"},
            "seen_since": T0,
            "last_seen": NOW,
        },
    )
    QueueSnapshot.objects.create(
        group=group, queue=queue, consumer_offset=consumer_offset, broker_offset=150, changed_at=T0
    )
    said = {"cached_min": 100, "cached_max": 109, "cached_count": 4, "commit_offset": 100, "head_since": at(300)}
    times = {"last_pull_at": at(589), "last_consume_at": at(588), "last_lock_at": at(580)}
    values = {"seen_since": T0, "last_seen": at(590), **said, **times, **held}
    return Assignment.objects.create(group=group, queue=queue, client_id=client_id, **values)


def look_up(assignment, **found):
    message = {
        "message_id": "7F0001",
        "keys": "order-7",
        "tags": "a",
        "reconsume_times": 0,
        "size": 12,
        "born_at": T0,
        "stored_at": T0,
    }
    HeadMessage.objects.create(
        group=assignment.group,
        queue=assignment.queue,
        client_id=assignment.client_id,
        since=at(300),
        asked_at=NOW,
        **{"offset": 100, **message, **found},
    )
