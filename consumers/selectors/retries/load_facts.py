"""From rows to the facts that retry conditions are judged by: nine queries, whatever the group's size."""

from datetime import datetime, timedelta

from django.conf import settings

from consumers.models import Assignment, Broker, Client, ConsumerGroup, GroupBroker, Queue, QueueSnapshot, TopicKind
from consumers.polling.flags import BROADCASTING
from consumers.polling.members.popping import pop_answers
from consumers.rocketmq.names import retry_topic
from consumers.selectors.brokers import MASTER, ClusterAge, broker_ages
from consumers.selectors.limits import Limits, limits

from .facts import BrokerFacts, ClientFacts, GroupConfigured, GroupFacts, HeldQueue, Permission


def group_facts(cluster: str, group: str, now: datetime) -> GroupFacts:
    """Raises ConsumerGroup.DoesNotExist."""
    found = ConsumerGroup.objects.select_related("cluster").get(cluster__name=cluster, name=group)
    snapshots = list(QueueSnapshot.objects.filter(group=found).select_related("queue__topic"))
    clients = list(Client.objects.filter(group=found, gone_by=None).order_by("client_id"))
    return GroupFacts(
        cluster=cluster,
        group=group,
        namesrv=found.cluster.namesrv,
        now=now,
        brokers=_brokers(found, snapshots, now),
        online=found.online,
        membership_unknown=_membership_unknown(found),
        message_model=found.message_model,
        consume_type=found.consume_type,
        pops=answer.pops if (answer := pop_answers([found.pk]).get(found.pk)) else None,
        clients=[_client(client) for client in clients],
        held=_held(found, snapshots),
    )


def permission_age(limits: Limits) -> timedelta:
    """How old a broker's permission may be: a missed answer or two change nothing."""
    return timedelta(seconds=3 * settings.POLL_STORE_CONFIG_SECONDS + limits.late_seconds)


def permission(value: int | None, at: datetime | None, error: str | None, broker: str, now: datetime) -> Permission:
    if value is None or at is None:
        return Permission(unknown=error or f"{broker} has not said yet what it allows")
    if now - at > permission_age(limits()):
        age = (now - at).total_seconds()
        return Permission(value=value, at=at, unknown=error or f"what {broker} allows was last read {age:.0f} s ago")
    return Permission(value=value, at=at)


def _brokers(group: ConsumerGroup, snapshots: list[QueueSnapshot], now: datetime) -> list[BrokerFacts]:
    rows = Broker.objects.filter(cluster=group.cluster_id, broker_id=MASTER).order_by("name")
    told = {row.broker: row for row in GroupBroker.objects.filter(group=group)}
    ages = broker_ages([group.cluster_id])[group.cluster_id]
    unread = _unread(ages, now)
    holding = _holders(group, snapshots)
    readable = _retry_queues(group)
    return [
        BrokerFacts(
            name=row.name,
            address=row.address,
            holds=row.name in holding,
            has_master=_has_master(row, unread.get(row.name)),
            permission=permission(row.permission, row.config_at, row.config_error, row.name, now),
            routed=permission(row.routed_permission, row.routed_at, row.routed_error, row.name, now),
            group=_configured(group, told.get(row.name), readable) if unread.get(row.name) is None else None,
            unread=unread.get(row.name)
            or (f"{row.name} has not said yet how it is set" if row.name not in told else None),
            read_at=row.last_read_at,
        )
        for row in rows
    ]


def _unread(cluster: ClusterAge, now: datetime) -> dict[str, str | None]:
    return {broker.name: broker.unread_reason(now, limits()) for broker in cluster.brokers}


def _has_master(row: Broker, unread: str | None) -> bool | None:
    """A slave that answers for it is proof that the master is gone; a broker that nobody reaches is unknown."""
    if row.read_from is not None:
        return False
    return None if unread is not None else True


def _holders(group: ConsumerGroup, snapshots: list[QueueSnapshot]) -> set[str]:
    """Of an online group, the brokers of what its members subscribe to; else of what it has offsets of."""
    own = [row.queue for row in snapshots if row.queue.topic.kind == TopicKind.NORMAL]
    subscribed = {one["topic"] for one in group.subscriptions} if group.online else set()
    wanted = [queue for queue in own if queue.topic.name in subscribed] or own
    return {queue.broker for queue in wanted}


def _retry_queues(group: ConsumerGroup) -> dict[str, int | None]:
    """Queues of its own retry topic that give messages, by broker. Members that subscribe to it have a row for each
    queue of it, so that none at all means that there are none."""
    name = retry_topic(group.name)
    found: dict[str, int | None] = {}
    rows = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name=name)
    for broker, is_readable in rows.values_list("broker", "readable"):
        known = found.get(broker, 0)
        found[broker] = None if is_readable is None or known is None else known + is_readable
    if group.online and any(one["topic"] == name for one in group.subscriptions):
        brokers = Broker.objects.filter(cluster=group.cluster_id, broker_id=MASTER).values_list("name", flat=True)
        return {broker: found.get(broker, 0) for broker in brokers}
    return found


def _configured(
    group: ConsumerGroup, row: GroupBroker | None, readable: dict[str, int | None]
) -> GroupConfigured | None:
    if row is None:
        return None
    own = retry_topic(group.name)
    return GroupConfigured(
        configured=row.configured,
        since=row.changed_at,
        consume_enable=row.consume_enable,
        retry_queue_nums=row.retry_queue_nums,
        retry_permission=row.retry_permissions.get(own),
        pop_permissions={topic: value for topic, value in row.retry_permissions.items() if topic != own},
        dlq_permission=row.dlq_permission,
        read_queues=readable.get(row.broker),
    )


def _client(client: Client) -> ClientFacts:
    return ClientFacts(
        client_id=client.client_id,
        settings=client.settings,
        orderly=client.orderly,
        told_at=client.running_info_at,
    )


def _held(group: ConsumerGroup, snapshots: list[QueueSnapshot]) -> list[HeldQueue]:
    """A broadcasting group sends nothing back."""
    if group.message_model == BROADCASTING:
        return []
    least = {row.queue_id: row.min_offset for row in snapshots}
    rows = Assignment.objects.filter(group=group, gone_by=None, dropped=False).select_related("queue__topic")
    return [
        HeldQueue(
            place=f"{row.queue.topic.name}/{row.queue.broker}/{row.queue.queue_id}",
            client_id=row.client_id,
            held_min=row.cached_min,
            min_offset=least.get(row.queue_id),
            head_since=row.head_since,
        )
        for row in rows
    ]


def _membership_unknown(group: ConsumerGroup) -> str | None:
    """Why it is not known who is in it; None where it is, be it nobody."""
    if group.online is not None and group.membership_at is not None:
        return None
    return group.membership_error or "its members have not been asked yet"
