"""The input of retry checks: facts about a group and its brokers. Null means unknown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext

from consumers.models import Assignment, Broker, Client, ConsumerGroup, GroupBroker, QueueSnapshot, TopicKind
from consumers.models.asked_once import asked_once
from consumers.polling.members.membership import NO_ANSWER, pop_answers
from consumers.queries.limits import Limits, broker_ages, limits
from consumers.rocketmq.bodies.fields import number_of
from consumers.rocketmq.names import retry_topic
from consumers.vocabulary.states import BROADCASTING, MASTER, POPPING, PULLING
from consumers.words.reasons import membership_reason, stored_words

# What is known of one group where its retries are concerned. Plain facts; null is: not known, or there is none.


@dataclass(frozen=True, kw_only=True)
class Permission:
    """A sum of 4 (read) and 2 (write) as of `at`. `value` null, or too old to say anything: `unknown` says why."""

    value: int | None = None
    at: datetime | None = None
    unknown: str | None = None

    def has(self, bit: int) -> bool | None:
        return None if self.value is None or self.unknown is not None else bool(self.value & bit)


@dataclass(frozen=True, kw_only=True)
class GroupConfigured:
    """What one broker says of the group, since `since`.

    `retry_permission` and `dlq_permission` null: it has no such topic; `pop_permissions`: {retry topic: permission}.
    `read_queues`: of how many queues `%RETRY%group` gives messages there; null where that is not known.
    """

    configured: bool
    since: datetime
    consume_enable: bool | None = None
    retry_queue_nums: int | None = None
    retry_permission: int | None = None
    pop_permissions: Mapping[str, int] = field(default_factory=dict)
    dlq_permission: int | None = None
    read_queues: int | None = None


@dataclass(frozen=True, kw_only=True)
class BrokerConditions:
    """One broker of the group's cluster. `holds`: it has queues of the topics that the group consumes.

    `unread`: why nothing is known of what it says of the group; else `group` is it, as of `read_at`. `has_master` null
    where that is not known for the same reason. `permission` is its own, `routed` what name servers tell clients.
    """

    name: str
    address: str
    holds: bool
    has_master: bool | None = None
    permission: Permission = Permission()
    routed: Permission = Permission()
    group: GroupConfigured | None = None
    unread: str | None = None
    read_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ClientConditions:
    """A present member. `settings` is null until the client reports them."""

    client_id: str
    settings: Mapping[str, str] | None = None
    orderly: bool | None = None
    answered_at: datetime | None = None

    def number(self, name: str) -> int | None:
        """Returns the setting's number, None where it is not reported or none."""
        return number_of((self.settings or {}).get(name))


@dataclass(frozen=True, kw_only=True)
class HeldQueue:
    """A queue that a member holds. `held_min`: the oldest message that it holds, its oldest since `head_since`."""

    place: str
    client_id: str
    held_min: int | None = None
    min_offset: int | None = None
    head_since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ConsumeMode:
    """How members consume, as they report it. Null: no member has said."""

    message_model: str | None = None
    consume_type: str | None = None

    @property
    def is_broadcasting(self) -> bool:
        return self.message_model == BROADCASTING

    @property
    def is_pulling(self) -> bool:
        return self.consume_type == PULLING


@dataclass(frozen=True, kw_only=True)
class RetryConditions(ConsumeMode):
    """`online` null has `membership_unknown`; so has `pops` null, where members are there that have not said.

    `orderly` null: members disagree, or none has said.
    """

    cluster: str
    group: str
    namesrv: str
    now: datetime
    brokers: Sequence[BrokerConditions]
    online: bool | None = None
    membership_unknown: str | None = None
    pops: bool | None = None
    clients: Sequence[ClientConditions] = ()
    held: Sequence[HeldQueue] = ()

    @property
    def holders(self) -> list[BrokerConditions]:
        return [broker for broker in self.brokers if broker.holds]

    @property
    def retry_topic(self) -> str:
        return retry_topic(self.group)

    @property
    def orderly(self) -> bool | None:
        modes = {client.orderly for client in self.clients}
        return modes.pop() if len(modes) == 1 else None

    @property
    def is_popping(self) -> bool:
        return self.consume_type == POPPING or self.pops is True


# What is known of brokers where retries are concerned, whatever the group: loaded once for all groups of a cluster.
@dataclass(frozen=True, kw_only=True)
class KnownBroker:
    """`unread`: why nothing that it says is known; None where its newest reading is good and young enough."""

    id: int
    cluster_id: int
    name: str
    address: str
    has_master: bool | None
    permission: Permission
    routed: Permission
    unread: str | None
    read_at: datetime | None


def known_brokers(clusters: Iterable[int] | None, now: datetime) -> dict[int, list[KnownBroker]]:
    """By the cluster's id, in the order of their names. Three queries."""
    ages = broker_ages(clusters)
    bounds = limits()
    unread = {one.id: one.unread_reason(now, bounds) for age in ages.values() for one in age.brokers}
    found: dict[int, list[KnownBroker]] = {cluster: [] for cluster in ages}
    for row in Broker.objects.filter(cluster__in=ages, broker_id=MASTER).order_by("name"):
        found[row.cluster_id].append(_known(row, unread.get(row.pk), now, bounds))
    return found


