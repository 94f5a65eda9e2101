"""Rebalances, one row each: the list over all groups, newest first, and the newest ones of one group; and as marks on a
time axis: one mark for each episode, or one for an unstable group.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Prefetch, Q, QuerySet
from django.utils.translation import gettext, ngettext

from consumers.models import ConsumerGroup, GroupKind, Rebalance, RebalanceTopic
from consumers.models.asked_once import asked_once
from consumers.queries.declared import copied
from consumers.queries.reset_marks import went_on_since
from consumers.vocabulary.reasons import RebalanceCause, RebalanceReason
from consumers.words.marks import labelled
from consumers.words.reasons import coded_reason
from consumers.words.spans import count

from .rows import Cost, EventPage, Move, RebalanceEvent, RebalanceFilters, words_of
from .sentences import clock, evidence_opening, evidence_sentence

# The effect of a rebalance on queues, per topic and over all topics, and resets at the same time.

# The effect of a rebalance on queues, per topic and over all topics. A sum is null where one of its parts is unknown.
SUMS = RebalanceTopic.NUMBERS


def topic_reasons(topic: RebalanceTopic) -> dict[str, str]:
    """A reason for each null."""
    return {name: reason_of(topic.unknown.get(name)) for name in SUMS if getattr(topic, name) is None}


def reason_of(stored: str | None) -> str:
    return coded_reason(stored or RebalanceReason.NOT_REPORTED)


def cost_of_topic(topic: RebalanceTopic) -> Cost:
    return Cost(**{name: getattr(topic, name) for name in SUMS}, unknown=topic_reasons(topic))


def cost_of_all(topics: Sequence[RebalanceTopic]) -> Cost:
    """The sums; null where one topic's number is null, with that topic's reason. Peaks of topics need not coincide."""
    values: dict[str, Any] = dict.fromkeys(SUMS)
    if not topics:
        return Cost(**values, unknown=dict.fromkeys(SUMS, coded_reason(RebalanceReason.NO_TOPIC)))
    reasons: dict[str, str] = {}
    for name in SUMS:
        lacking = [topic for topic in topics if getattr(topic, name) is None]
        if not lacking:
            values[name] = sum(getattr(topic, name) for topic in topics)
            continue
        reason = reason_of(lacking[0].unknown.get(name))
        reasons[name] = reason if len(topics) == 1 else labelled(lacking[0].topic, reason)
    return Cost(**values, unknown=reasons)


OF_MOVE = tuple(
    [f"{kind}_seconds{bound}" for kind in ("unowned", "doubly_owned") for bound in ("", "_low", "_high")]
    + ["replayed_messages_low", "replayed_messages"]
)


def moves_of(topic: RebalanceTopic) -> list[Move]:
    """In order of broker and queue id."""
    moves = [_move(topic.topic, move) for move in topic.moves]
    return sorted(moves, key=lambda move: (move.broker, move.queue_id))


def _move(topic: str, move: dict[str, Any]) -> Move:
    own = move.get("unknown") or {}
    values = {name: move.get(name) for name in OF_MOVE}
    ends: dict[str, Any] = {name: None if move.get(name) is None else tuple(move[name]) for name in ("before", "after")}
    reasons = {name: reason_of(own.get(name)) for name, value in (values | ends).items() if value is None}
    return Move(topic, move["broker"], move["queue_id"], **ends, **values, unknown=reasons)


# Resets from here at the start of a rebalance that has no other known cause. Computed when rows are read; not stored.
# A member that follows a moved offset drops the queue and takes it again (5.4.0, DefaultMQPushConsumerImpl).
COLUMNS = ("group_id", "started_at", "finished_at", "applied_by_name", "by_name", "reason")


def name_resets(rows: Collection[Rebalance]) -> None:
    """Adds `reset` to the evidence of rebalances without a known cause, unsaved. One query, none without such a
    rebalance.
    """
    open_ones = [row for row in rows if words_of(row.cause) == (str(RebalanceCause.UNKNOWN),)]
    if not open_ones:
        return
    resets = _resets({row.group_id for row in open_ones}, min(_began(row) for row in open_ones))
    for row in open_ones:
        meanwhile = [words for group, since, until, words in resets if _meets(row, group, since, until)]
        if meanwhile:
            row.evidence = [
                {**found, "reset": meanwhile[0]} for found in row.evidence or [{"cause": RebalanceCause.UNKNOWN.value}]
            ]


def _resets(groups: set[int], since: datetime) -> list[tuple[int, datetime, datetime | None, str]]:
    """The newest first."""
    rows = went_on_since(since).filter(group__in=groups).order_by("-started_at")
    return [
        (group, begun, ended, f"{applied_by or by}, {clock(begun)} ({reason})")
        for group, begun, ended, applied_by, by, reason in rows.values_list(*COLUMNS)
    ]


def _began(row: Rebalance) -> datetime:
    return row.started_after or row.started_before


def _meets(row: Rebalance, group: int, since: datetime, until: datetime | None) -> bool:
    return row.group_id == group and since <= row.started_before and (until is None or until >= _began(row))


# The name of a rebalance is also its address: `prod/billing/2026-03-14T02:14:24.123456Z`.
FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def event_name(rebalance: Rebalance) -> str:
    group = rebalance.group
    return f"{group.cluster.name}/{group.name}/{moment_text(rebalance.started_before)}"


def moment_text(at: datetime) -> str:
    return at.astimezone(UTC).strftime(FORM)


def moment_of(text: str) -> datetime | None:
    """None where `text` is not a time as `moment_text` writes it."""
    try:
        return datetime.strptime(text, FORM).replace(tzinfo=UTC)
    except ValueError:
        return None


# Filters of rebalances, in SQL. Without a join: a hundred thousand rows are counted from an index.
# No rebalance is longer: a group that never settles has one after the other.
LONGEST = timedelta(hours=1)


def filtered(filters: RebalanceFilters, *, by_cause: bool = True) -> QuerySet[Rebalance]:
    """Newest first; ties by group. Two queries: the groups first."""
    found = Rebalance.objects.filter(_of_groups(filters)).order_by("-started_before", "pk")
    if filters.since:
        found = found.filter(_since(filters))
    if filters.until:
        found = found.filter(started_before__lt=filters.until)
    if by_cause and filters.cause:
        # No cause's word is part of another.
        found = found.filter(cause__contains=filters.cause)
    return found


def _of_groups(filters: RebalanceFilters) -> Q:
    if filters.group:
        return Q(group__in=_named(filters.group, filters.cluster))
    own = ~Q(group__in=_system_groups())
    if not filters.cluster:
        return own
    return own & Q(group__in=ConsumerGroup.objects.filter(cluster__name=filters.cluster).values("pk"))


@asked_once
def _system_groups() -> list[int]:
    return _ids(ConsumerGroup.objects.filter(kind=GroupKind.SYSTEM))


@asked_once
def _named(group: str, cluster: str | None) -> list[int]:
    named = ConsumerGroup.objects.filter(name=group)
    return _ids(named.filter(cluster__name=cluster) if cluster else named)


def _ids(groups: QuerySet[Any]) -> list[int]:
    return list(groups.values_list("pk", flat=True))


def _since(filters: RebalanceFilters) -> Q:
    begun = Q(started_before__gte=filters.since)
    if not filters.touching or filters.since is None:
        return begun
    near = Q(started_before__gte=filters.since - LONGEST)
    return near & (begun | Q(last_change_at__gte=filters.since))


def rebalance_list(filters: RebalanceFilters, *, page: int = 1, page_size: int = 50) -> EventPage:
    """One page; a page beyond the last is the last. Seven queries at most, however many rebalances."""
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
    """Rebalances of one group, newest first. Six queries at most."""
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
    """How many rebalances each episode of `rows` has, by group and start."""
    return sizes_of({(row.group_id, row.episode_since) for row in rows})


def sizes_of(episodes: Collection[tuple[int, datetime]]) -> Counter[Any]:
    """How many rebalances each of these has. One query."""
    groups, begun = {group for group, _since in episodes}, {since for _group, since in episodes}
    if not begun:
        return Counter()
    # The first rebalance of an episode is its start: older rows are not needed.
    near = Rebalance.objects.filter(group__in=groups, started_before__gte=min(begun), episode_since__in=begun)
    counted = near.order_by().values("group_id", "episode_since").annotate(events=Count("pk"))
    return Counter({(row["group_id"], row["episode_since"]): row["events"] for row in counted})


def cause_counts(filters: RebalanceFilters) -> dict[RebalanceCause, int]:
    """How many rebalances have each cause that occurs; `filters.cause` itself is ignored."""
    found = filtered(filters, by_cause=False).order_by().values("cause").annotate(events=Count("pk"))
    counts: Counter[str] = Counter()
    for row in found:
        for word in set(words_of(row["cause"])):
            counts[word] += row["events"]
    return {cause: counts[cause] for cause in RebalanceCause if counts[cause]}


def event_fields(row: Rebalance, episode: int) -> dict[str, Any]:
    """The values of all fields of RebalanceEvent, as a detail needs them too."""
    # The rebalance may have started right after the previous reading.
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


MEMBERS = ("members_before", "members_after", "client_ids_before", "client_ids_after")


def event_reasons(row: Rebalance) -> dict[str, str]:
    """A reason for each null of the event itself."""
    usual = {
        "started_after": RebalanceReason.NO_READING_BEFORE,
        "settled_at": RebalanceReason.NOT_SETTLED,
        "dated_at": RebalanceReason.NOT_DATED,
        **dict.fromkeys(MEMBERS, RebalanceReason.NOT_REPORTED),
    }
    nulls = {name: reason for name, reason in usual.items() if getattr(row, name) is None}
    return {name: coded_reason(row.unknown.get(name) or reason) for name, reason in nulls.items()}


# The number of rebalances, always together with the number of their episodes, so that neither is taken for the other.
def rebalance_counts(rebalances: int, episodes: int) -> str:
    """`14 rebalances in 1 episode`: rebalances less than a minute apart are one episode."""
    words = {
        "rebalances": ngettext("%(n)s rebalance", "%(n)s rebalances", rebalances) % {"n": count(rebalances)},
        "episodes": ngettext("%(n)s episode", "%(n)s episodes", episodes) % {"n": count(episodes)},
    }
    return gettext("%(rebalances)s in %(episodes)s") % words


EPISODES_SHOWN, REBALANCES_LOOKED_AT = 200, 2000
MARK_COLUMNS = ("group_id", "episode_since", "started_before", "last_change_at", "settled_at", "cause", "rollout")


@dataclass(frozen=True)
class Mark:
    """Consecutive rebalances of one group: an episode, or all episodes of an unstable group.

    `at` is the name of its newest rebalance (`event_name`), `causes` are the causes of that one.
    """

    cluster: str
    group: str
    since: datetime
    until: datetime
    rebalances: int
    episodes: int
    at: str
    causes: tuple[str, ...]
    rollout: bool


def rebalance_marks(filters: RebalanceFilters) -> list[Mark]:
    """Newest first: at most EPISODES_SHOWN, of the newest REBALANCES_LOOKED_AT rebalances. Four queries.

    A group with as many episodes within any hour as flapping takes is one mark, unless only its own marks were asked
    for.
    """
    marks = _episodes(filters)
    return marks if filters.group else list(_one_for_each_that_flaps(marks))


def _episodes(filters: RebalanceFilters) -> list[Mark]:
    newest: dict[tuple[int, datetime], Any] = {}
    for row in filtered(filters).values(*MARK_COLUMNS)[:REBALANCES_LOOKED_AT]:
        newest.setdefault((row["group_id"], row["episode_since"]), row)
    shown = list(newest.items())[:EPISODES_SHOWN]
    sizes = sizes_of([episode for episode, _row in shown])
    groups = ConsumerGroup.objects.select_related("cluster").in_bulk([group for (group, _since), _row in shown])
    return [_mark(row, groups[episode[0]], sizes[episode]) for episode, row in shown]


def _mark(newest: Any, group: ConsumerGroup, rebalances: int) -> Mark:
    return Mark(
        cluster=group.cluster.name,
        group=group.name,
        since=newest["episode_since"],
        until=newest["settled_at"] or newest["last_change_at"],
        rebalances=rebalances,
        episodes=1,
        at=moment_text(newest["started_before"]),
        causes=words_of(newest["cause"]),
        rollout=newest["rollout"],
    )


def _one_for_each_that_flaps(marks: list[Mark]) -> Iterable[Mark]:
    groups: dict[tuple[str, str], list[Mark]] = defaultdict(list)
    for mark in marks:
        groups[mark.cluster, mark.group].append(mark)
    for of_group in groups.values():
        yield from [_joined(of_group)] if _flaps(of_group) else of_group


def _flaps(marks: list[Mark]) -> bool:
    """Whether enough episodes began within one hour; `marks` are newest first."""
    enough = int(settings.JUDGE["flapping_episodes_per_hour"])
    return any(
        first.since - last.since <= timedelta(hours=1) for first, last in zip(marks, marks[enough - 1 :], strict=False)
    )


def _joined(marks: list[Mark]) -> Mark:
    newest, oldest = marks[0], marks[-1]
    return copied(
        Mark,
        newest,
        since=oldest.since,
        rebalances=sum(mark.rebalances for mark in marks),
        episodes=len(marks),
        rollout=False,
    )
