"""Lists of groups: filtered, ordered and paged in SQL by the shown values, that is under the overlay."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.expressions import OrderBy
from django.utils.translation import gettext, gettext_lazy

from consumers.models import (
    AlertEngine,
    ClientSubscription,
    ConsumerGroup,
    GroupKind,
    HealthLevel,
    Incident,
    IncidentStatus,
    QueueSnapshot,
    QueueState,
    Severity,
    State,
)
from consumers.polling.flags import ghosts
from consumers.polling.members.membership import NO_ANSWER, pop_answers
from consumers.queries.limits import newest_evaluation
from consumers.queries.queues.lost_offsets import group_losses
from consumers.queries.queues.overlay import is_late
from consumers.queries.reset_marks import RULES, Jump, causes
from consumers.retries.blocked import blocked_places
from consumers.vocabulary.states import Flag, RuleCode

from .health_checks import HEALTH_RANKS, noted, with_health_rank
from .late_queues import RANKS
from .noted import label_of, of_label, of_owner, on_broker
from .overlay import STATES, Overlay
from .row import group_row
from .rows import GROUP, JUDGED, TOTAL, GroupFilters, GroupPage, GroupRow, IncidentCounts, ListKind, stored_in
from .shown import ShownGroup

# Groups with the number of their open incidents, as the newest evaluation of the rules left them.

TOO_YOUNG = gettext_lazy("the group was first seen after the last evaluation of alert rules")


def with_incidents(shown: Sequence[ShownGroup], now: datetime) -> list[ShownGroup]:
    """In their order. Two queries. A cause that makes many groups unknown has its own incident and counts for none of
    them.
    """
    evaluated = newest_evaluation(now)
    if isinstance(evaluated, str):
        return [replace(one, incidents=evaluated) for one in shown]
    counts = _counts([one.group.pk for one in shown])
    return [replace(one, incidents=counts.get(one.group.pk) or _none(one, evaluated)) for one in shown]


def fires() -> Exists:
    """Filters groups with a firing incident."""
    return Exists(Incident.objects.filter(group=OuterRef("pk"), resolved_at=None, status=IncidentStatus.FIRING))


def is_evaluated(overlay: Overlay) -> Q:
    """Groups for which the newest evaluation says whether an incident fires."""
    evaluated_at = AlertEngine.objects.order_by("pk").values("evaluated_at")[:1]
    is_there = Q(kind=GroupKind.USER, first_seen_at__lte=Subquery(evaluated_at))
    return is_there & ~ghosts(overlay.now, overlay.limits.kinds)


def _counts(ids: Iterable[int]) -> dict[int, IncidentCounts]:
    """By the group's id; groups without an open incident are not in it."""
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows = Incident.objects.filter(group__in=ids, resolved_at=None).order_by()
    for group, status, severity, number in rows.values_list("group", "status", "severity").annotate(Count("pk")):
        found[group][status] += number
        if status == IncidentStatus.FIRING:
            found[group][severity] += number
    named = (IncidentStatus.FIRING, Severity.CRITICAL, Severity.WARNING, Severity.INFO, IncidentStatus.PENDING)
    return {group: IncidentCounts(**{name.value: counts[name] for name in named}) for group, counts in found.items()}


def _none(one: ShownGroup, evaluated: datetime) -> IncidentCounts | str:
    """For a group without an open incident: zero, or the reason why no rule could have found one."""
    if one.group.kind == GroupKind.SYSTEM:
        return gettext("alert rules do not evaluate system groups")
    # Only offline groups can be inactive: otherwise all flags of all rows would be computed twice.
    if one.group.offline_since is not None and Flag.GHOST in one.flags:
        return gettext("alert rules do not evaluate inactive groups")
    return str(TOO_YOUNG) if one.group.first_seen_at > evaluated else IncidentCounts(0, 0, 0, 0, 0)


# Groups whose worst queue has a jumped offset, with what moved it.


def with_causes(shown: Sequence[ShownGroup]) -> list[ShownGroup]:
    """In their order; no query where no offset jumped."""
    jumps = {one.group.pk: jump for one in shown if (jump := _jump(one)) is not None}
    found = causes(jumps.values())
    return [replace(one, cause=found[jumps[one.group.pk]]) if one.group.pk in jumps else one for one in shown]


def _jump(one: ShownGroup) -> Jump | None:
    """A group may have been in its state for longer than the queue that decides."""
    state, judged = one.verdict, one.judged
    queue, since = state.queue, state.since
    if state.rule not in RULES or queue is None or since is None or judged is None:
        return None
    return Jump(one.group.pk, queue.topic.name, queue.broker, queue.queue_id, state.rule, since, judged.judged_at)


