"""How fresh the evaluation of alert rules is, and how many incidents fire by it: no number where it is late."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from consumers.models import AlertEngine, Incident, IncidentStatus
from consumers.queries.declared import answer, public
from consumers.queries.limits import CLOCKS_DIFFER, Freshness

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
    row = AlertEngine.objects.order_by("pk").first() or AlertEngine()
    freshness, detail = _freshness(row, now)
    is_known = row.evaluated_at is not None and not _is_overdue(row.evaluated_at, now)
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


def why_not_evaluated(now: datetime) -> str | None:
    """Null where the newest evaluation tells what fires at `now`. One query."""
    found = newest_evaluation(now)
    return found if isinstance(found, str) else None


def newest_evaluation(now: datetime) -> datetime | str:
    """The moment that it is of; where it does not tell what fires at `now`, why. One query."""
    row = AlertEngine.objects.order_by("pk").first() or AlertEngine()
    if row.evaluated_at is None or _is_overdue(row.evaluated_at, now):
        return _freshness(row, now)[1]
    return row.evaluated_at


def _is_overdue(at: datetime, now: datetime) -> bool:
    """So is one of a time that has yet to come: its clock was set back since, and it tells nothing of now."""
    return not -CLOCKS_DIFFER <= now - at <= timedelta(seconds=INTERVALS * settings.ALERT_SECONDS)


def _freshness(row: AlertEngine, now: datetime) -> tuple[Freshness, str]:
    failure = _("the newest evaluation of alert rules failed: %s") % row.error if row.error else ""
    if row.evaluated_at is None:
        return Freshness.SILENT, failure or _("alert rules have not been evaluated yet")
    if row.evaluated_at - now > CLOCKS_DIFFER:
        return Freshness.SILENT, failure or _("alert rules were evaluated for a time that has yet to come")
    if _is_overdue(row.evaluated_at, now):
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
