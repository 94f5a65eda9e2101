"""Delay levels of brokers: what waits, whether what is due is delivered, and why that is not known."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext, gettext_lazy

from consumers.models import Broker, Cluster, DelayLevel, Reading
from consumers.models.asked_once import asked_once
from consumers.queries.declared import INSIDE, answer, given, public
from consumers.queries.findings import DetectedFinding
from consumers.queries.limits import BrokerAge, Limits, broker_ages, limits
from consumers.rocketmq.bodies.config_bodies import level_delays
from consumers.rocketmq.wire.codes import RemoteProtocolError
from consumers.vocabulary.findings import FindingCode
from consumers.vocabulary.states import MASTER
from consumers.words.marks import labelled
from consumers.words.reasons import stored_words
from consumers.words.spans import when

# One delay level of one broker: what waits, since when it should have come, and why that is not known.
#
# Whether a level is late is said of the moment of its newest reading. What became of it since, nobody knows.
# A broker looks every 0.1 s at the head of each level (RocketMQ 5.4.0, ScheduleMessageService).
LATE_SECONDS = 10

NO_OFFSETS = gettext_lazy("the broker gave no offsets of this level")

NOT_CONFIGURED = gettext_lazy("the broker is not configured with this level")

NOTHING_WAITS = gettext_lazy("the level holds no messages")

NOT_ASKED = gettext_lazy("the due time of the first message was not requested")


@answer(name="Level")
@dataclass(frozen=True, kw_only=True)
class BrokerLevel:
    """Nulls: `unknown`. `next_due_at` is null too where nothing waits, `overdue_seconds` is 0 then.

    `row`: as it is stored; null where the broker has not said anything of the level.
    """

    level: int
    delay_seconds: float | None
    backlog: int | None = field(metadata=public("Messages of all groups"))
    next_due_at: datetime | None = field(metadata=public("Also null without messages"))
    overdue_seconds: float | None = field(
        metadata=public("How long before the newest poll its first message should have come, at least")
    )
    row: DelayLevel | None = field(metadata=INSIDE)
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_late(self) -> bool:
        return self.overdue_seconds is not None and self.overdue_seconds > LATE_SECONDS


@dataclass(frozen=True)
class ReportedLevels:
    """What all levels of a broker share. `delays` by level, or `no_delays`; `unread`: why no offset of it counts.

    `read_at`: the least that the broker's own clock showed when its levels were read.
    """

    delays: Sequence[int]
    no_delays: str
    unread: str | None
    read_at: datetime | None


def broker_level(level: int, row: DelayLevel | None, reported: ReportedLevels) -> BrokerLevel:
    delay = reported.delays[level - 1] if level <= len(reported.delays) else None
    backlog, no_backlog = _backlog(row, reported.unread)
    due, no_due = _due(row, backlog, no_backlog)
    overdue = 0.0 if backlog == 0 else _overdue(due, reported)
    reasons = {
        "delay_seconds": None if delay is not None else reported.no_delays or str(NOT_CONFIGURED),
        "backlog": None if backlog is not None else no_backlog,
        "next_due_at": None if due is not None else no_due,
        "overdue_seconds": None if overdue is not None else no_due,
    }
    return BrokerLevel(
        level=level,
        delay_seconds=delay,
        backlog=backlog,
        next_due_at=due,
        overdue_seconds=overdue,
        row=row,
        unknown=given(reasons),
    )


def _backlog(row: DelayLevel | None, unread: str | None) -> tuple[int | None, str]:
    if unread is not None:
        return None, unread
    if row is None or row.delay_offset is None or row.broker_offset is None:
        return None, str(NO_OFFSETS)
    if row.broker_offset < row.delay_offset:
        ends = gettext(
            "delivered up to %(delivered)s, and the level ends at %(end)s: one of them was read before the level was "
            "recreated"
        )
        return None, ends % {"delivered": row.delay_offset, "end": row.broker_offset}
    return row.broker_offset - row.delay_offset, ""


def _due(row: DelayLevel | None, backlog: int | None, no_backlog: str) -> tuple[datetime | None, str]:
    if backlog is None or row is None:
        return None, no_backlog
    if backlog == 0:
        return None, str(NOTHING_WAITS)
    return row.next_due_at, stored_words(row.next_error) or str(NOT_ASKED)


def _overdue(due: datetime | None, reported: ReportedLevels) -> float | None:
    return None if due is None or reported.read_at is None else max(0.0, (reported.read_at - due).total_seconds())


# All delay levels of a broker, from its rows, and whether it delivers what is due.
# A broker whose delayed messages do not come when they are due: retries wait on, and no lag shows them.


def late_finding(broker: str, late: Sequence[BrokerLevel]) -> DetectedFinding:
    """`late`: the levels that are, one at least."""
    worst = max(late, key=_known_overdue)
    return DetectedFinding(
        code=FindingCode.LATE_DELAY_LEVELS,
        broker=broker,
        params={
            "levels": sorted(level.level for level in late),
            "worst_level": worst.level,
            "overdue_seconds": round(_known_overdue(worst), 1),
            "waiting_messages": sum(level.backlog or 0 for level in late),
        },
        since=worst.next_due_at,
    )


def _known_overdue(level: BrokerLevel) -> float:
    return level.overdue_seconds or 0.0


NO_LEVELS = gettext_lazy("the broker has not reported its levels")


@answer(
    "Delay levels with failed messages before their next retry; includes delayed messages of applications.",
    last=("levels", "unknown"),
)
@dataclass(frozen=True, kw_only=True)
class BrokerLevels:
    """`configured` is how many levels the broker has; null while it has not said. `backlog`: of all of them."""

    broker: str
    levels: Sequence[BrokerLevel]
    configured: int | None = field(metadata=public("How many levels it has"))
    backlog: int | None = field(metadata=public("Messages of all levels"))
    read_at: datetime | None
    findings: Sequence[DetectedFinding] = field(metadata=INSIDE)
    unknown: Mapping[str, str] = field(default_factory=dict)


def broker_levels(
    broker: Broker,
    age: BrokerAge,
    rows: Sequence[DelayLevel],
    clock: Sequence[float | None],
    now: datetime,
    limits: Limits,
) -> BrokerLevels:
    """`rows` of this broker; `clock`: the bounds of how far its clock is ahead of this host's, null where not known."""
    reported = _reported(broker, age, clock, now, limits)
    stored = {row.level: row for row in rows}
    configured = range(1, len(reported.delays) + 1)
    further = (level for level, row in stored.items() if not reported.delays or _waits(row))
    levels = [broker_level(level, stored.get(level), reported) for level in sorted({*configured, *further})]
    why = next((level.unknown["backlog"] for level in levels if level.backlog is None), None)
    no_backlog = why if levels else reported.unread or str(NO_LEVELS)
    reasons = {
        "backlog": no_backlog,
        "configured": None if reported.delays else reported.no_delays,
        "read_at": None if broker.delays_at else reported.unread,
    }
    return BrokerLevels(
        broker=broker.name,
        levels=levels,
        configured=len(reported.delays) or None,
        backlog=None if no_backlog is not None else sum(level.backlog or 0 for level in levels),
        read_at=broker.delays_at,
        findings=_findings(broker.name, levels),
        unknown=given(reasons),
    )