def _known(row: Broker, unread: str | None, now: datetime, bounds: Limits) -> KnownBroker:
    return KnownBroker(
        id=row.pk,
        cluster_id=row.cluster_id,
        name=row.name,
        address=row.address,
        # A slave that answers for it is proof that its master is gone; one that nobody reaches is unknown.
        has_master=False if row.read_from is not None else None if unread is not None else True,
        permission=_permission(row.permission, row.config_at, row.config_error, row.name, now, bounds),
        routed=_permission(row.routed_permission, row.routed_at, row.routed_error, row.name, now, bounds),
        unread=unread,
        read_at=row.last_read_at,
    )


def _permission(
    value: int | None, at: datetime | None, error: str | None, broker: str, now: datetime, bounds: Limits
) -> Permission:
    """A missed answer or two change nothing."""
    if value is None or at is None:
        return Permission(
            unknown=stored_words(error)
            or gettext("%(broker)s has not reported its permissions yet") % {"broker": broker}
        )
    if now - at > timedelta(seconds=3 * settings.POLL_STORE_CONFIG_SECONDS + bounds.late_seconds):
        seconds = (now - at).total_seconds()
        return Permission(
            value=value,
            at=at,
            unknown=stored_words(error)
            or gettext("the permissions of %(broker)s were last read %(seconds)s s ago")
            % {"broker": broker, "seconds": f"{seconds:.0f}"},
        )
    return Permission(value=value, at=at)


# From rows to the facts that retry conditions are evaluated by: the same number of queries for one group and for many.
GROUP_QUEUE = ("group_id", "queue_id", "queue__topic__name", "queue__topic__kind", "queue__broker", "min_offset")


@dataclass
class _Rows:
    """What the database holds of one group. `snapshots`: as GROUP_QUEUE, without the group."""

    configs: dict[str, GroupBroker] = field(default_factory=dict)
    snapshots: list[tuple[int, str, str, str, int | None]] = field(default_factory=list)
    clients: list[ClientConditions] = field(default_factory=list)
    held: list[Assignment] = field(default_factory=list)
    pops: bool | None = None


def group_facts(cluster: str, group: str, now: datetime) -> RetryConditions:
    """Raises ConsumerGroup.DoesNotExist."""
    found = ConsumerGroup.objects.select_related("cluster").get(cluster__name=cluster, name=group)
    return facts_of([found], now)[0]


def facts_of(groups: Sequence[ConsumerGroup], now: datetime) -> list[RetryConditions]:
    """In their order; their clusters must be loaded with them."""
    return list(_facts_of(tuple(groups), now))


@asked_once
def _facts_of(groups: tuple[ConsumerGroup, ...], now: datetime) -> list[RetryConditions]:
    brokers = known_brokers({group.cluster_id for group in groups}, now)
    rows = _rows(groups)
    return [_facts(group, rows[group.pk], brokers[group.cluster_id], now) for group in groups]


def _rows(groups: Sequence[ConsumerGroup]) -> dict[int, _Rows]:
    found = {group.pk: _Rows() for group in groups}
    for config in GroupBroker.objects.filter(group__in=found):
        found[config.group_id].configs[config.broker] = config
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


def _facts(group: ConsumerGroup, rows: _Rows, brokers: Sequence[KnownBroker], now: datetime) -> RetryConditions:
    holding = _holding(group, rows)
    return RetryConditions(
        cluster=group.cluster.name,
        group=group.name,
        namesrv=group.cluster.namesrv,
        now=now,
        brokers=[_broker(group, rows, broker, broker.name in holding) for broker in brokers],
        online=group.online,
        membership_unknown=_membership_unknown(group, now),
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


def _broker(group: ConsumerGroup, rows: _Rows, broker: KnownBroker, holds: bool) -> BrokerConditions:
    config = rows.configs.get(broker.name)
    silent = (
        gettext("%(broker)s has not reported its configuration of the group yet") % {"broker": broker.name}
        if config is None
        else None
    )
    unread = broker.unread or silent
    return BrokerConditions(
        name=broker.name,
        address=broker.address,
        holds=holds,
        has_master=broker.has_master,
        permission=broker.permission,
        routed=broker.routed,
        group=None if config is None or unread is not None else _configured(group, config),
        unread=unread,
        read_at=broker.read_at,
    )


def _configured(group: ConsumerGroup, config: GroupBroker) -> GroupConfigured:
    own = retry_topic(group.name)
    return GroupConfigured(
        configured=config.configured,
        since=config.changed_at,
        consume_enable=config.consume_enable,
        retry_queue_nums=config.retry_queue_nums,
        retry_permission=config.retry_permissions.get(own),
        pop_permissions={topic: value for topic, value in config.retry_permissions.items() if topic != own},
        dlq_permission=config.dlq_permission,
        read_queues=config.retry_read_queues,
    )


def _client(client: Client) -> ClientConditions:
    return ClientConditions(
        client_id=client.client_id,
        settings=client.settings,
        orderly=client.orderly,
        answered_at=client.running_info_at,
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


def _membership_unknown(group: ConsumerGroup, now: datetime) -> str | None:
    """Why it is not known who is in it; None where it is, be it nobody."""
    at = group.membership_at
    if group.online is None or at is None:
        return membership_reason(group.membership_error)
    is_old = at < now - timedelta(seconds=limits().kinds.evidence_seconds)
    return membership_reason(group.membership_error, at) if is_old else None
