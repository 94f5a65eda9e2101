"""The lag of a group around one of its rebalances, with the time that it took marked."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext as _

from consumers.selectors.rebalances.rows import RebalanceEvent
from dashboard.figures.points import Figure, Span

from .figures import lag_figure
from .ranges import Range

BEFORE, AFTER = timedelta(minutes=10), timedelta(minutes=20)
# In windows of ten minutes.
LONG_BEFORE, LONG_AFTER = timedelta(hours=2), timedelta(hours=4)


def figure_around(event: RebalanceEvent, now: datetime) -> Figure:
    """In windows of a minute, or of ten where those of a minute are not kept any more."""
    begun, over = event.started_after or event.started_before, event.settled_at or event.last_change_at
    is_old = now - begun > timedelta(days=settings.LAKE_MINUTE_WINDOW_DAYS)
    before, after = (LONG_BEFORE, LONG_AFTER) if is_old else (BEFORE, AFTER)
    shown = Range("", begun - before, min(now, over + after))
    span = Span(begun, over, _("the rebalance, from the last reading before it to its end"))
    return lag_figure(event.cluster, event.group, shown, now, [span], 600 if is_old else 60)
