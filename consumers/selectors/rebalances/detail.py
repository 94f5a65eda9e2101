"""One rebalance with everything that its page shows."""

from consumers.models import Rebalance, RebalanceTopic

from .costs import cost_of_topic, moves_of
from .event_name import moment_of
from .events import episode_sizes, event_fields, events_of
from .log_lines import log_line
from .resets_meanwhile import name_resets
from .rows import Evidence, RebalanceDetail, RebalanceEvent, TopicCost
from .sentences import evidence_sentence
from .stayed import Holders, holders, stayed

OTHERS_SHOWN = 20


def rebalance_detail(cluster: str, group: str, at: str) -> RebalanceDetail | None:
    """The rebalance of that name (event_name.py); None when there is none. Nine queries at most."""
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
    """The newest others of the same episode."""
    same = Rebalance.objects.filter(group=row.group_id, episode_since=row.episode_since).exclude(pk=row.pk)
    return events_of(list(same.order_by("-started_before").values_list("pk", flat=True)[:OTHERS_SHOWN]))
