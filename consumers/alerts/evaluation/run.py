"""One evaluation of all rules.

Everything is measured and compared before the transaction, which only writes: the moment of the newest evaluation in
the engine's row tells whether another one was faster, and then this one leaves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from consumers.alerts.measures import measured
from consumers.alerts.rules.notes import Notes
from consumers.models import AlertEngine, AlertRule, IncidentEventKind

from .changes import Changes, Compared
from .looks import seen
from .outbox import tell
from .silencing import silences_at
from .store import open_incidents, write

ENGINE = 1
# Clocks of two hosts may be so far from each other; one that is further back is told of.
CLOCKS_DIFFER = timedelta(seconds=60)


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


def evaluate(now: datetime, clock: Callable[[], datetime]) -> Report:
    """`clock` tells how long it takes. Raises what went wrong, and leaves that in the engine's row."""
    began = clock()
    newest = AlertEngine.objects.get_or_create(pk=ENGINE)[0].evaluated_at
    if newest is not None and newest >= now:
        _note_clock(newest, now)
        return Report(now, evaluated=False)
    try:
        return _evaluated(newest, now, lambda: (clock() - began).total_seconds())
    except Exception as error:
        AlertEngine.objects.filter(pk=ENGINE).update(error=f"{type(error).__name__}: {error}", error_at=now)
        raise


def _evaluated(newest: datetime | None, now: datetime, seconds: Callable[[], float]) -> Report:
    rules = list(AlertRule.objects.filter(enabled=True).order_by("pk"))
    found = measured(now, rules)
    compared = Compared(now, Notes.of_site(), silences_at(now), found.explained)
    changes = compared.take(seen(found, rules, open_incidents()))
    with transaction.atomic():
        engine = AlertEngine.objects.select_for_update().get(pk=ENGINE)
        if engine.evaluated_at != newest:
            return Report(now, evaluated=False)
        write(changes)
        deliveries = tell(changes, now)
        engine.evaluated_at, engine.seconds, engine.error, engine.error_at = now, seconds(), None, None
        engine.rules, engine.groups = len(rules), len(found.groups.subjects)
        engine.save()
    return _report(engine, changes, deliveries)


def _report(engine: AlertEngine, changes: Changes, deliveries: int) -> Report:
    if engine.evaluated_at is None or engine.seconds is None or engine.rules is None or engine.groups is None:
        raise ValueError("An evaluation that is over has its numbers.")
    return Report(
        engine.evaluated_at,
        True,
        engine.rules,
        engine.groups,
        engine.seconds,
        changes.count(IncidentEventKind.FIRING),
        changes.count(IncidentEventKind.RESOLVED),
        deliveries,
    )


def _note_clock(newest: datetime, now: datetime) -> None:
    if newest - now > CLOCKS_DIFFER:
        words = f"Rules were evaluated for {newest:%Y-%m-%d %H:%M:%S} UTC, and this host's clock is behind that"
        AlertEngine.objects.filter(pk=ENGINE).update(
            error=f"{words}: set the clocks of all workers alike. Until then nothing is evaluated.", error_at=now
        )