# Groups whose worst queue is blocked, with the message that blocks it.


def with_blocked(shown: Sequence[ShownGroup], now: datetime) -> list[ShownGroup]:
    """In their order; no query where no group is blocked."""
    verdicts = [one.verdict for one in shown]
    places = {
        (one.group.pk, state.queue.pk)
        for one, state in zip(shown, verdicts, strict=True)
        if state.rule == RuleCode.BLOCKED and state.queue is not None
    }
    found = {group: blocked for (group, _), blocked in blocked_places(places, now).items()}
    return [replace(one, blocked=found.get(one.group.pk)) for one in shown]


STORED = stored_in(JUDGED, TOTAL, GROUP)
OVERLAID = ("lag_messages", "lag_messages_at_least", "time_lag_seconds", "drain_seconds", "taken_at")
# Column of the list: column of the query. `health` and `state` ascending are worst first.
ORDERINGS = {
    "group": "name",
    "cluster": "cluster__name",
    "health": "shown_health_rank",
    "state": "shown_rank",
    "online": "shown_online",
    "message_model": "message_model",
    "consume_type": "consume_type",
    "last_rebalance_at": "judged__last_rebalance_at",
} | {name: f"shown_{name}" for name in (*STORED, *OVERLAID)}
# At most so many ids in one statement: a database limits the number of variables.
WIDE_ROWS = 2_000
COLUMNS = (*OVERLAID, "rank")


class UnknownOrdering(ValueError):
    """`ordering` is not a column of the list."""


def group_list(filters: GroupFilters, *, now: datetime, page: int = 1, page_size: int = 100) -> GroupPage:
    """As `listed`, at `now`."""
    return listed(Overlay.at(now), filters, page=page, page_size=page_size)


