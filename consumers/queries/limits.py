"""How old a reading, an evaluation or any regular task may be before it says nothing about now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from django.conf import settings
from django.db.models import Count, OuterRef, Q, Subquery
from django.utils.translation import gettext as _

from consumers.models import AlertEngine, Broker, Cluster, Incident, IncidentStatus, PipelineRun, Reading
from consumers.models.asked_once import asked_once, is_within_an_answer
from consumers.polling.brokers.dispatch_backlog import DispatchBacklog, limit_bytes
from consumers.polling.kind_limits import KindLimits
from consumers.vocabulary.reasons import CodedReason, ReasonCode
from consumers.vocabulary.states import MASTER, UnknownReason
from consumers.words.reasons import coded_reason, stored_words

from .declared import answer, public

# Clocks of two machines may differ by so much, and NTP may set one by so much.
CLOCKS_DIFFER = timedelta(seconds=60)


class Freshness(StrEnum):
    """fresh · late: the newest is older than it should be · silent: nothing of now is known, of a part or the whole."""

    FRESH = "fresh"
    LATE = "late"
    SILENT = "silent"


@dataclass(frozen=True)
class Limits:
    """Ages in seconds: `late` makes a lag unknown, `unknown` a state, `judged` every number that was evaluated; a state
    that was evaluated longer ago stays, as stale, until what is polled contradicts it.

    A broker that is behind with its dispatch by more than `dispatch_behind_bytes` makes lags lower bounds.
    `clock_error_seconds` is how far a broker's clock may be from this host's. `stop`, `stall`, `retry_stall` and
    `allowance` are those of the evaluation.
    """

    poll_seconds: float
    late_seconds: float
    unknown_seconds: float
    judged_seconds: float
    dispatch_behind_bytes: float
    clock_error_seconds: float = 1.0
    kinds: KindLimits = field(default_factory=KindLimits)
    stop_seconds: float = 90.0
    stall_seconds: float = 180.0
    retry_stall_seconds: float = 300.0
    allowance_seconds: float = 60.0

    def read_since(self, now: datetime) -> datetime:
        """A broker whose last good reading is older is late: its queues have no lag."""
        return now - timedelta(seconds=self.late_seconds)

    def known_since(self, now: datetime) -> datetime:
        """A broker whose last good reading is older is silent: its queues have no state."""
        return now - timedelta(seconds=self.unknown_seconds)

    def judged_since(self, now: datetime) -> datetime:
        return now - timedelta(seconds=self.judged_seconds)

    def stands_since(self, now: datetime, *, is_retry: bool = False) -> datetime:
        """An offset with a lag that has not moved since then stands."""
        return now - timedelta(seconds=self.retry_stall_seconds if is_retry else self.stall_seconds)

    def allowed_since(self, now: datetime) -> datetime:
        """What waits since a later time is within the threshold."""
        return now - timedelta(seconds=self.allowance_seconds)


def limits() -> Limits:
    late = 3 * settings.CONSUMERSCOPE_POLL_SECONDS
    return Limits(
        poll_seconds=settings.CONSUMERSCOPE_POLL_SECONDS,
        late_seconds=late,
        # Where polls are rare, a healthy broker must not turn unknown between two of them.
        unknown_seconds=max(settings.JUDGE["unknown_after_seconds"], late),
        judged_seconds=3 * settings.CONSUMERSCOPE_AGGREGATE_SECONDS + settings.JUDGE["window_seconds"],
        clock_error_seconds=settings.JUDGE["clock_error_seconds"],
        kinds=KindLimits.of(settings.JUDGE),
        **{f"{name}_seconds": settings.JUDGE[f"{name}_seconds"] for name in ("stall", "retry_stall", "allowance")},
        stop_seconds=settings.JUDGE["stop_without_members_seconds"],
        dispatch_behind_bytes=limit_bytes(),
    )


# How regularly something was done that is due every so many seconds.
def missed(
    times: Sequence[datetime], interval_seconds: float, until: datetime, *, since: datetime | None = None
) -> int:
    """How many were due between `since` and `until`, and not done at one of `times` (ascending).

    Without `since`: since the first of `times`. Half an interval of delay is forgiven each time.
    """
    gaps = pairwise([*([] if since is None else [since]), *times, until])
    return sum(max(0, int((after - before).total_seconds() / interval_seconds - 0.5)) for before, after in gaps)


# Which brokers are read and which are not, loaded once per request: every overlay begins here.


@dataclass(frozen=True)
class BrokerAge:
    """What is known of the readings of one broker name. `read_from` is the slave that was read for its master.

    `dispatch_behind_bytes` is of its last good reading; null where that did not tell it.
    """

    id: int
    cluster_id: int
    name: str
    last_read_at: datetime | None
    failing_since: datetime | None
    error: str | None
    read_from: str | None = None
    dispatch_behind_bytes: int | None = None

    def unread_reason(self, now: datetime, limits: Limits) -> str | None:
        """Why nothing on this broker is known; None while its newest reading is good and young enough."""
        if self.failing_since is not None:
            error = self.error or coded_reason(ReasonCode.NO_CAUSE)
            return coded_reason(ReasonCode.BROKER_FAILS, name=self.name, error=error)
        if self.last_read_at is None:
            return coded_reason(ReasonCode.BROKER_NOT_SCRAPED, name=self.name)
        if self.last_read_at < limits.read_since(now):
            return coded_reason(ReasonCode.BROKER_OVERDUE, name=self.name, late_seconds=limits.late_seconds)
        if self.last_read_at - now > CLOCKS_DIFFER:
            return coded_reason(ReasonCode.BROKER_IN_FUTURE, name=self.name)
        return None

    def unread_code(self, now: datetime, limits: Limits) -> UnknownReason | None:
        if self.unread_reason(now, limits) is None:
            return None
        if self.failing_since is not None:
            return UnknownReason.BROKER_UNREACHABLE
        return UnknownReason.BROKER_NEVER_READ if self.last_read_at is None else UnknownReason.BROKER_LATE

    def bound_reason(self, limits: Limits) -> CodedReason | None:
        """Why lags on this broker are lower bounds; None where they are exact, as far as the broker says."""
        behind_bytes = DispatchBacklog(self.dispatch_behind_bytes).hides_more_than(limits.dispatch_behind_bytes)
        if behind_bytes is None:
            return None
        return coded_reason(UnknownReason.DISPATCH_BEHIND, broker=self.name, behind_bytes=behind_bytes)

    def is_silent(self, now: datetime, limits: Limits) -> bool:
        """Whether the broker has been unread for so long that its last evaluation says nothing about the present."""
        if self.last_read_at is None or self.last_read_at - now > CLOCKS_DIFFER:
            return True
        return self.last_read_at < limits.known_since(now)


@dataclass(frozen=True)
class ClusterAge:
    id: int
    name: str
    newest_reading_at: datetime | None
    newest_error: str | None
    brokers: tuple[BrokerAge, ...]


def broker_ages(clusters: Iterable[int] | None = None) -> dict[int, ClusterAge]:
    """Every cluster with its brokers, by the cluster's id. Two queries, once for an answer, of all clusters."""
    if not is_within_an_answer():
        return _broker_ages(clusters)
    known = _all_broker_ages()
    wanted = known if clusters is None else set(clusters)
    return {pk: age for pk, age in known.items() if pk in wanted}


