"""What needs attention over all groups, or those of one cluster."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from consumers.groups.health_checks import HEALTH_RANKS
from consumers.groups.listing import filtered, orders, shown_groups
from consumers.groups.overlay import Overlay
from consumers.groups.row import group_row
from consumers.groups.rows import GroupFilters, GroupRow, KnownPart
from consumers.models import HealthLevel, State, StateChange, TimeLagKind
from consumers.queries.queues.lost_offsets import BrokerLoss, broker_losses
from consumers.queries.reset_marks import RULES, Jump, causes
from consumers.queries.sentences import sentence, state_parts
from consumers.retries.checks.condition_rows import FailingGroup
from consumers.retries.checks.failing import failing_groups
from consumers.vocabulary.findings import FindingSeverity

from .tally import UnknownCause, by_health, by_state, sums, tally, unknown_causes

TROUBLED = (HealthLevel.CRITICAL, HealthLevel.WARNING)


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


@dataclass(frozen=True)
class Overview:
    """`counts` are of groups by state, `health` by level. `lag_messages` is null as soon as one group's is unknown;
    `lag_messages_at_least` is then the known sum.

    `time_lag_seconds` is the longest that is known, `at_least` where one is unknown or a lower bound; `oldest_group`
    has it. `failing`: what loses failed messages or holds queues up, and brokers that are closed, whatever their
    groups' states. `losses`: brokers from which committed offsets are gone, whatever else is known of their groups.
    `changes`: the newest of `change_count`.
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
    change_count: int
    unknown_reason: str | None
    unknown: dict[str, str] = field(default_factory=dict)
    known_parts: dict[str, KnownPart] = field(default_factory=dict)

    @property
    def time_lag_at(self) -> datetime | None:
        return None if self.oldest_group is None else self.oldest_group.time_lag_at


CHANGES_SHOWN = 200


def overview(
    *, cluster: str | None = None, since: datetime, until: datetime, now: datetime, worst: int = 10
) -> Overview:
    """User groups only. `worst` limits how many groups that need attention are shown; changes are of [since, until)."""
    overlay = Overlay.at(now)
    filters = GroupFilters(cluster=cluster)
    rows = tally(overlay, filters)
    known, levels = sums(rows), by_health(rows)
    chosen = _worst(filtered(overlay, filters), worst) if any(levels[level] for level in TROUBLED) else []
    oldest = _oldest(overlay, filters, known["time_lag_seconds"])
    changed = changes(cluster=cluster, since=since, until=until)
    shown = {one.group.pk: one for one in shown_groups(overlay, [*chosen, *([oldest] if oldest else [])])}
    return Overview(
        counts=by_state(rows),
        health=levels,
        groups=sum(row.groups for row in rows),
        oldest_group=group_row(shown[oldest]) if oldest else None,
        worst=[WorstGroup(group_row(shown[pk]), shown[pk].verdict.parts) for pk in chosen],
        causes=unknown_causes(overlay, rows),
        losses=broker_losses(overlay.slaves, cluster),
        failing=[
            row for row in failing_groups(cluster, now) if row.severity is FindingSeverity.CRITICAL or row.group is None
        ],
        changes=changed,
        change_count=len(changed) if len(changed) < CHANGES_SHOWN else _changes(cluster, None, since, until).count(),
        **known,
    )


def _worst(found: QuerySet[Any], count: int) -> list[int]:
    troubled = found.filter(shown_health_rank__lt=HEALTH_RANKS[HealthLevel.UNKNOWN])
    return list(troubled.order_by(*orders(None)).values_list("pk", flat=True)[:count])


def _oldest(overlay: Overlay, filters: GroupFilters, seconds: float | None) -> int | None:
    """The first group by name whose time lag is `seconds`, the longest of all."""
    if seconds is None:
        return None
    found = filtered(overlay, filters, groups=overlay.as_read)
    read = found.filter(unread_by__isnull=True, shown_time_lag_seconds=seconds)
    # What is above zero is shown as it was evaluated, or is of a group with a newer lag: fewer groups are left.
    read = read.filter(judged__time_lag_seconds__in=(seconds, 0.0)) if seconds else read
    return read.order_by("name", "pk").values_list("pk", flat=True).first()


def changes(*, cluster: str | None = None, group: str | None = None, since: datetime, until: datetime) -> list[Change]:
    """Changes of state of user groups in [since, until), newest first, at most CHANGES_SHOWN."""
    shown = list(_changes(cluster, group, since, until).select_related("group__cluster")[:CHANGES_SHOWN])
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


def _changes(cluster: str | None, group: str | None, since: datetime, until: datetime) -> QuerySet[StateChange]:
    rows = StateChange.objects.filter(at__gte=since, at__lt=until, group__kind="user")
    if cluster:
        rows = rows.filter(group__cluster__name=cluster)
    return rows.filter(group__name=group) if group else rows


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
