"""The members of a group as the rows know them: what each needs to compute its share of the queues, and of whom."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from consumers.models import Client, ClientSubscription, ConsumerGroup
from consumers.selectors.ownership.subscriptions.expression import Expression, expression
from consumers.vocabulary.groups import BROADCASTING

CLIENT_REBALANCE, MESSAGE_MODEL = "clientRebalance", "messageModel"


@dataclass(frozen=True)
class MemberFacts:
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
    def spoke(self) -> bool:
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


def members_at(group: ConsumerGroup, at: datetime | None = None) -> list[MemberFacts]:
    """Those of the newest full answer, or those seen at `at`; by client id. One query, two for a past time."""
    rows = Client.objects.filter(group=group)
    if at is None:
        present = rows.filter(gone_by=None).order_by("client_id")
        return [_facts(client, _said(client.subscriptions)) for client in present]
    present = rows.filter(Q(gone_by=None) | Q(gone_by__gt=at), seen_since__lte=at).order_by("client_id")
    subscribed = _subscribed_at(group, at)
    retry = f"%RETRY%{group.name}"
    return [_facts(client, _then(client, subscribed.get(client.client_id), retry)) for client in present]


def _said(subscriptions: Iterable[Mapping[str, str]] | None) -> dict[str, Expression] | None:
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
    said = _said(client.subscriptions) or {}
    return subscribed | {topic: said[topic] for topic in said if topic == retry}


def _facts(client: Client, expressions: dict[str, Expression] | None) -> MemberFacts:
    return MemberFacts(
        client_id=client.client_id,
        connections=client.connections,
        strategy=client.strategy,
        orderly=client.orderly,
        settings=client.settings,
        expressions=expressions,
        assigned=client.broker_assigned,
        seen_since=client.seen_since,
        last_seen=client.last_seen,
        listed_since=client.listed_since,
        duplicated_since=client.duplicated_since,
        answered_at=client.running_info_at,
        error=client.running_info_error,
    )
