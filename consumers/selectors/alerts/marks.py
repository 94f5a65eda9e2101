"""Incidents as marks on a time axis."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from consumers.models import Incident

MARKS_SHOWN = 200


@dataclass(frozen=True)
class IncidentMark:
    """`until` is null while it is open, `fired_at` while it is pending. `evidence`: the newest sentence, perhaps ""."""

    id: str
    cluster: str
    group: str
    topic: str
    broker: str
    rule_name: str
    measure: str
    severity: str
    status: str
    since: datetime
    fired_at: datetime | None
    until: datetime | None
    evidence: str


def incident_marks(
    *, cluster: str | None = None, group: str | None = None, since: datetime, until: datetime
) -> list[IncidentMark]:
    """Those that went on in [since, until), the newest first, at most MARKS_SHOWN. One query."""
    found = Incident.objects.filter(Q(resolved_at=None) | Q(resolved_at__gte=since), started_at__lt=until)
    if cluster:
        found = found.filter(cluster_name=cluster)
    if group:
        found = found.filter(group_name=group)
    return [
        IncidentMark(
            id=str(incident.pk),
            cluster=incident.cluster_name,
            group=incident.group_name,
            topic=incident.topic_name,
            broker=incident.broker_name,
            rule_name=incident.rule_name,
            measure=incident.measure,
            severity=incident.severity,
            status=incident.status,
            since=incident.started_at,
            fired_at=incident.fired_at,
            until=incident.resolved_at,
            evidence=incident.evidence,
        )
        for incident in found.order_by("-started_at", "pk")[:MARKS_SHOWN]
    ]