def _reported(
    broker: Broker, age: BrokerAge, clock: Sequence[float | None], now: datetime, limits: Limits
) -> ReportedLevels:
    delays, no_delays = _delays(broker)
    # Of the reading itself, which began no earlier: what was due before then had its time.
    read_at = None if broker.delays_at is None else broker.delays_at + _ahead(clock, limits)
    return ReportedLevels(delays, no_delays, _unread(broker, age, now, limits), read_at)


def _unread(broker: Broker, age: BrokerAge, now: datetime, limits: Limits) -> str | None:
    if (reason := age.unread_reason(now, limits)) is not None:
        return reason
    if broker.delays_error is not None:
        return gettext("%(broker)s did not report its delay levels: %(error)s") % {
            "broker": broker.name,
            "error": stored_words(broker.delays_error),
        }
    if broker.delays_at is None:
        return gettext("the delay levels of %(broker)s have not been read yet") % {"broker": broker.name}
    if broker.delays_at < limits.read_since(now):
        return gettext("the delay levels of %(broker)s have not been read since %(since)s") % {
            "broker": broker.name,
            "since": when(broker.delays_at),
        }
    return None


def _delays(broker: Broker) -> tuple[tuple[int, ...], str]:
    """Seconds by level, and why there are none."""
    if broker.delay_levels is None:
        why = broker.config_error or gettext("the configuration does not contain the delays of the levels")
        return (), labelled(broker.name, why)
    try:
        return level_delays(broker.delay_levels), ""
    except RemoteProtocolError as wrong:
        return (), labelled(broker.name, wrong)


