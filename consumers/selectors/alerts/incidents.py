"""Finds incidents. A list costs as much for ten as for ten thousand that pass its filters, but for the page itself."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When
from django.db.models.expressions import OrderBy

from consumers.models import Incident, IncidentStatus, Severity

from .incident_row import incident_row
from .rows import IncidentRow

WORST_FIRST = Case(
    *(When(severity=severity, then=Value(place)) for place, severity in enumerate(Severity.values)),
    output_field=IntegerField(),
)
# `severity` ascending is worst first.
ORDERINGS: dict[str, F | Case] = {
    "started_at": F("started_at"),
    "fired_at": F("fired_at"),
    "resolved_at": F("resolved_at"),
    "severity": WORST_FIRST,
    "rule": F("rule_name"),
    "group": F("group_name"),
}


@dataclass(frozen=True)
class IncidentFilters:
    """`since` and `until`: those that went on in [since, until). `group` is a whole name, `statuses` any of them.

    `ordering` is a name of ORDERINGS, with `-` before it for descending; null is the newest first.
    """

    statuses: tuple[IncidentStatus, ...] = ()
    severity: Severity | None = None
    cluster: str | None = None
    group: str | None = None
    rule: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    ordering: str | None = None


def incident_list(
    filters: IncidentFilters, now: datetime, *, page: int = 1, page_size: int = 100
) -> tuple[list[IncidentRow], int]:
    """One page, and how many there are. Two queries."""
    found = filtered(filters)
    start = (page - 1) * page_size
    ordered = found.order_by(*_orders(filters.ordering)).select_related("silence")
    return [incident_row(incident, now) for incident in ordered[start : start + page_size]], found.count()


def firing_by_severity() -> dict[str, int]:
    """A true zero where none fires, provided that rules were evaluated lately: evaluated.py. One query."""
    rows = Incident.objects.filter(status=IncidentStatus.FIRING).order_by().values_list("severity")
    return dict.fromkeys(Severity.values, 0) | dict(rows.annotate(count=Count("pk")))


def filtered(filters: IncidentFilters) -> QuerySet[Incident]:
    found = Incident.objects.all()
    if filters.statuses:
        found = found.filter(status__in=filters.statuses)
    named = {
        "severity": filters.severity,
        "cluster_name": filters.cluster,
        "group_name": filters.group,
        "rule": filters.rule,
    }
    found = found.filter(**{name: value for name, value in named.items() if value is not None})
    if filters.since is not None:
        found = found.filter(Q(resolved_at=None) | Q(resolved_at__gte=filters.since))
    if filters.until is not None:
        found = found.filter(started_at__lt=filters.until)
    return found


def _orders(ordering: str | None) -> list[OrderBy]:
    """What has not happened is last either way. Of what ties: what nobody acknowledged first, then the newest."""
    ties = [F("acknowledged_at").asc(nulls_first=True), F("started_at").desc(), F("pk").asc()]
    if not ordering:
        return ties[1:]
    column = ORDERINGS[ordering.removeprefix("-")]
    first = column.desc(nulls_last=True) if ordering.startswith("-") else column.asc(nulls_last=True)
    return [first, *ties]
