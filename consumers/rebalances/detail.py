"""One rebalance in full: its moves, its costs per topic, and resets at the same time."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, Q

from consumers.models import Assignment, Queue, Rebalance, RebalanceTopic
from consumers.rebalances.rows import (
    Cost,
    Evidence,
    Move,
    RebalanceDetail,
    RebalanceEvent,
    RebalanceFilters,
    RebalanceRow,
    Stayed,
    TopicCost,
)
from consumers.rebalances.sentences import evidence_sentence, log_line
from consumers.vocabulary.reasons import RebalanceReason, reason_codes
from consumers.words.reasons import coded_reason

from .events import (
    STORED,
    SUMS,
    cost_of_topic,
    episode_sizes,
    event_fields,
    event_name,
    event_reasons,
    events_of,
    filtered,
    moment_of,
    moves_of,
    name_resets,
)

# One rebalance with everything that its page shows.

# By topic, then by broker and queue id: who held the queue after the rebalance; empty: no owner is known.
Holders = dict[str, dict[tuple[str, int], list[str]]]


def holders(row: Rebalance) -> Holders:
    """Owners of the queues that the rebalance's topics had then. Two queries."""
    at = row.settled_at or row.last_change_at
    topics = [topic.topic for topic in row.topics.all()]
    found: Holders = defaultdict(dict)
    queues = Queue.objects.filter(topic__cluster=row.group.cluster_id, topic__name__in=topics)
    # A queue first seen later was not part of the rebalance; one without that time is older than the column.
    then = queues.filter(Q(first_seen_at=None) | Q(first_seen_at__lte=at))
    for topic, broker, queue_id in then.values_list("topic__name", "broker", "queue_id"):
        found[topic][broker, queue_id] = []
    held = Assignment.objects.filter(group=row.group_id, seen_since__lte=at, queue__topic__name__in=topics)
    held = held.filter(Q(gone_by=None) | Q(gone_by__gt=at)).order_by("client_id")
    for topic, broker, queue_id, owner in held.values_list(
        "queue__topic__name", "queue__broker", "queue__queue_id", "client_id"
    ):
        found[topic].setdefault((broker, queue_id), []).append(owner)
    return found


def stayed(held: dict[tuple[str, int], list[str]], moves: Sequence[Move]) -> list[Stayed]:
    moved = {(move.broker, move.queue_id) for move in moves}
    rest = sorted(key for key in held if key not in moved)
    return [Stayed(broker, queue_id, tuple(held[broker, queue_id]) or None) for broker, queue_id in rest]


OTHERS_SHOWN = 20


def rebalance_detail(cluster: str, group: str, at: str) -> RebalanceDetail | None:
    """The rebalance of that name (`event_name`); None when there is none. Nine queries at most."""
    moment = moment_of(at)
    if moment is None:
        return None
    rows = Rebalance.objects.select_related("group__cluster").prefetch_related("topics")
    row = rows.filter(group__cluster__name=cluster, group__name=group, started_before=moment).first()
    if row is None:
        return None
    episode = episode_sizes([row])[row.group_id, row.episode_since]
    name_resets([row])
    held = holders(row)
    return RebalanceDetail(
        **event_fields(row, episode),
        evidence=evidence_of(row),
        client_ids_before=row.client_ids_before,
        client_ids_after=row.client_ids_after,
        topics=[_topic(topic, held) for topic in sorted(row.topics.all(), key=lambda topic: topic.topic)],
        others_of_episode=_others(row) if episode > 1 else [],
    )


def _topic(topic: RebalanceTopic, held: Holders) -> TopicCost:
    moves = moves_of(topic)
    return TopicCost(topic.topic, cost_of_topic(topic), moves, stayed(held[topic.topic], moves))


def evidence_of(row: Rebalance) -> list[Evidence]:
    return [
        Evidence(
            cause=str(found.get("cause")),
            sentence=evidence_sentence(found, row.started_after, row.started_before),
            facts={name: value for name, value in found.items() if name != "cause" and value is not None},
            log=log_line(found, row.group.name),
        )
        for found in row.evidence
    ]


def _others(row: Rebalance) -> list[RebalanceEvent]:
    """The newest other rebalances of the same episode."""
    same = Rebalance.objects.filter(group=row.group_id, episode_since=row.episode_since).exclude(pk=row.pk)
    return events_of(list(same.order_by("-started_before").values_list("pk", flat=True)[:OTHERS_SHOWN]))


def _no_cost() -> Cost:
    return Cost(**dict.fromkeys(SUMS), unknown=dict.fromkeys(("topic", *SUMS), coded_reason(RebalanceReason.NO_TOPIC)))


@dataclass(frozen=True)
class RowPage:
    rows: list[RebalanceRow]
    count: int


def rebalance_rows(filters: RebalanceFilters, *, page: int = 1, page_size: int = 100) -> RowPage:
    """Newest first, a rebalance's topics by name. A rebalance without a topic has one row. What a run deletes meanwhile
    is left out. Six queries at most."""
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
    there = [(event, topic) for event, topic in chosen if event in events and (topic is None or topic in topics)]
    rows = [_row(events[event], topics.get(topic)) for event, topic in there]
    return RowPage(rows, pairs.order_by().count())


def _row(event: Rebalance, topic: RebalanceTopic | None) -> RebalanceRow:
    cost = _no_cost() if topic is None else cost_of_topic(topic)
    unknown = event_reasons(event) | dict(cost.unknown)
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
        unknown=unknown,
        codes=reason_codes(unknown),
    )
