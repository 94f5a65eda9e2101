"""From rows to the facts that retry conditions are judged by: the same number of queries for one group and for many."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import Assignment, Client, ConsumerGroup, GroupBroker, QueueSnapshot, TopicKind
from consumers.polling.members.popping import NO_ANSWER, pop_answers
from consumers.rocketmq.names import retry_topic
from consumers.vocabulary.groups import BROADCASTING

from .broker_facts import KnownBroker, known_brokers
from .facts import BrokerFacts, ClientFacts, GroupConfigured, GroupFacts, HeldQueue

GROUP_QUEUE = ("group_id", "queue_id", "queue__topic__name", "queue__topic__kind", "queue__broker", "min_offset")


@dataclass
class _Rows:
    """What the database holds of one group. `snapshots`: as GROUP_QUEUE, without the group."""

    told: dict[str, GroupBroker] = field(default_factory=dict)
    snapshots: list[tuple[int, str, str, str, int | None]] = field(default_factory=list)
    clients: list[ClientFacts] = field(default_factory=list)
    held: list[Assignment] = field(default_factory=list)
    pops: bool | None = None


def group_facts(cluster: str, group: str, now: datetime) -> GroupFacts:
    """Raises ConsumerGroup.DoesNotExist."""
    found = ConsumerGroup.objects.select_related("cluster").get(cluster__name=cluster, name=group)
    return facts_of([found], now)[0]


def facts_of(groups: Sequence[ConsumerGroup], now: datetime) -> list[GroupFacts]:
    """In their order; their clusters must be loaded with them."""
    brokers = known_brokers({group.cluster_id for group in groups}, now)
    rows = _rows(groups)
    return [_facts(group, rows[group.pk], brokers[group.cluster_id], now) for group in groups]


def _rows(groups: Sequence[ConsumerGroup]) -> dict[int, _Rows]:
    found = {group.pk: _Rows() for group in groups}
    for config in GroupBroker.objects.filter(group__in=found):
        found[config.group_id].told[config.broker] = config
    for group, *snapshot in QueueSnapshot.objects.filter(group__in=found).values_list(*GROUP_QUEUE):
        found[group].snapshots.append(tuple(snapshot))
    for client in Client.objects.filter(group__in=found, gone_by=None).order_by("client_id"):
        found[client.group_id].clients.append(_client(client))
    present = Assignment.objects.filter(group__in=found, gone_by=None).exclude(dropped=True)
    for held in present.select_related("queue__topic"):
        found[held.group_id].held.append(held)
    for pk, answer in pop_answers(list(found)).items():
        found[pk].pops = answer.pops
    return found


def _facts(group: ConsumerGroup, rows: _Rows, brokers: Sequence[KnownBroker], now: datetime) -> GroupFacts:
    holding = _holding(group, rows)
    return GroupFacts(
        cluster=group.cluster.name,
        group=group.name,
        namesrv=group.cluster.namesrv,
        now=now,
        brokers=[_broker(group, rows, broker, broker.name in holding) for broker in brokers],
        online=group.online,
        membership_unknown=_membership_unknown(group),
        message_model=group.message_model,
        consume_type=group.consume_type,
        pops=rows.pops if rows.clients else NO_ANSWER.pops,
        clients=rows.clients,
        # A broadcasting group sends nothing back.
        held=[] if group.message_model == BROADCASTING else _held(rows),
    )


def _holding(group: ConsumerGroup, rows: _Rows) -> set[str]:
    """Of an online group, the brokers of what its members subscribe to; else of what it has offsets of."""
    normal = [(topic, broker) for _, topic, kind, broker, _ in rows.snapshots if kind == TopicKind.NORMAL]
    subscribed = {one["topic"] for one in group.subscriptions} if group.online else set()
    return {broker for topic, broker in normal if topic in subscribed} or {broker for _, broker in normal}


def _broker(group: ConsumerGroup, rows: _Rows, broker: KnownBroker, holds: bool) -> BrokerFacts:
    told = rows.told.get(broker.name)
    silent = f"{broker.name} has not said yet how it is set for the group" if told is None else None
    unread = broker.unread or silent
    return BrokerFacts(
        name=broker.name,
        address=broker.address,
        holds=holds,
        has_master=broker.has_master,
        permission=broker.permission,
        routed=broker.routed,
        group=None if told is None or unread is not None else _configured(group, told),
        unread=unread,
        read_at=broker.read_at,
    )


def _configured(group: ConsumerGroup, told: GroupBroker) -> GroupConfigured:
    own = retry_topic(group.name)
    return GroupConfigured(
        configured=told.configured,
        since=told.changed_at,
        consume_enable=told.consume_enable,
        retry_queue_nums=told.retry_queue_nums,
        retry_permission=told.retry_permissions.get(own),
        pop_permissions={topic: value for topic, value in told.retry_permissions.items() if topic != own},
        dlq_permission=told.dlq_permission,
        read_queues=told.retry_read_queues,
    )


def _client(client: Client) -> ClientFacts:
    return ClientFacts(
        client_id=client.client_id,
        settings=client.settings,
        orderly=client.orderly,
        told_at=client.running_info_at,
    )


def _held(rows: _Rows) -> list[HeldQueue]:
    least = {queue: min_offset for queue, *_, min_offset in rows.snapshots}
    return [
        HeldQueue(
            place=f"{row.queue.topic.name}/{row.queue.broker}/{row.queue.queue_id}",
            client_id=row.client_id,
            held_min=row.cached_min,
            min_offset=least.get(row.queue_id),
            head_since=row.head_since,
        )
        for row in rows.held
    ]


def _membership_unknown(group: ConsumerGroup) -> str | None:
    """Why it is not known who is in it; None where it is, be it nobody."""
    if group.online is not None and group.membership_at is not None:
        return None
    return group.membership_error or "its members have not been asked yet"
