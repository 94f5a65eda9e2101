"""What needs attention over all groups, or those of one cluster."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, F, Max, Min, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, gettext_lazy

from consumers.groups.health_checks import HEALTH_RANKS
from consumers.groups.listing import filtered, orders, shown_groups
from consumers.groups.overlay import NO_BROKER, STATES, Overlay
from consumers.groups.row import group_row
from consumers.groups.rows import GroupFilters, GroupRow, KnownPart
from consumers.models import HealthLevel, State, StateChange, TimeLagKind
from consumers.queries.limits import BrokerAge, ClusterAge
from consumers.queries.queues.lost_offsets import BrokerLoss, broker_losses
from consumers.queries.queues.overlay import NOT_JUDGED_YET
from consumers.queries.reset_marks import RULES, Jump, causes
from consumers.queries.sentences import sentence, state_parts
from consumers.retries.checks.condition_rows import FailingGroup
from consumers.retries.checks.failing import failing_groups
from consumers.vocabulary.findings import FindingSeverity
from consumers.vocabulary.reasons import ReasonCode
from consumers.words.reasons import lazy_reason
from consumers.words.spans import count
from consumers.words.states import rule_words


@dataclass(frozen=True)
class WorstGroup:
    """A group that needs attention, and the parts of the sentence that says why."""

    row: GroupRow
    parts: list[str]


@dataclass(frozen=True)
class Change:
    """A group went from one state to another by a `rule`; `before` is null at its first judgement."""

    at: datetime
    cluster: str
    group: str
    before: State | None
    after: State
    rule: str
    sentence: str


class CauseCode(StrEnum):
    """A cause that is no broker's, and no rule's."""

    NOT_EVALUATED = "not_evaluated"
    EVALUATION_LATE = "evaluation_late"
    NOT_POLLED = "not_polled"


@dataclass(frozen=True)
class UnknownCause:
    """One cause and how many groups it keeps from being known. `broker` is null where no broker is the cause.

    `cluster` names several, with commas, where one cause concerns them all. `code` is null for other causes.
    """

    cause: str
    cluster: str
    broker: str | None
    since: datetime | None
    groups: int
    code: CauseCode | None = None


@dataclass(frozen=True)
class Overview:
    """`counts` are of groups by state, `health` by level. `lag_messages` is null as soon as one group's is unknown;
    `lag_messages_at_least` is then the known sum.

    `time_lag_seconds` is the longest that is known, `at_least` where one is unknown; `oldest_group` has it. `failing`:
    what loses failed messages or holds queues up, and brokers that are closed, whatever their groups' states. `losses`:
    brokers from which committed offsets are gone, whatever else is known of their groups.
    """

    counts: dict[State, int]
    health: dict[HealthLevel, int]
    groups: int
    lag_messages: int | None
    lag_messages_at_least: int | None
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    oldest_group: GroupRow | None
    dlq_messages: int | None
    dlq_day_messages: int | None
    worst: list[WorstGroup]
    causes: list[UnknownCause]
    losses: list[BrokerLoss]
    failing: list[FailingGroup]
    changes: list[Change]
    unknown_reason: str | None
    unknown: dict[str, str] = field(default_factory=dict)
    known_parts: dict[str, KnownPart] = field(default_factory=dict)

    @property
    def time_lag_at(self) -> datetime | None:
        return None if self.oldest_group is None else self.oldest_group.time_lag_at


# Why groups are unknown: one row per cause, not one per group.
# Groups with an outdated state count as well: their rates and time lags are unknown.
EVALUATION_LATE = lazy_reason(ReasonCode.EVALUATION_LATE)

NOT_POLLED = lazy_reason(ReasonCode.CLUSTER_NOT_POLLED)

# One process polls all clusters.
OF_THE_SITE = (CauseCode.EVALUATION_LATE, CauseCode.NOT_POLLED)
CAUSES = {
    CauseCode.NOT_EVALUATED: NOT_JUDGED_YET,
    CauseCode.EVALUATION_LATE: EVALUATION_LATE,
    CauseCode.NOT_POLLED: NOT_POLLED,
}


def unknown_causes(overlay: Overlay, found: QuerySet[Any], read: QuerySet[Any]) -> list[UnknownCause]:
    """The causes with the most groups first; `read` are those of `found` that are read completely.

    A broker counts every group that has queues on it, whatever else the group shows.
    """
    unread = [] if overlay.everything_is_read else _unread(overlay, found)
    causes = _united(unread + _unjudged(overlay, read))
    return sorted(causes, key=lambda cause: (-cause.groups, cause.cluster, cause.cause))


def _unread(overlay: Overlay, found: QuerySet[Any]) -> list[UnknownCause]:
    causes: list[UnknownCause] = []
    for row in found.values("cluster_id", by=F("unread_by")).annotate(groups=Count("pk")):
        cluster = overlay.clusters[row["cluster_id"]]
        if row["by"] == NO_BROKER:
            causes.append(
                UnknownCause(gettext("no broker of the cluster is known yet"), cluster.name, None, None, row["groups"])
            )
        elif row["by"] is not None:
            causes.append(_unread_cause(overlay, cluster, overlay.brokers[row["by"]], row["groups"]))
    return causes


def _unread_cause(overlay: Overlay, cluster: ClusterAge, broker: BrokerAge, groups: int) -> UnknownCause:
    """No broker is the cause where nobody polls, or where the name server lists none."""
    at = cluster.newest_reading_at
    if at is None or at < overlay.limits.read_since(overlay.now):
        return UnknownCause(str(NOT_POLLED), cluster.name, None, at, groups, CauseCode.NOT_POLLED)
    if cluster.newest_error is not None and all(one.error == cluster.newest_error for one in cluster.brokers):
        return UnknownCause(cluster.newest_error, cluster.name, None, broker.last_read_at, groups)
    reason = broker.unread_reason(overlay.now, overlay.limits) or ""
    if len(cluster.brokers) > 1 and all(overlay.is_unread(one) for one in cluster.brokers):
        reason = gettext("none of the %(brokers)s brokers is read; %(reason)s") % {
            "reason": reason,
            "brokers": len(cluster.brokers),
        }
    return UnknownCause(reason, cluster.name, broker.name, broker.last_read_at, groups)


def _united(causes: list[UnknownCause]) -> list[UnknownCause]:
    """A cause that stops all clusters at once is one row."""
    rows = [cause for cause in causes if cause.code not in OF_THE_SITE]
    for code in OF_THE_SITE:
        same = [cause for cause in causes if cause.code == code]
        if same:
            times = [cause.since for cause in same if cause.since is not None]
            clusters = ", ".join(sorted(cause.cluster for cause in same))
            groups = sum(cause.groups for cause in same)
            rows.append(UnknownCause(str(CAUSES[code]), clusters, None, min(times, default=None), groups, code))
    return rows


def _unjudged(overlay: Overlay, read: QuerySet[Any]) -> list[UnknownCause]:
    """Groups whose brokers are read, but that are UNKNOWN or whose evaluation is late."""
    since = overlay.limits.judged_since(overlay.now)
    is_never, is_stale = Q(judged__isnull=True), Q(judged__judged_at__lt=since)
    cause = Case(
        When(is_never, then=Value(CauseCode.NOT_EVALUATED.value)),
        When(is_stale, then=Value(CauseCode.EVALUATION_LATE.value)),
        default=F("judged__rule"),
    )
    began = Case(
        When(is_never, then=F("first_seen_at")),
        When(is_stale, then=F("judged__judged_at")),
        default=F("judged__since"),
    )
    unjudged = read.filter(is_never | is_stale | Q(judged__state=State.UNKNOWN))
    counted = unjudged.values("cluster_id", cause=cause).annotate(since=Min(began), groups=Count("pk"))
    return [
        _unjudged_cause(row["cause"], overlay.clusters[row["cluster_id"]].name, row["since"], row["groups"])
        for row in counted
    ]


def _unjudged_cause(name: str, cluster: str, since: datetime | None, groups: int) -> UnknownCause:
    """`name`: the code of a cause or of a rule."""
    if name not in CAUSES:
        return UnknownCause(rule_words(name), cluster, None, since, groups)
    code = CauseCode(name)
    return UnknownCause(str(CAUSES[code]), cluster, None, since, groups, code)


# Sums over groups, null as soon as a part is unknown.

NO_GROUPS = gettext_lazy("no group has been read yet")


def sums(groups: int, found: QuerySet[Any], read: QuerySet[Any]) -> dict[str, Any]:
    """`read` are those of the `groups` in `found` that are read completely: for others only a part of the lag is known.
    A group that never committed has no part in the sums.
    """
    row = _of_read(read)
    at_least = found.annotate(known=F("shown_lag_messages_at_least")).aggregate(sum=Sum("known"))["sum"]
    no_lag = groups - row["groups"] + row["unknown_lag"]
    no_time_lag, no_dead, no_day = (groups - row[name] for name in ("time_lags", "dead_known", "day_known"))
    values = {
        "lag_messages": None if no_lag else row["lag"],
        "lag_messages_at_least": at_least,
        "time_lag_seconds": row["oldest"],
        "dlq_messages": None if no_dead else row["dead"],
        "dlq_day_messages": None if no_day else row["day"],
    }
    reasons = {
        "lag_messages_at_least": gettext("no data for any group"),
        "time_lag_seconds": gettext("no data for any group"),
        "dlq_messages": gettext("no dead-letter data for %(unknown)s of %(groups)s groups")
        % {"groups": groups, "unknown": no_dead}
        if groups
        else str(NO_GROUPS),
        "dlq_day_messages": _no_day(groups, no_day, row["day_at_least"]),
    }
    # Where one group is known for the whole day, no single start time applies to the sum.
    since = row["day_since"] if row["day_parts"] == row["groups"] else None
    parts = (
        {"dlq_day_messages": KnownPart(row["day_at_least"], since)}
        if no_day and row["day_at_least"] is not None
        else {}
    )
    lag_reason = (
        gettext("no data for %(unknown)s of %(groups)s groups") % {"groups": groups, "unknown": no_lag}
        if no_lag
        else str(NO_GROUPS)
    )
    kind = TimeLagKind.AT_LEAST if no_time_lag else TimeLagKind.INTERPOLATED
    return values | {
        "time_lag_kind": TimeLagKind.UNKNOWN if row["oldest"] is None else kind,
        "unknown_reason": lag_reason if values["lag_messages"] is None else None,
        "unknown": {name: reason for name, reason in reasons.items() if values[name] is None},
        "known_parts": parts,
    }


def _of_read(read: QuerySet[Any]) -> dict[str, Any]:
    shown = read.annotate(
        time_lag=F("shown_time_lag_seconds"),
        died=F("shown_dlq_day_messages"),
        died_at_least=Coalesce(F("shown_dlq_day_messages"), F("shown_dlq_day_messages_at_least")),
        died_since=F("shown_dlq_day_since"),
    )
    return shown.aggregate(
        groups=Count("pk"),
        lag=Sum("total__lag_messages"),
        unknown_lag=Count("pk", filter=Q(total__unknown_queues__isnull=True) | Q(total__unknown_queues__gt=0)),
        oldest=Max("time_lag"),
        time_lags=Count("time_lag"),
        dead=Sum("total__dlq_messages"),
        dead_known=Count("total__dlq_messages"),
        day=Sum("died"),
        day_known=Count("died"),
        day_at_least=Sum("died_at_least"),
        day_parts=Count("died_since"),
        day_since=Min("died_since"),
    )


def _no_day(groups: int, unknown: int, known: int | None) -> str:
    if not groups:
        return str(NO_GROUPS)
    words = {"unknown": unknown, "groups": groups, "known": None if known is None else count(known)}
    if known is None:
        return gettext("DLQ inflow of 24 h is incomplete for %(unknown)s of %(groups)s groups") % words
    return (
        gettext("DLQ inflow of 24 h is incomplete for %(unknown)s of %(groups)s groups: ≥ %(known)s in total") % words
    )


CHANGES_SHOWN = 200


def overview(
    *, cluster: str | None = None, since: datetime, until: datetime, now: datetime, worst: int = 10
) -> Overview:
    """User groups only. `worst` limits how many groups that need attention are shown; changes are of [since, until)."""
    overlay = Overlay.at(now)
    filters = GroupFilters(cluster=cluster)
    found = filtered(overlay, filters)
    read = filtered(overlay, filters, groups=overlay.read_groups)
    counted, healthy = _counts(found)
    known = sums(sum(counted.values()), found, read)
    chosen = _worst(found, worst)
    oldest = read.order_by(*orders("-time_lag_seconds")).values_list("pk", flat=True).first()
    shown = {one.group.pk: one for one in shown_groups(overlay, [*chosen, *([oldest] if oldest else [])])}
    return Overview(
        counts={state: counted.get(rank, 0) for rank, state in enumerate(STATES)},
        health={level: healthy.get(rank, 0) for level, rank in HEALTH_RANKS.items()},
        groups=sum(counted.values()),
        oldest_group=group_row(shown[oldest]) if oldest and known["time_lag_seconds"] is not None else None,
        worst=[WorstGroup(group_row(shown[pk]), shown[pk].verdict.parts) for pk in chosen],
        causes=unknown_causes(overlay, found, read),
        losses=broker_losses(overlay.slaves, cluster),
        failing=[
            row for row in failing_groups(cluster, now) if row.severity is FindingSeverity.CRITICAL or row.group is None
        ],
        changes=changes(cluster=cluster, since=since, until=until),
        **known,
    )


def _counts(found: QuerySet[Any]) -> tuple[dict[int, int], dict[int, int]]:
    """Groups by the rank of their state, and by that of their health. One query."""
    states: Counter[int] = Counter()
    levels: Counter[int] = Counter()
    ranks = found.order_by().values(rank=F("shown_rank"), health_rank=F("shown_health_rank"))
    for row in ranks.annotate(groups=Count("pk")):
        states[row["rank"]] += row["groups"]
        levels[row["health_rank"]] += row["groups"]
    return states, levels


def _worst(found: QuerySet[Any], count: int) -> list[int]:
    troubled = found.filter(shown_health_rank__lt=HEALTH_RANKS[HealthLevel.UNKNOWN])
    return list(troubled.order_by(*orders(None)).values_list("pk", flat=True)[:count])


def changes(*, cluster: str | None = None, group: str | None = None, since: datetime, until: datetime) -> list[Change]:
    """Changes of state of user groups, newest first, in [since, until)."""
    rows = StateChange.objects.filter(at__gte=since, at__lt=until, group__kind="user").select_related("group__cluster")
    if cluster:
        rows = rows.filter(group__cluster__name=cluster)
    if group:
        rows = rows.filter(group__name=group)
    shown = list(rows[:CHANGES_SHOWN])
    why = change_causes(shown)
    return [
        Change(
            at=row.at,
            cluster=row.group.cluster.name,
            group=row.group.name,
            before=State(row.before) if row.before else None,
            after=State(row.after),
            rule=row.rule,
            sentence=sentence(state_parts(State(row.after), row.rule, row.detail | why.get(row.pk, {}))),
        )
        for row in shown
    ]


# What moved the jumped offsets that changed the state of groups.


def change_causes(rows: Iterable[StateChange]) -> dict[int, dict[str, str]]:
    """In addition to the numbers of each change, by its id. One query, none without a jump."""
    jumps = {row.pk: jump for row in rows if (jump := _jump(row)) is not None}
    found = causes(jumps.values())
    return {pk: found[jump] for pk, jump in jumps.items()}


def _jump(row: StateChange) -> Jump | None:
    """An evaluation covers one window: the jump is in it."""
    place = [row.detail.get(name) for name in ("topic", "broker", "queue_id")]
    if row.rule not in RULES or None in place:
        return None
    topic, broker, queue_id = place
    since = row.at - timedelta(seconds=settings.JUDGE["window_seconds"])
    return Jump(row.group_id, topic, broker, queue_id, row.rule, since, row.at)
