"""How long the lag or the state of each group has not been known, where nothing but itself is the cause."""

from collections.abc import Mapping
from datetime import datetime

from django.utils.translation import gettext

from consumers.alerts.measured import Column
from consumers.models import State
from consumers.selectors.measures import age
from consumers.vocabulary.unknown import UnknownReason
from consumers.words.unknown import reason_words

from .columns import lag_reason
from .known_again import known_again
from .number_column import number_column
from .scan import GroupScan
from .spared import why_outside
from .state import state, told_of_broker

# These groups have no lag by what they are: nothing of them failed to be read.
NO_LAG = frozenset(
    {
        UnknownReason.NO_OFFSETS,
        UnknownReason.RETIRED_ONLY,
        UnknownReason.NEVER_COMMITTED,
        UnknownReason.TOPIC_GONE,
        UnknownReason.QUEUE_GONE,
        UnknownReason.NOT_REPORTED,
    }
)


def unknown(scan: GroupScan) -> Column:
    again = known_again(scan.overlay) if any(row.state == State.UNKNOWN for row in scan.rows) else {}
    since = [_since(scan, place, again) for place in range(len(scan.rows))]
    states = state(scan)

    def value(place: int) -> float | None:
        if explained(scan, place) is not None:
            return None
        began = since[place]
        return 0.0 if began is None else max(0.0, (scan.now - began).total_seconds())

    def evidence(place: int) -> str:
        """What is not known, for how long, and why."""
        row, seconds = scan.rows[place], values[place]
        if seconds is None or since[place] is None:
            return gettext("its state and its lag are known")
        why = states.reason(place) if row.state == State.UNKNOWN else lag_reason(scan, place)
        what = gettext("its state") if row.state == State.UNKNOWN else gettext("its lag")
        return gettext("%(what)s is not known for %(age)s: %(why)s") % {"what": what, "age": age(seconds), "why": why}

    values = [value(place) for place in range(len(scan.rows))]
    column = number_column(values, lambda place: explained(scan, place) or "", age)
    return Column(values, column.reason, evidence, since.__getitem__, lambda place: _spared(scan, place))


def explained(scan: GroupScan, place: int) -> str | None:
    """Why it is not its own matter that it is unknown; None where it is, or where it is known."""
    if reason := scan.unread_reason(place):
        return reason
    if scan.rows[place].total_lost_queues:
        return told_of_broker(scan.rows[place])
    # The others keep their last state.
    is_unknown = scan.explainer.nothing_is_judged and scan.rows[place].state == State.UNKNOWN
    return scan.unjudged_reason(place) if is_unknown else None


def _since(scan: GroupScan, place: int, again: Mapping[int, datetime]) -> datetime | None:
    """Since when one of the two is not known; None while both are. While something else explained it counts not."""
    row = scan.rows[place]
    times: list[datetime] = []
    if row.state == State.UNKNOWN:
        at = row.judged_at if scan.unjudged_reason(place) else row.judged_since
        at = at or row.first_seen_at
        times.append(max(at, again.get(row.cluster_id, at)))
    if row.lag_messages is None and row.total_unknown_reason not in NO_LAG:
        times.append(row.total_last_good_at or row.total_changed_at or row.first_seen_at)
    return min(times, default=None)


def _spared(scan: GroupScan, place: int) -> str | None:
    row = scan.rows[place]
    if (outside := why_outside(row)) is not None:
        return outside
    return reason_words(row.total_unknown_reason) if row.total_unknown_reason in NO_LAG else None