@asked_once
def _all_broker_ages() -> dict[int, ClusterAge]:
    return _broker_ages()


def _broker_ages(clusters: Iterable[int] | None = None) -> dict[int, ClusterAge]:
    newest = Reading.objects.filter(cluster=OuterRef("pk")).order_by("-taken_at")
    rows = Cluster.objects.annotate(
        newest_reading_at=Subquery(newest.values("taken_at")[:1]),
        newest_error=Subquery(newest.values("error")[:1]),
        newest_brokers=Subquery(newest.values("brokers")[:1]),
    )
    masters = Broker.objects.filter(broker_id=MASTER).order_by("name")
    if clusters is not None:
        rows, masters = rows.filter(pk__in=clusters), masters.filter(cluster__in=clusters)
    brokers: dict[int, list[Broker]] = {}
    # Before the readings: one that is recorded in between makes a broker late, and not what is old new.
    for broker in masters:
        brokers.setdefault(broker.cluster_id, []).append(broker)
    ages: dict[int, ClusterAge] = {}
    for row in rows:
        # Without a name server's answer a reading asks the brokers it knows; one that knows none has failed for all.
        error = stored_words(row.newest_error)
        failure = error if not row.newest_brokers else None
        parts = tuple(_age(broker, row.newest_reading_at, failure) for broker in brokers.get(row.pk, ()))
        ages[row.pk] = ClusterAge(row.pk, row.name, row.newest_reading_at, error, parts)
    return ages