def listed(
    overlay: Overlay, filters: GroupFilters, *, page: int = 1, page_size: int = 100, count: int | None = None
) -> GroupPage:
    """One page of the groups; a page beyond the last is the last. Ten queries or fewer, for each 2,000 rows. `count`:
    how many there are, where that is known already.
    """
    found = filtered(overlay, filters)
    count = found.count() if count is None else count
    pages = max(1, -(-count // page_size))
    page = min(max(page, 1), pages)
    # First the ids, then the wide rows for these alone: sorting 10,000 wide rows costs ten times as much.
    start = (page - 1) * page_size
    chosen = list(found.order_by(*orders(filters.ordering)).values_list("pk", flat=True)[start : start + page_size])
    rows: dict[int, GroupRow] = {}
    for first in range(0, len(chosen), WIDE_ROWS):
        rows |= group_rows(chosen[first : first + WIDE_ROWS], overlay=overlay)
    return GroupPage([rows[pk] for pk in chosen], count, page, pages)


def group_rows(ids: Iterable[int], *, overlay: Overlay) -> dict[int, GroupRow]:
    return {shown.group.pk: group_row(shown) for shown in shown_groups(overlay, list(ids))}


@dataclass(frozen=True)
class GroupCounts:
    """How many groups pass the filters. `kinds`: whatever their kind and state; `states`, worst first: of the filters'
    kind, whatever their state; `listed`: those that are listed.
    """

    kinds: dict[ListKind, int]
    states: dict[State, int]
    listed: int


def group_counts(overlay: Overlay, filters: GroupFilters) -> GroupCounts:
    """One query, as each look at all groups takes most of what a page takes."""
    found = filtered(overlay, replace(filters, kind=None), by_state=False)
    kind = Case(*(When(of_kind(kind, overlay), then=Value(kind.value)) for kind in ListKind))
    kinds, ranks = Counter[str](), Counter[int]()
    for row in found.order_by().values(rank=F("shown_rank"), of_kind=kind).annotate(groups=Count("pk")):
        kinds[row["of_kind"]] += row["groups"]
        if filters.names is not None or filters.kind in (None, row["of_kind"]):
            ranks[row["rank"]] += row["groups"]
    return GroupCounts(
        {kind: kinds[kind.value] for kind in ListKind},
        {state: ranks[rank] for rank, state in enumerate(STATES)},
        ranks[RANKS[State(filters.state)]] if filters.state else ranks.total(),
    )


def filtered(
    overlay: Overlay, filters: GroupFilters, *, by_state: bool = True, groups: QuerySet[Any] | None = None
) -> QuerySet[Any]:
    """`groups` of the overlay (all, where none are given) that pass the filters."""
    found = with_health_rank(overlay.groups if groups is None else groups, overlay)
    if filters.cluster:
        found = found.filter(cluster__name=filters.cluster)
    if filters.kind and filters.names is None:
        found = found.filter(of_kind(filters.kind, overlay))
    if filters.search:
        found = found.filter(name__icontains=filters.search)
    if filters.topic:
        found = found.filter(_consumes(filters.topic))
    if filters.broker:
        found = found.filter(on_broker(filters.broker))
    if filters.owner:
        found = of_owner(filters.owner, found)
    if filters.label:
        found = of_label(*label_of(filters.label), found)
    if filters.names is not None:
        found = found.filter(_one_of(filters.names))
    if filters.online is not None:
        found = found.filter(shown_online=filters.online)
    if filters.firing is not None:
        found = found.filter(fires() if filters.firing else is_evaluated(overlay) & ~fires())
    if by_state and filters.state:
        found = found.filter(shown_rank=RANKS[State(filters.state)])
    if filters.health:
        found = found.filter(shown_health_rank=HEALTH_RANKS[HealthLevel(filters.health)])
    return found


def _consumes(topic: str) -> Q:
    offsets = QueueSnapshot.objects.filter(queue__topic__name=topic)
    subscribed = ClientSubscription.objects.filter(topic=topic, gone_by=None)
    return Q(pk__in=offsets.order_by().values("group")) | Q(pk__in=subscribed.order_by().values("group"))


def _one_of(names: Iterable[tuple[str, str]]) -> Q:
    by_cluster: dict[str, list[str]] = defaultdict(list)
    for cluster, group in names:
        by_cluster[cluster].append(group)
    wanted = (Q(cluster__name=cluster, name__in=groups) for cluster, groups in by_cluster.items())
    return reduce(or_, wanted, Q(pk__in=()))


def of_kind(kind: ListKind, overlay: Overlay) -> Q:
    if kind == ListKind.SYSTEM:
        return Q(kind=GroupKind.SYSTEM)
    is_ghost = ghosts(overlay.now, overlay.limits.kinds)
    return Q(kind=GroupKind.USER) & (is_ghost if kind == ListKind.GHOST else ~is_ghost)


def orders(ordering: str | None) -> list[OrderBy]:
    """Nulls last in both directions; ties by name. Without an ordering: worst health, then worst state, then largest
    lag.
    """
    if not ordering:
        # The stored lag breaks ties well enough, and saves another lookup of every group's brokers.
        return [
            F("shown_health_rank").asc(),
            F("shown_rank").asc(),
            F("total__lag_messages").desc(nulls_last=True),
            F("name").asc(),
            F("pk").asc(),
        ]
    column = ORDERINGS.get(ordering.removeprefix("-"))
    if column is None:
        raise UnknownOrdering(f"Groups are not ordered by {ordering!r}; columns are {', '.join(sorted(ORDERINGS))}.")
    first = F(column).desc(nulls_last=True) if ordering.startswith("-") else F(column).asc(nulls_last=True)
    return [first, F("name").asc(), F("pk").asc()]


def shown_groups(overlay: Overlay, ids: list[int]) -> list[ShownGroup]:
    """The groups of `ids`, in no order, with all columns of the overlay."""
    columns: dict[str, Any] = {f"of_{name}": F(f"shown_{name}") for name in COLUMNS}
    columns |= {"of_unread_by": F("unread_by"), "of_silent_by": F("silent_by")}
    columns["of_still_read"] = overlay.shown_late_state()
    wide = overlay.overlaid.filter(pk__in=ids).annotate(**columns)
    groups = list(wide.select_related("cluster", "total", "health", "judged__worst_queue__topic"))
    looked_up = [group for group in groups if group.of_silent_by is not None or _is_late(group, overlay)]
    wanted = {group.pk: group.of_still_read for group in looked_up}
    states = QueueState.objects.select_related("queue__topic").in_bulk([pk for pk in wanted.values() if pk is not None])
    losing = [group.pk for group in groups if getattr(group, "total", None) and group.total.lost_queues]
    losses = group_losses(losing, overlay.slaves) if losing else {}
    pops = pop_answers(ids)
    shown = [
        ShownGroup(
            group,
            overlay,
            states.get(wanted.get(group.pk)),
            pops.get(group.pk, NO_ANSWER).pops,
            loss=losses.get(group.pk),
            findings=noted(getattr(group, "health", None)),
        )
        for group in groups
    ]
    return with_incidents(with_causes(with_blocked(shown, overlay.now)), overlay.now)


def _is_late(group: ConsumerGroup, overlay: Overlay) -> bool:
    judged = getattr(group, "judged", None)
    return judged is not None and is_late(judged, overlay.now, overlay.limits)
