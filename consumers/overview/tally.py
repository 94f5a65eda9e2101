"""All groups, counted by whatever the overview tells of them, and what follows from that: one look at every group
instead of one for each number."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import Case, Count, F, Max, Min, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, gettext_lazy

from consumers.groups.health_checks import HEALTH_RANKS, RANK_OF_STATE
from consumers.groups.listing import filtered
from consumers.groups.overlay import NO_BROKER, STATES, Overlay
from consumers.groups.rows import GroupFilters, KnownPart
from consumers.models import HealthLevel, State, TimeLagKind
from consumers.queries.limits import BrokerAge, ClusterAge
from consumers.queries.queues.overlay import NOT_JUDGED_YET
from consumers.vocabulary.reasons import ReasonCode
from consumers.words.reasons import lazy_reason
from consumers.words.spans import count
from consumers.words.states import rule_words


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
class Tallied:
    """Groups that are alike: of one cluster, kept from being read by the same broker (null: read completely), of one
    state and health. `cause`: why those that are read are not known, the code of a cause or of a rule, and `since`
    when at the earliest.

    The sums are as stored, and of a group that is not read only `at_least` is shown. `time_lags`: groups whose time lag
    is known, and no lower bound.
    """

    cluster_id: int
    unread_by: int | None
    rank: int
    health_rank: int
    cause: str | None
    groups: int
    since: datetime | None
    lag: int | None
    at_least: int | None
    unknown_lag: int
    oldest: float | None
    time_lags: int
    dead: int | None
    dead_known: int
    day: int | None
    day_known: int
    day_at_least: int | None
    day_parts: int
    day_since: datetime | None


BOUNDED = (TimeLagKind.EXACT, TimeLagKind.INTERPOLATED)


def tally(overlay: Overlay, filters: GroupFilters) -> list[Tallied]:
    found: QuerySet[Any] = filtered(overlay, filters, groups=overlay.as_read)
    cause, since = _why_unknown(overlay)
    # As `time_lag_kind` of a group's row: where a queue is unknown, its time lag is a lower bound too.
    is_bounded = Q(total__lag_messages=0) | Q(total__lag_messages__gt=0, judged__time_lag_kind__in=BOUNDED)
    grouped = found.order_by().values(
        "cluster_id",
        found=F("found_health"),
        late=F("late_health"),
        by=F("unread_by"),
        rank=F("shown_rank"),
        cause=cause,
    )
    counted = grouped.annotate(
        groups=Count("pk"),
        since=Min(since),
        lag=Sum("total__lag_messages"),
        at_least=Sum(F("shown_lag_messages_at_least")),
        unknown_lag=Count("pk", filter=Q(total__unknown_queues__isnull=True) | Q(total__unknown_queues__gt=0)),
        oldest=Max(F("shown_time_lag_seconds")),
        time_lags=Count(F("shown_time_lag_seconds"), filter=is_bounded),
        dead=Sum("total__dlq_messages"),
        dead_known=Count("total__dlq_messages"),
        day=Sum(F("shown_dlq_day_messages")),
        day_known=Count(F("shown_dlq_day_messages")),
        day_at_least=Sum(Coalesce(F("shown_dlq_day_messages"), F("shown_dlq_day_messages_at_least"))),
        day_parts=Count(F("shown_dlq_day_since")),
        day_since=Min(F("shown_dlq_day_since")),
    )
    return [_tallied(row) for row in counted]


def _tallied(row: dict[str, Any]) -> Tallied:
    # The rule of `with_health_rank`: the database would compute the rank of the state a second time for it.
    noted = min(row.pop("found"), row.pop("late"))
    return Tallied(unread_by=row.pop("by"), health_rank=min(RANK_OF_STATE[row["rank"]], noted), **row)


def _why_unknown(overlay: Overlay) -> tuple[Case, Case]:
    """Returns why groups are UNKNOWN or their evaluation is late although their brokers are read, and since when."""
    is_never, is_unknown = Q(judged__isnull=True), Q(judged__state=State.UNKNOWN)
    whens = [(is_never, Value(CauseCode.NOT_EVALUATED.value), F("first_seen_at"))]
    if not overlay.nothing_is_late:
        whens.append((overlay.is_late(), Value(CauseCode.EVALUATION_LATE.value), F("judged__judged_at")))
    cause = Case(*(When(so, then=code) for so, code, _ in whens), When(is_unknown, then=F("judged__rule")))
    since = Case(*(When(so, then=at) for so, _, at in whens), When(is_unknown, then=F("judged__since")))
    return cause, since


def by_state(rows: Iterable[Tallied]) -> dict[State, int]:
    counted = _groups_by(rows, lambda row: row.rank)
    return {state: counted[rank] for rank, state in enumerate(STATES)}


def by_health(rows: Iterable[Tallied]) -> dict[HealthLevel, int]:
    counted = _groups_by(rows, lambda row: row.health_rank)
    return {level: counted[rank] for level, rank in HEALTH_RANKS.items()}


def _groups_by(rows: Iterable[Tallied], key: Callable[[Tallied], Any]) -> Counter[Any]:
    counted = Counter[Any]()
    for row in rows:
        counted[key(row)] += row.groups
    return counted


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


def unknown_causes(overlay: Overlay, rows: Sequence[Tallied]) -> list[UnknownCause]:
    """The causes with the most groups first. A broker counts every group that has queues on it, whatever else the
    group shows.
    """
    causes = _united([*_unread(overlay, rows), *_unjudged(overlay, rows)])
    return sorted(causes, key=lambda cause: (-cause.groups, cause.cluster, cause.cause))


def _unread(overlay: Overlay, rows: Sequence[Tallied]) -> list[UnknownCause]:
    causes: list[UnknownCause] = []
    for (cluster_id, broker), number in _groups_by(rows, lambda row: (row.cluster_id, row.unread_by)).items():
        cluster = overlay.clusters[cluster_id]
        if broker is None:
            continue
        if broker == NO_BROKER:
            why = gettext("no broker of the cluster is known yet")
            causes.append(UnknownCause(why, cluster.name, None, None, number))
        else:
            causes.append(_unread_cause(overlay, cluster, overlay.brokers[broker], number))
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


def _unjudged(overlay: Overlay, rows: Sequence[Tallied]) -> list[UnknownCause]:
    """Returns groups whose brokers are read, but that are UNKNOWN or whose evaluation is late."""
    grouped: dict[tuple[int, str], list[Tallied]] = {}
    for row in rows:
        if row.unread_by is None and row.cause is not None:
            grouped.setdefault((row.cluster_id, row.cause), []).append(row)
    return [
        _unjudged_cause(
            cause,
            overlay.clusters[cluster_id].name,
            min((one.since for one in found if one.since is not None), default=None),
            sum(one.groups for one in found),
        )
        for (cluster_id, cause), found in grouped.items()
    ]


def _unjudged_cause(name: str, cluster: str, since: datetime | None, groups: int) -> UnknownCause:
    """`name`: the code of a cause or of a rule."""
    if name not in CAUSES:
        return UnknownCause(rule_words(name), cluster, None, since, groups)
    code = CauseCode(name)
    return UnknownCause(str(CAUSES[code]), cluster, None, since, groups, code)


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


# Sums over groups, null as soon as a part is unknown.

NO_GROUPS = gettext_lazy("no group has been read yet")


def sums(rows: Sequence[Tallied]) -> dict[str, Any]:
    """Of groups that are not read completely only a part of the lag is known. A group that never committed has no part
    in the sums.
    """
    read = [row for row in rows if row.unread_by is None]
    groups, read_groups = (sum(row.groups for row in some) for some in (rows, read))
    no_lag = groups - read_groups + sum(row.unknown_lag for row in read)
    no_bound, no_dead, no_day = (
        groups - sum(getattr(row, name) for row in read) for name in ("time_lags", "dead_known", "day_known")
    )
    oldest = max((row.oldest for row in read if row.oldest is not None), default=None)
    day_at_least = _sum(row.day_at_least for row in read)
    values = {
        "lag_messages": None if no_lag else _sum(row.lag for row in read),
        "lag_messages_at_least": _sum(row.at_least for row in rows),
        "time_lag_seconds": oldest,
        "dlq_messages": None if no_dead else _sum(row.dead for row in read),
        "dlq_day_messages": None if no_day else _sum(row.day for row in read),
    }
    reasons = {
        "lag_messages_at_least": gettext("no data for any group"),
        "time_lag_seconds": gettext("no data for any group"),
        "dlq_messages": gettext("no dead-letter data for %(unknown)s of %(groups)s groups")
        % {"groups": groups, "unknown": no_dead}
        if groups
        else str(NO_GROUPS),
        "dlq_day_messages": _no_day(groups, no_day, day_at_least),
    }
    # Where one group is known for the whole day, no single start time applies to the sum.
    begins = [row.day_since for row in read if row.day_since is not None]
    since = min(begins, default=None) if sum(row.day_parts for row in read) == read_groups else None
    parts = {"dlq_day_messages": KnownPart(day_at_least, since)} if no_day and day_at_least is not None else {}
    lag_reason = (
        gettext("no data for %(unknown)s of %(groups)s groups") % {"groups": groups, "unknown": no_lag}
        if no_lag
        else str(NO_GROUPS)
    )
    kind = TimeLagKind.AT_LEAST if no_bound else TimeLagKind.INTERPOLATED
    return values | {
        "time_lag_kind": TimeLagKind.UNKNOWN if oldest is None else kind,
        "unknown_reason": lag_reason if values["lag_messages"] is None else None,
        "unknown": {name: reason for name, reason in reasons.items() if values[name] is None},
        "known_parts": parts,
    }


def _sum(numbers: Iterable[int | None]) -> int | None:
    """Of what is known; null where nothing is. PostgreSQL's sums of whole numbers are decimals."""
    known = [int(number) for number in numbers if number is not None]
    return sum(known) if known else None


def _no_day(groups: int, unknown: int, known: int | None) -> str:
    if not groups:
        return str(NO_GROUPS)
    words = {"unknown": unknown, "groups": groups, "known": None if known is None else count(known)}
    if known is None:
        return gettext("DLQ inflow of 24 h is incomplete for %(unknown)s of %(groups)s groups") % words
    return (
        gettext("DLQ inflow of 24 h is incomplete for %(unknown)s of %(groups)s groups: ≥ %(known)s in total") % words
    )
