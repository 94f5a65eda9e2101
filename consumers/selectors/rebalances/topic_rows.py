"""Rebalances as REST gives them: one row per topic that a rebalance touched."""

from dataclasses import dataclass

from django.db.models import F

from consumers.models import Rebalance, RebalanceTopic

from .costs import NO_TOPIC, SUMS, cost_of_topic
from .detail import evidence_of
from .event_name import event_name
from .events import STORED, event_reasons
from .filters import filtered
from .resets_meanwhile import name_resets
from .rows import Cost, RebalanceFilters, RebalanceRow

NOTHING = Cost(**dict.fromkeys(SUMS), unknown=dict.fromkeys(("topic", *SUMS), NO_TOPIC))


@dataclass(frozen=True)
class RowPage:
    rows: list[RebalanceRow]
    count: int


def rebalance_rows(filters: RebalanceFilters, *, page: int = 1, page_size: int = 100) -> RowPage:
    """Newest first, a rebalance's topics by name. A rebalance without a topic has one row. Six queries at most."""
    pairs = filtered(filters).annotate(topic_id=F("topics__pk"))
    start = (page - 1) * page_size
    chosen = list(
        pairs.order_by("-started_before", "pk", "topics__topic").values_list("pk", "topic_id")[
            start : start + page_size
        ]
    )
    events = Rebalance.objects.select_related("group__cluster").in_bulk([pk for pk, _topic in chosen])
    name_resets(events.values())
    topics = RebalanceTopic.objects.defer("moves").in_bulk([pk for _event, pk in chosen if pk is not None])
    rows = [_row(events[event], topics.get(topic)) for event, topic in chosen]
    return RowPage(rows, pairs.order_by().count())


def _row(event: Rebalance, topic: RebalanceTopic | None) -> RebalanceRow:
    cost = NOTHING if topic is None else cost_of_topic(topic)
    return RebalanceRow(
        event=event_name(event),
        cluster=event.group.cluster.name,
        group=event.group.name,
        topic=None if topic is None else topic.topic,
        settled=event.settled_at is not None,
        cause=event.cause,
        evidence=[{"cause": one.cause, "sentence": one.sentence, **one.facts} for one in evidence_of(event)],
        client_ids_before=event.client_ids_before,
        client_ids_after=event.client_ids_after,
        **{name: getattr(cost, name) for name in SUMS},
        **{name: getattr(event, name) for name in STORED},
        unknown=event_reasons(event) | dict(cost.unknown),
    )
