"""One round of the evaluation, from what was measured to what is told.

Everything is compared before the transaction, which only writes: the moment of the newest evaluation in the engine's
row tells whether another one was faster, and then this one leaves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from consumers.alerts.measured import Measured
from consumers.alerts.rules.notes import Notes
from consumers.models import AlertEngine, AlertRule, IncidentEventKind

from .changes import Compared
from .looks import seen
from .outbox import tell
from .silencing import silences_at
from .store import open_incidents, write

ENGINE = 1


@dataclass(frozen=True)
class Report:
    """`evaluated` is False where another evaluation of that moment, or of a later one, was first."""

    at: datetime
    evaluated: bool
    rules: int = 0
    groups: int = 0
    seconds: float = 0.0
    fired: int = 0
    resolved: int = 0
    deliveries: int = 0


def go_round(
    found: Measured, rules: Sequence[AlertRule], newest: datetime | None, seconds: Callable[[], float]
) -> Report:
    """`rules`: all that are switched on. `newest`: the evaluation that was the newest before anything was read."""
    now = found.at
    compared = Compared(now, Notes.of_site(), silences_at(now), found.explained)
    changes = compared.take(seen(found, rules, open_incidents()))
    with transaction.atomic():
        engine = AlertEngine.objects.select_for_update().get(pk=ENGINE)
        if engine.evaluated_at != newest:
            return Report(now, evaluated=False)
        write(changes)
        report = Report(
            now,
            evaluated=True,
            deliveries=tell(changes, now),
            rules=len(rules),
            groups=len(found.groups.subjects),
            fired=changes.count(IncidentEventKind.FIRING),
            resolved=changes.count(IncidentEventKind.RESOLVED),
            seconds=seconds(),
        )
        engine.evaluated_at, engine.rules, engine.groups = now, report.rules, report.groups
        engine.seconds, engine.error, engine.error_at = report.seconds, None, None
        engine.save()
    return report
