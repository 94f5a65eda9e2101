"""Of which measures there is a past to look at, where it is kept, and how far it reaches."""

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum

from django.utils.translation import gettext as _

from consumers.models import Measure


class Source(Enum):
    """What a measure's past is read from. The value: the table of the lake that rows of it are kept as long as."""

    WINDOWS = "windows_600"  # of groups
    JUDGED = "windows_60"  # changes and rebalances, known while the pipeline ran: its runs are kept so long
    READINGS = "readings"


HISTORY: dict[Measure, Source] = {
    Measure.LAG: Source.WINDOWS,
    Measure.TIME_LAG: Source.WINDOWS,
    Measure.DRAIN: Source.WINDOWS,
    Measure.RETRY_SHARE: Source.WINDOWS,
    Measure.DLQ_INFLOW: Source.WINDOWS,
    Measure.UNKNOWN: Source.WINDOWS,
    Measure.EXPIRY: Source.WINDOWS,
    Measure.STATE: Source.JUDGED,
    Measure.REBALANCES: Source.JUDGED,
    Measure.JUDGEMENT_AGE: Source.JUDGED,
    Measure.MEMBERS: Source.READINGS,
    Measure.UNSETTLED: Source.READINGS,
    Measure.BROKER_UNREAD: Source.READINGS,
    Measure.NAME_SERVER: Source.READINGS,
    Measure.READING_AGE: Source.READINGS,
}
OF_TOPICS = (Measure.LAG, Measure.TIME_LAG)


def why_no_history(measure: Measure, topic: str) -> str | None:
    """Null where a rule of it can be looked at over the past."""
    if measure not in HISTORY:
        words = {"measure": measure.value, "known": ", ".join(HISTORY)}
        return _("Of %(measure)s nothing is kept but the newest value; a past is kept of %(known)s.") % words
    if topic and measure not in OF_TOPICS:
        words = {"measure": measure.value, "known": ", ".join(OF_TOPICS)}
        return _("By topic no past of %(measure)s is kept, but of %(known)s.") % words
    return None


def longest(measure: Measure, kept: Mapping[str, timedelta]) -> timedelta:
    """How far its past reaches. `kept`: how long tables of the lake are kept."""
    return kept[HISTORY[measure].value]


def finest_seconds(age: timedelta, kept: Mapping[str, timedelta]) -> int:
    """Of windows that begin so long ago: those of a minute, while they are kept."""
    return 60 if age <= kept["windows_60"] else 600