def _waits(row: DelayLevel) -> bool:
    """Levels beyond the configured ones are shown only where something lies in them."""
    return row.broker_offset is None or row.delay_offset is None or row.broker_offset != row.delay_offset


def _ahead(clock: Sequence[float | None], limits: Limits) -> timedelta:
    """The least that the broker's clock is ahead by: as much behind as is allowed for, unless store times prove more
    or less."""
    low, high = clock
    ahead = -limits.clock_error_seconds
    ahead = ahead if low is None else max(ahead, low)
    return timedelta(seconds=ahead if high is None else min(ahead, high))


def _findings(broker: str, levels: Sequence[BrokerLevel]) -> list[DetectedFinding]:
    late = [level for level in levels if level.is_late]
    return [late_finding(broker, late)] if late else []


# The delay levels of every broker of a cluster, from rows, for the ladder of a group and for the clusters page.
NO_CLOCK = (None, None)


def cluster_levels(clusters: Iterable[int], now: datetime) -> dict[int, list[BrokerLevels]]:
    """By the cluster's id, its brokers by name. Five queries, however many clusters there are."""
    return dict(_levels(frozenset(clusters), now))


def levels_by_name(now: datetime) -> dict[str, list[BrokerLevels]]:
    """Of every cluster, by its name. Five queries."""
    ages = broker_ages()
    found = cluster_levels(ages, now)
    return {age.name: found[pk] for pk, age in ages.items()}


@asked_once
def _levels(clusters: frozenset[int], now: datetime) -> dict[int, list[BrokerLevels]]:
    ages = broker_ages(clusters)
    limit, clocks = limits(), _clocks(ages)
    rows: defaultdict[tuple[int, str], list[DelayLevel]] = defaultdict(list)
    for row in DelayLevel.objects.filter(cluster__in=ages).order_by("level"):
        rows[row.cluster_id, row.broker].append(row)
    masters = {row.pk: row for row in Broker.objects.filter(cluster__in=ages, broker_id=MASTER)}
    return {
        pk: [
            broker_levels(masters[age.id], age, rows[pk, age.name], clocks[pk].get(age.name, NO_CLOCK), now, limit)
            for age in cluster.brokers
            if age.id in masters
        ]
        for pk, cluster in ages.items()
    }


def _clocks(ages: Iterable[int]) -> dict[int, dict[str, Sequence[float | None]]]:
    """By cluster and broker, the bounds that its newest reading noted."""
    newest = Reading.objects.filter(cluster=OuterRef("pk")).order_by("-taken_at").values("members")[:1]
    clusters = Cluster.objects.filter(pk__in=ages).annotate(newest_members=Subquery(newest))
    return {
        pk: ((members or {}).get("samples") or {}).get("clocks") or {}
        for pk, members in clusters.values_list("pk", "newest_members")
    }


# What waits on the delay levels of every broker, in one row each, those that deliver late first.
@dataclass(frozen=True)
class BrokerDelays:
    cluster: str
    levels: BrokerLevels


def delay_summary(cluster: str | None, now: datetime) -> list[BrokerDelays]:
    """Of one cluster or of all. Six queries, however many brokers there are."""
    named = dict(Cluster.objects.values_list("pk", "name"))
    wanted = [pk for pk, name in named.items() if cluster in (None, name)]
    rows = [BrokerDelays(named[pk], one) for pk, brokers in cluster_levels(wanted, now).items() for one in brokers]
    return sorted(rows, key=lambda row: (not row.levels.findings, row.cluster, row.levels.broker))
