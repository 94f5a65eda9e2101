"""What an evaluation reads of open incidents, and how it writes its changes: in few statements for any number."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
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
    _leave_out(changes, removed=_removed_rules(changes))
    for some in _batches(incident.pk for incident in changes.forgotten):
        Incident.objects.filter(pk__in=some).delete()
    Incident.objects.bulk_create(changes.changed, update_conflicts=True, unique_fields=["id"], update_fields=WRITTEN)
    Incident.objects.bulk_create(changes.begun)
    _number(changes.events, {incident.pk for incident in changes.begun})
    IncidentEvent.objects.bulk_create(changes.events)


def _removed_rules(changes: Changes) -> set[int]:
    """The others are held until the end, and before their incidents, as whoever removes one holds it too."""
    incidents = chain(changes.begun, changes.changed, changes.forgotten)
    wanted = {incident.rule_id for incident in incidents if incident.rule_id is not None}
    held = AlertRule.objects.select_for_update().filter(pk__in=wanted).order_by("pk")
    return wanted - set(held.values_list("pk", flat=True))


def _leave_out(changes: Changes, removed: set[int]) -> None:
    """Nothing begins by a rule that was removed while it was evaluated."""
    left_out = {incident.pk for incident in changes.begun if incident.rule_id in removed}
    if not left_out:
        return
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
