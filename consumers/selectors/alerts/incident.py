"""One incident with all that happened to it."""

from dataclasses import fields
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from consumers.models import Incident, IncidentEvent

from .deliveries import deliveries_of_incident
from .incident_row import incident_row
from .rows import IncidentDetail, IncidentEventRow


def incident_detail(incident_id: UUID, now: datetime) -> IncidentDetail | None:
    """Five queries."""
    incident = Incident.objects.select_related("silence").filter(pk=incident_id).first()
    if incident is None:
        return None
    row = incident_row(incident, now)
    return IncidentDetail(
        **{field.name: getattr(row, field.name) for field in fields(row)},
        events=[_event(event) for event in IncidentEvent.objects.filter(incident=incident).order_by("sequence")],
        deliveries=deliveries_of_incident(incident_id),
    )


def _event(event: IncidentEvent) -> IncidentEventRow:
    unknown = {} if event.by_name else {"by": _("the evaluation of the rules saw it by itself")}
    return IncidentEventRow(event.sequence, event.at, event.kind, event.sentence, event.by_name or None, unknown)