def _age(broker: Broker, newest_reading_at: datetime | None, failure: str | None) -> BrokerAge:
    failing_since, error = broker.failing_since, stored_words(broker.error)
    if failure is not None and failing_since is None:
        failing_since, error = newest_reading_at, failure
    return BrokerAge(
        broker.pk,
        broker.cluster_id,
        broker.name,
        broker.last_read_at,
        failing_since,
        error,
        broker.read_from,
        broker.dispatch_behind_bytes,
    )


@asked_once
def evaluated_until(now: datetime) -> datetime | None:
    """Up to when the pipeline has evaluated readings; null before its first run that succeeded."""
    runs = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=now)
    return runs.order_by("-until").values_list("until", flat=True).first()


# How fresh the evaluation of alert rules is, and how many incidents fire by it: no number where it is late.

INTERVALS = 3


@answer(
    "The newest evaluation of the rules: a list of incidents is as old as it is. Counts are null where it is late.",
    name="Evaluation",
)
@dataclass(frozen=True)
class Evaluated:
    """`at` is null before the first evaluation. `firing`, `pending` and `unacknowledged` (of those that fire) are null
    where the newest evaluation is too old to tell; `unknown` then says why. `error`: why the newest try failed.
    """

    at: datetime | None
    seconds: float | None
    rules: int | None
    groups: int | None
    error: str | None = field(metadata=public("Why the newest try failed"))
    error_at: datetime | None
    freshness: Freshness
    freshness_detail: str
    firing: int | None
    pending: int | None
    unacknowledged: int | None = field(metadata=public("Of those that fire"))
    unknown: dict[str, str]


def evaluated(now: datetime) -> Evaluated:
    """Two queries."""
    row = _engine()
    freshness, detail = _freshness(row, now)
    is_known = row.evaluated_at is not None and not is_overdue(row.evaluated_at, now)
    counts = _counts() if is_known else {}
    return Evaluated(
        at=row.evaluated_at,
        seconds=row.seconds,
        rules=row.rules,
        groups=row.groups,
        error=row.error,
        error_at=row.error_at,
        freshness=freshness,
        freshness_detail=detail,
        firing=counts.get("firing"),
        pending=counts.get("pending"),
        unacknowledged=counts.get("unacknowledged"),
        unknown={} if is_known else dict.fromkeys(("firing", "pending", "unacknowledged"), detail),
    )


@asked_once
def _engine() -> AlertEngine:
    return AlertEngine.objects.order_by("pk").first() or AlertEngine()


def why_not_evaluated(now: datetime) -> str | None:
    """Null where the newest evaluation tells what fires at `now`. One query."""
    found = newest_evaluation(now)
    return found if isinstance(found, str) else None


def newest_evaluation(now: datetime) -> datetime | str:
    """The moment that it is of; where it does not tell what fires at `now`, why. One query."""
    row = _engine()
    if row.evaluated_at is None or is_overdue(row.evaluated_at, now):
        return _freshness(row, now)[1]
    return row.evaluated_at


def is_overdue(at: datetime, now: datetime) -> bool:
    """So is one of a time that has yet to come: its clock was set back since, and it tells nothing of now."""
    return not -CLOCKS_DIFFER <= now - at <= timedelta(seconds=INTERVALS * settings.ALERT_SECONDS)


def _freshness(row: AlertEngine, now: datetime) -> tuple[Freshness, str]:
    failure = _("the newest evaluation of alert rules failed: %s") % row.error if row.error else ""
    if row.evaluated_at is None:
        return Freshness.SILENT, failure or _("alert rules have not been evaluated yet")
    if row.evaluated_at - now > CLOCKS_DIFFER:
        return Freshness.SILENT, failure or _("alert rules were evaluated for a time in the future")
    if is_overdue(row.evaluated_at, now):
        return Freshness.SILENT, failure or _("alert rules have not been evaluated for too long")
    if failure:
        return Freshness.LATE, failure
    return Freshness.FRESH, _("evaluated as often as it should be")


def _counts() -> dict[str, int]:
    firing = Q(status=IncidentStatus.FIRING)
    return Incident.objects.filter(resolved_at=None).aggregate(
        firing=Count("pk", filter=firing),
        pending=Count("pk", filter=Q(status=IncidentStatus.PENDING)),
        unacknowledged=Count("pk", filter=firing & Q(acknowledged_at=None)),
    )
