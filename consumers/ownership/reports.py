"""The inputs from which members compute their queues, by the rows, and why an input is unknown."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from django.db.models import Q
from django.utils.translation import gettext_lazy

from consumers.models import Client, ClientSubscription, ConsumerGroup, Queue, QueueSnapshot, Topic, TopicKind
from consumers.ownership.subscriptions import Expression, expression
from consumers.polling.members.membership import pop_answers
from consumers.queries.declared import copied
from consumers.rocketmq.allocation import QueueKey
from consumers.vocabulary.states import BROADCASTING, POPPING, PULLING

# A queue as the rows know it, and whether clients could read it at a moment.
COLUMNS = ("pk", "topic__name", "broker", "queue_id", "readable", "first_seen_at", "readable_since")


class KnownQueue(NamedTuple):
    """A tuple in the order of COLUMNS, because a group has thousands of them."""

    pk: int
    topic: str
    broker: str
    queue_id: int
    readable: bool | None
    first_seen_at: datetime | None
    readable_since: datetime | None

    @property
    def key(self) -> QueueKey:
        return QueueKey(self.topic, self.broker, self.queue_id)

    @property
    def there_since(self) -> datetime | None:
        """Since when clients can read it, where that was noted."""
        return max((at for at in (self.first_seen_at, self.readable_since) if at is not None), default=None)

    def was_readable(self, at: datetime | None) -> bool | None:
        """At that moment, or by the newest reading. Null where it was not read; a queue not yet seen was none."""
        if at is None or self.readable is None:
            return self.readable
        if self.first_seen_at is not None and self.first_seen_at > at:
            return False
        flipped = self.readable_since is not None and self.readable_since > at
        return self.readable is not flipped


# The members of a group as the rows know them: what each needs to compute its share of the queues, and of whom.
CLIENT_REBALANCE, MESSAGE_MODEL = "clientRebalance", "messageModel"


@dataclass(frozen=True)
class MemberReport:
    """`expressions` by topic, what it subscribes to; null: it has not said. `assigned`: what a broker gives it."""

    client_id: str
    connections: Mapping[str, list[str]]
    strategy: str | None
    orderly: bool | None
    settings: Mapping[str, str] | None
    expressions: Mapping[str, Expression] | None
    assigned: list[dict[str, str | int]] | None
    seen_since: datetime
    last_seen: datetime
    listed_since: datetime | None
    duplicated_since: datetime | None
    answered_at: datetime | None
    error: str | None

    @property
    def has_answered(self) -> bool:
        return self.answered_at is not None and self.expressions is not None

    @property
    def processes(self) -> int:
        """How many share its id: as many as one broker lists connections of it."""
        return max((len(addresses) for addresses in self.connections.values()), default=1)

    @property
    def is_given_queues(self) -> bool:
        """A broker shares out its queues (RocketMQ 5.4.0, RebalancePushImpl.clientRebalance)."""
        settings = self.settings or {}
        by_broker = settings.get(CLIENT_REBALANCE) == "false" and not self.orderly
        return by_broker and settings.get(MESSAGE_MODEL) != BROADCASTING

    def subscribes(self, topic: str) -> bool:
        return topic in (self.expressions or {})


def members_at(group: ConsumerGroup, at: datetime | None = None) -> list[MemberReport]:
    """Those of the newest full answer, or those seen at `at`; by client id. One query, two for a past time."""
    rows = Client.objects.filter(group=group)
    if at is None:
        present = rows.filter(gone_by=None).order_by("client_id")
        return [_facts(client, _expressions(client.subscriptions)) for client in present]
    present = rows.filter(Q(gone_by=None) | Q(gone_by__gt=at), seen_since__lte=at).order_by("client_id")
    subscribed = _subscribed_at(group, at)
    retry = f"%RETRY%{group.name}"
    return [_facts(client, _then(client, subscribed.get(client.client_id), retry)) for client in present]


def _expressions(subscriptions: Iterable[Mapping[str, str]] | None) -> dict[str, Expression] | None:
    if subscriptions is None:
        return None
    return {one["topic"]: expression(one["expression_type"], one["expression"]) for one in subscriptions}


def _subscribed_at(group: ConsumerGroup, at: datetime) -> dict[str, dict[str, Expression]]:
    rows = ClientSubscription.objects.filter(Q(gone_by=None) | Q(gone_by__gt=at), group=group, seen_since__lte=at)
    found: dict[str, dict[str, Expression]] = {}
    for client_id, topic, kind, text in rows.values_list("client_id", "topic", "expression_type", "expression"):
        found.setdefault(client_id, {})[topic] = expression(kind, text)
    return found


def _then(client: Client, subscribed: dict[str, Expression] | None, retry: str) -> dict[str, Expression] | None:
    """Intervals leave out the group's own retry topic, to which a member subscribes for as long as it lives."""
    if subscribed is None:
        return None
    reported = _expressions(client.subscriptions) or {}
    return subscribed | {topic: reported[topic] for topic in reported if topic == retry}


def _facts(client: Client, expressions: dict[str, Expression] | None) -> MemberReport:
    return copied(
        MemberReport,
        client,
        expressions=expressions,
        assigned=client.broker_assigned,
        answered_at=client.running_info_at,
        error=client.running_info_error,
    )


# The queues of a group that may have an owner: those of its topics, and whatever anyone was seen to hold.
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
    """Returns queues in the order of topic, broker and id. Four queries, none over all queues of a cluster. `held`: the
    keys of queues that were owned. Leaves out the group's own dead letters, which no member consumes, and queues that
    give no messages, unless they were owned."""
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


# Groups whose queues are not shared out one by one: that a queue has no single owner says nothing there.
EVERY_MEMBER = gettext_lazy("broadcasting: every member owns every queue")

POPS = gettext_lazy("members pop messages: no queue has an owner")

# RocketMQ 5.4.0, DefaultMQPullConsumerImpl.consumerRunningInfo: it lists no queues, and a lite pull consumer only those
# that it was assigned, be it by its application.
PULLS = gettext_lazy("members pull messages: not all pull clients report their queues")


def is_broadcasting(group: ConsumerGroup) -> bool:
    return group.message_model == BROADCASTING


def is_popping(group: ConsumerGroup) -> bool:
    """Two queries."""
    answer = None if group.consume_type == POPPING else pop_answers([group.pk]).get(group.pk)
    return group.consume_type == POPPING or bool(answer and answer.pops)


def why_ownerless(group: ConsumerGroup) -> str | None:
    """Why a queue that no member holds is no queue without an owner; null where it is one. Two queries."""
    if is_popping(group):
        return str(POPS)
    return str(PULLS) if group.consume_type == PULLING else None


# Why it cannot be said who is to own a queue: a sentence, and of which sort it is.
class Sort(StrEnum):
    NO_MEMBER = "no member"
    NOT_LISTED = "not listed"
    SHARED_BY_ALL = "shared by all"
    OWNERLESS = "ownerless"
    SILENT = "silent"
    MODELS = "models"
    PROXY = "proxy"
    CONNECTIONS = "connections"
    NOT_SIMULABLE = "not simulable"
    STRATEGIES = "strategies"
    LISTS = "lists"
    GIVEN = "given"
    CONFIGURATION = "configuration"
    RING = "ring"


@dataclass(frozen=True)
class Why:
    sort: Sort
    sentence: str
