"""The tables of the history in words: what each holds, and for how long."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from consumers.selectors.history_use import HistoryUse, TableUse

LABELS: dict[str, str | Promise] = {
    "readings": _("scrapes"),
    "membership": _("members"),
    "ownership": _("owners of queues"),
    "stored_offsets": _("offset files"),
    "dead_letters": _("dead-letter queues"),
    "knots": _("produced offsets, for time lags"),
    "windows_60": _("windows of 1 minute"),
    "windows_600": _("windows of 10 minutes"),
    "windows_3600": _("windows of 1 hour"),
    "windows_86400": _("windows of 1 day (UTC)"),
}
HOUR, DAY = 3600, 86400


def history_tables(history: HistoryUse) -> list[tuple[str, str, TableUse]]:
    """What each holds, for how long it is kept, its numbers."""
    return [(str(LABELS[use.table]), kept_words(use.kept_seconds), use) for use in history.tables]


def kept_words(seconds: float) -> str:
    """As somebody set it: never capped."""
    if seconds % DAY and seconds < 4 * DAY:
        hours = seconds / HOUR
        return ngettext("%(n)s hour", "%(n)s hours", round(hours)) % {"n": f"{hours:,g}"}
    days = seconds / DAY
    return ngettext("%(n)s day", "%(n)s days", round(days)) % {"n": f"{days:,g}"}
