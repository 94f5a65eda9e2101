"""Finds the reset that moved an offset that jumped, and lists resets as marks on a time axis."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from consumers.models import ConsumerGroup, Reading, Reset, ResetOutcome, ResetQueue
from consumers.queries.limits import limits
from consumers.vocabulary.reasons import ReasonCode
from consumers.vocabulary.states import RuleCode
from consumers.vocabulary.times import iso
from consumers.words.reasons import coded_reason

# A jump that no reset explains was made by somebody else, and that is said too where an offset went back; a master
# that was just out may have come back with the older offsets of its slave.

# The rules of jumps. A queue that was moved up may well have been so by its broker alone.
RULES = frozenset({RuleCode.OFFSET_WENT_BACK, RuleCode.MOVED_TO_OLDEST})

# A jump is seen by the next reading of its broker; where that was not read for longer, the reset is only likely.
LIKELY = timedelta(minutes=15)

LOOKED_AT, READINGS = 20_000, 1_000

COLUMNS = ("reset_id", "reset__group_id", "topic", "broker", "queue_id", "before", "target", "written_at")

WHO = ("reset__applied_by_name", "reset__by_name", "reset__reason")


@dataclass(frozen=True)
class Jump:
    """Of the queue of a group, by a rule of RULES. It was first seen at `since`, still at `until`."""

    group_id: int
    topic: str
    broker: str
    queue_id: int
    rule: str
    since: datetime
    until: datetime


@dataclass(frozen=True)
class Trace:
    """What a reset wrote to a queue."""

    reset: UUID
    by: str
    reason: str
    at: datetime
    back: bool | None


def causes(jumps: Collection[Jump]) -> dict[Jump, dict[str, str]]:
    """What is to be added to the numbers of each: `cause`, and `reset` where it is one of ours.

    One query, none without a jump; one more where an offset went back that no reset explains, and another where a slave
    was read of late.
    """
    if not jumps:
        return {}
    slack = timedelta(seconds=limits().clock_error_seconds)
    since, until = min(jump.since for jump in jumps) - LIKELY, max(jump.until for jump in jumps) + slack
    written = _written({jump.group_id for jump in jumps}, since, until)
    found = {jump: _cause(jump, written.get(_place(jump), ()), slack) for jump in jumps}
    foreign = [jump for jump, cause in found.items() if jump.rule == RuleCode.OFFSET_WENT_BACK and not cause]
    return found | (_by_others(foreign, since, until) if foreign else {})


def _place(jump: Jump) -> tuple[int, str, str, int]:
    return jump.group_id, jump.topic, jump.broker, jump.queue_id


def _written(groups: set[int], since: datetime, until: datetime) -> dict[tuple[int, str, str, int], list[Trace]]:
    """The newest first."""
    rows = (
        ResetQueue.objects.filter(reset__group_id__in=groups, written_at__gte=since, written_at__lte=until)
        .exclude(outcome=ResetOutcome.UNCHANGED)
        .order_by("-written_at")
        .values_list(*COLUMNS, *WHO)[:LOOKED_AT]
    )
    found: dict[tuple[int, str, str, int], list[Trace]] = {}
    for reset, group, topic, broker, queue_id, before, target, at, applied_by, by, reason in rows:
        back = None if before is None or target is None else target < before
        found.setdefault((group, topic, broker, queue_id), []).append(Trace(reset, applied_by or by, reason, at, back))
    return found


def _cause(jump: Jump, traces: Iterable[Trace], slack: timedelta) -> dict[str, str]:
    went_back = jump.rule == RuleCode.OFFSET_WENT_BACK
    for trace in traces:
        if jump.since - LIKELY <= trace.at <= jump.until + slack and trace.back in (None, went_back):
            # Until the next reading, and as long as an old client may take to follow.
            is_sure = trace.at >= jump.since - 2 * timedelta(seconds=limits().late_seconds)
            return {"cause": _words(trace, is_sure), "reset": str(trace.reset)}
    return {}


def _by_others(jumps: Collection[Jump], since: datetime, until: datetime) -> dict[Jump, dict[str, str]]:
    """RocketMQ 5.4.0, BrokerPreOnlineService: a master that starts may take the offsets of the slave that acted for it;
    one whose file is some seconds old goes back by itself."""
    groups = ConsumerGroup.objects.filter(pk__in={one.group_id for one in jumps}).order_by()
    rows = Reading.objects.filter(cluster__in=groups.values("cluster"), taken_at__gte=since, taken_at__lte=until)
    stood_in: dict[tuple[int, str], list[tuple[datetime, str]]] = {}
    for cluster, at, brokers in rows.order_by("-taken_at").values_list("cluster", "taken_at", "brokers")[:READINGS]:
        for one in brokers:
            if one.get("read_from"):
                stood_in.setdefault((cluster, one["name"]), []).append((at, one["read_from"]))
    clusters = dict(groups.values_list("pk", "cluster")) if stood_in else {}
    found = {}
    for jump in jumps:
        seen = stood_in.get((clusters.get(jump.group_id, 0), jump.broker), ())
        before = [(at, slave) for at, slave in seen if jump.since - LIKELY <= at <= jump.since]
        found[jump] = {"cause": _failover(*before[0]) if before else coded_reason(ReasonCode.NOT_BY_SITE)}
    return found


def _failover(at: datetime, slave: str) -> str:
    return coded_reason(ReasonCode.MAYBE_FAILOVER, slave=slave, at=iso(at))


def _words(trace: Trace, is_sure: bool) -> str:
    code = ReasonCode.RESET_BY if is_sure else ReasonCode.MAYBE_RESET_BY
    return coded_reason(code, name=trace.by, at=iso(trace.at), reason=trace.reason)


# Resets that were applied, as marks on a time axis.
MARKS_SHOWN = 200

MARK_COLUMNS = ("id", "cluster_name", "group_name", "started_at", "finished_at", "status", "kind", "value", "reason")


@dataclass(frozen=True)
class ResetMark:
    """`until` is null while it goes on."""

    id: str
    cluster: str
    group: str
    since: datetime
    until: datetime | None
    status: str
    kind: str
    value: Any
    reason: str
    by: str


def reset_marks(
    *, cluster: str | None = None, group: str | None = None, since: datetime, until: datetime
) -> list[ResetMark]:
    """Those that went on in [since, until), the newest first, at most MARKS_SHOWN. One query."""
    rows = _marked(cluster, group, since, until)
    names = (*MARK_COLUMNS, "by_name", "applied_by_name")
    return [
        ResetMark(
            id=str(row["id"]),
            cluster=row["cluster_name"],
            group=row["group_name"],
            since=row["started_at"],
            until=row["finished_at"],
            status=row["status"],
            kind=row["kind"],
            value=row["value"],
            reason=row["reason"],
            by=row["applied_by_name"] or row["by_name"],
        )
        for row in rows.order_by("-started_at").values(*names)[:MARKS_SHOWN]
    ]


def reset_count(*, cluster: str | None = None, since: datetime, until: datetime) -> int:
    """How many went on in [since, until). One query."""
    return _marked(cluster, None, since, until).count()


def _marked(cluster: str | None, group: str | None, since: datetime, until: datetime) -> QuerySet[Reset]:
    rows = went_on_since(since).filter(started_at__lt=until)
    if cluster:
        rows = rows.filter(cluster_name=cluster)
    return rows.filter(group_name=group) if group else rows


def went_on_since(since: datetime) -> QuerySet[Reset]:
    """Those that were begun, and had not ended before."""
    return Reset.objects.filter(Q(finished_at=None) | Q(finished_at__gte=since), started_at__isnull=False)
