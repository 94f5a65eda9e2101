"""Rebalances, one row each: the list over all groups, newest first, and the newest of one group."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Prefetch

from consumers.models import Rebalance, RebalanceTopic
from consumers.vocabulary.causes import RebalanceCause

from .costs import NOT_TOLD, cost_of_all
from .event_name import event_name, moment_text
from .filters import filtered, words_of
from .resets_meanwhile import name_resets
from .rows import EventPage, RebalanceEvent, RebalanceFilters
from .sentences import evidence_opening, evidence_sentence

NO_READING_BEFORE = "no reading before it is known"
NOT_SETTLED = "no two readings in a row have agreed since"
NOT_DATED = "no member's clock dates it between the two readings"


def rebalance_list(filters: RebalanceFilters, *, page: int = 1, page_size: int = 50) -> EventPage:
    """One page; one beyond the last is the last. Seven queries at most, however many rebalances."""
    found = filtered(filters)
    count = found.count()
    pages = max(1, -(-count // page_size))
    page = min(max(page, 1), pages)
    start = (page - 1) * page_size
    chosen = list(found.values_list("pk", flat=True)[start : start + page_size])
    return EventPage(events_of(chosen), count, page, pages)


def rebalance_count(filters: RebalanceFilters) -> int:
    return filtered(filters).count()


def newest_rebalances(cluster: str, group: str, count: int = 5) -> list[RebalanceEvent]:
    """Of one group, newest first. Six queries at most."""
    found = filtered(RebalanceFilters(cluster=cluster, group=group))
    return events_of(list(found.values_list("pk", flat=True)[:count]))


def events_of(ids: Sequence[int]) -> list[RebalanceEvent]:
    """In the order of `ids`. Without the queues that moved, which may be thousands."""
    light = Prefetch("topics", RebalanceTopic.objects.defer("moves").order_by("topic"))
    rows = Rebalance.objects.select_related("group__cluster").prefetch_related(light)
    found = {row.pk: row for row in rows.filter(pk__in=ids)}
    name_resets(found.values())
    sizes = episode_sizes(found.values())
    return [
        RebalanceEvent(**event_fields(found[pk], sizes[found[pk].group_id, found[pk].episode_since]))
        for pk in ids
        if pk in found
    ]


def episode_sizes(rows: Iterable[Rebalance]) -> Counter[Any]:
    """How many rebalances each episode of `rows` has, by group and beginning."""
    return sizes_of({(row.group_id, row.episode_since) for row in rows})


def sizes_of(episodes: Collection[tuple[int, datetime]]) -> Counter[Any]:
    """How many rebalances each of these has. One query."""
    groups, begun = {group for group, _since in episodes}, {since for _group, since in episodes}
    if not begun:
        return Counter()
    # The first of an episode is its beginning: what is older need not be looked at.
    near = Rebalance.objects.filter(group__in=groups, started_before__gte=min(begun), episode_since__in=begun)
    counted = near.order_by().values("group_id", "episode_since").annotate(events=Count("pk"))
    return Counter({(row["group_id"], row["episode_since"]): row["events"] for row in counted})


def cause_counts(filters: RebalanceFilters) -> dict[RebalanceCause, int]:
    """How many rebalances have each cause, those that have any; `filters.cause` itself is left aside."""
    found = filtered(filters, by_cause=False).order_by().values("cause").annotate(events=Count("pk"))
    counts: Counter[str] = Counter()
    for row in found:
        for word in set(words_of(row["cause"])):
            counts[word] += row["events"]
    return {cause: counts[cause] for cause in RebalanceCause if counts[cause]}


def event_fields(row: Rebalance, episode: int) -> dict[str, Any]:
    """The values of all fields of RebalanceEvent, as a detail needs them too."""
    # It may have begun right after the reading before it.
    begun = row.started_after or row.started_before
    settled = None if row.settled_at is None else (row.settled_at - begun).total_seconds()
    first = row.evidence[0] if row.evidence else {"cause": words_of(row.cause)[0]}
    return {
        "id": row.pk,
        "event": event_name(row),
        "cluster": row.group.cluster.name,
        "group": row.group.name,
        "at": moment_text(row.started_before),
        "settled_seconds": settled,
        "causes": words_of(row.cause),
        "more": max(0, len(row.evidence) - 1),
        "opening": evidence_opening(first),
        "sentence": evidence_sentence(first, row.started_after, row.started_before),
        "episode": episode,
        "cost": cost_of_all(list(row.topics.all())),
        "unknown": event_reasons(row),
    } | {name: getattr(row, name) for name in STORED}


STORED = (
    "started_after",
    "started_before",
    "last_change_at",
    "settled_at",
    "dated_at",
    "polls",
    "members_before",
    "members_after",
    "rollout",
    "episode_since",
    "judged_at",
)


def event_reasons(row: Rebalance) -> dict[str, str]:
    """A reason for each null of the event itself."""
    usual = {
        "started_after": NO_READING_BEFORE,
        "settled_at": NOT_SETTLED,
        "dated_at": NOT_DATED,
        "members_before": NOT_TOLD,
        "members_after": NOT_TOLD,
        "client_ids_before": NOT_TOLD,
        "client_ids_after": NOT_TOLD,
    }
    return {name: row.unknown.get(name) or reason for name, reason in usual.items() if getattr(row, name) is None}
