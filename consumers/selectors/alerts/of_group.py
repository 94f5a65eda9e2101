"""Open incidents of many groups at once, for lists and heads."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from consumers.models import Incident, IncidentStatus, Severity

SEVERITIES = list(Severity.values)
AT_ONCE = 5_000


@dataclass(frozen=True)
class OpenIncident:
    id: str
    rule_name: str
    severity: str
    status: str
    started_at: datetime
    evidence: str
    is_acknowledged: bool
    is_silenced: bool

    @property
    def is_firing(self) -> bool:
        return self.status == IncidentStatus.FIRING


def open_incidents(group_ids: Collection[int]) -> dict[int, list[OpenIncident]]:
    """By the group's id, the firing and the worst first; groups without one are not in it.

    It says what the newest evaluation left: ask `why_not_evaluated` before none is called none. A query for each
    5,000 groups.
    """
    ids = list(group_ids)
    found: dict[int, list[OpenIncident]] = {}
    for start in range(0, len(ids), AT_ONCE):
        for incident in Incident.objects.filter(group__in=ids[start : start + AT_ONCE], resolved_at=None):
            assert incident.group_id is not None
            found.setdefault(incident.group_id, []).append(_row(incident))
    for incidents in found.values():
        incidents.sort(key=_worst_first)
    return found


def _worst_first(incident: OpenIncident) -> tuple[bool, int, float]:
    return not incident.is_firing, SEVERITIES.index(incident.severity), -incident.started_at.timestamp()


def _row(incident: Incident) -> OpenIncident:
    return OpenIncident(
        id=str(incident.pk),
        rule_name=incident.rule_name,
        severity=incident.severity,
        status=incident.status,
        started_at=incident.started_at,
        evidence=incident.evidence,
        is_acknowledged=incident.acknowledged_at is not None,
        is_silenced=incident.silence_id is not None,
    )
