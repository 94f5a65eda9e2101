"""One evaluation of all rules that are switched on."""

from collections.abc import Callable
from datetime import datetime

from consumers.alerts.measures import measured
from consumers.models import AlertEngine, AlertRule
from consumers.selectors.clocks import CLOCKS_DIFFER

from .rounds import ENGINE, Report, go_round


def evaluate(now: datetime, clock: Callable[[], datetime]) -> Report:
    """`clock` tells how long it takes. Raises what went wrong, and leaves that in the engine's row."""
    began = clock()
    newest = AlertEngine.objects.get_or_create(pk=ENGINE)[0].evaluated_at
    if newest is not None and newest >= now:
        _note_clock(newest, now)
        return Report(now, evaluated=False)
    try:
        rules = list(AlertRule.objects.filter(enabled=True).order_by("pk"))
        return go_round(measured(now, rules), rules, newest, lambda: (clock() - began).total_seconds())
    except Exception as error:
        AlertEngine.objects.filter(pk=ENGINE).update(error=f"{type(error).__name__}: {error}", error_at=now)
        raise


def _note_clock(newest: datetime, now: datetime) -> None:
    if newest - now > CLOCKS_DIFFER:
        words = f"Rules were evaluated for {newest:%Y-%m-%d %H:%M:%S} UTC, and this host's clock is behind that"
        AlertEngine.objects.filter(pk=ENGINE).update(
            error=f"{words}: set the clocks of all workers alike. Until then nothing is evaluated.", error_at=now
        )
