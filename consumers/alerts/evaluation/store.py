"""What an evaluation reads of open incidents, and how it writes its changes: in few statements for any number."""

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from django.db.models import Max

from consumers.models import AlertRule, Incident, IncidentEvent

from .changes import Changes
from .rows import WRITTEN

# A database takes only so many values in one statement.
AT_ONCE = 500


def open_incidents() -> list[Incident]:
    """With their rules."""
    return list(Incident.objects.filter(resolved_at=None).select_related("rule"))


def write(changes: Changes) -> None:
    """In a transaction. What ends is written before what begins: a subject has one open incident of a rule at most."""
    _leave_out_removed_rules(changes)
    for some in _batches(incident.pk for incident in changes.forgotten):
        Incident.objects.filter(pk__in=some).delete()
    Incident.objects.bulk_create(changes.changed, update_conflicts=True, unique_fields=["id"], update_fields=WRITTEN)
    Incident.objects.bulk_create(changes.begun)
    _number(changes.events, {incident.pk for incident in changes.begun})
    IncidentEvent.objects.bulk_create(changes.events)


def _leave_out_removed_rules(changes: Changes) -> None:
    """Nothing begins by a rule that was removed while it was evaluated; those that are left stay until the end."""
    wanted = {incident.rule_id for incident in changes.begun if incident.rule_id is not None}
    kept = set(AlertRule.objects.select_for_update().filter(pk__in=wanted).values_list("pk", flat=True))
    if kept == wanted:
        return
    left_out = {incident.pk for incident in changes.begun if incident.rule_id not in kept}
    changes.begun = [incident for incident in changes.begun if incident.pk not in left_out]
    changes.events = [event for event in changes.events if event.incident_id not in left_out]


def _number(events: Sequence[IncidentEvent], begun: set[UUID]) -> None:
    """Rows of incidents are held, so that nobody else adds an event to them meanwhile."""
    newest: dict[UUID, int] = {}
    for some in _batches({event.incident_id for event in events} - begun):
        list(Incident.objects.select_for_update().filter(pk__in=some).order_by("pk").values_list("pk"))
        counted = IncidentEvent.objects.filter(incident__in=some).order_by().values_list("incident")
        newest |= dict(counted.annotate(newest=Max("sequence")))
    for event in events:
        newest[event.incident_id] = event.sequence = newest.get(event.incident_id, 0) + 1


def _batches(ids: Iterable[UUID]) -> Iterator[list[UUID]]:
    wanted = list(ids)
    for begin in range(0, len(wanted), AT_ONCE):
        yield wanted[begin : begin + AT_ONCE]
