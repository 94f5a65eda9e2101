"""For how long the lag or the state of each group has been unknown, where the group itself is the cause."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
from django.utils.translation import gettext_lazy

from consumers.alerts.measured import Column, MeasureSpec, Unit, number_column
from consumers.alerts.preview.values import Grid, Values
from consumers.alerts.preview.windows import Formula, Stored, windowed
from consumers.groups.overlay import Overlay
from consumers.models import Measure, PipelineRun, Reading, State, SubjectKind
from consumers.queries.texts import age
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.states import UnknownReason
from consumers.words.reasons import coded_reason, reason_words

from .columns import lag_reason
from .scan import GroupScan, why_outside
from .state import reported_for_broker, state

# When the last cause outside the groups of a cluster ended: from then on, unknown values are the group's own matter.
# Values that were not read, or not evaluated, are evaluated again some readings later. A group stays UNKNOWN for a
# while after its broker is back, and would otherwise count the broker's whole outage.

# An outage that ended earlier has been evaluated since.
BACK = timedelta(minutes=30)
# Stands for all brokers where a reading knew none.
EVERY_BROKER = frozenset({""})

Seen = tuple[datetime, frozenset[str]]  # when it was read, and the brokers that were not


def known_again(overlay: Overlay) -> dict[int, datetime]:
    """By cluster id: when a broker of it, or the site, was read or evaluated again after an outage.

    Clusters without an outage, or with one long ago, are left out. Four queries, and one for each cluster that was not
    read.
    """
    judged = _judged_again(overlay)
    found = {} if judged is None else dict.fromkeys(overlay.clusters, judged)
    for cluster, readings in _readings(overlay).items():
        if (read := _read_again(readings, overlay.limits.late_seconds)) is not None:
            found[cluster] = max(read, found.get(cluster, read))
    return found


def _readings(overlay: Overlay) -> dict[int, list[Seen]]:
    """Recent readings in order of time, preceded by the newest earlier one where they begin late."""
    start, found = overlay.now - BACK, dict[int, list[Seen]]()
    rows = Reading.objects.filter(taken_at__gt=start, taken_at__lte=overlay.now).order_by("taken_at")
    for cluster, at, brokers, error in rows.values_list("cluster", "taken_at", "brokers", "error").iterator():
        found.setdefault(cluster, []).append((at, _unread(brokers, error)))
    for cluster, readings in found.items():
        if readings[0][0] - start > timedelta(seconds=overlay.limits.late_seconds):
            older = Reading.objects.filter(cluster=cluster, taken_at__lte=start).order_by("-taken_at")
            readings[:0] = [(one.taken_at, _unread(one.brokers, one.error)) for one in older[:1]]
    return found


def _unread(brokers: Sequence[dict[str, object]], error: str | None) -> frozenset[str]:
    if error is not None and not brokers:
        return EVERY_BROKER
    return frozenset(str(one["name"]) for one in brokers if not one["read"])


def _read_again(readings: Sequence[Seen], late_seconds: float) -> datetime | None:
    late, again = timedelta(seconds=late_seconds), None
    for (before, missed), (at, missing) in pairwise(readings):
        if at - before > late or missed - missing:
            again = at
    return again


def _judged_again(overlay: Overlay) -> datetime | None:
    """When the first run ended after which evaluations were valid again."""
    start, again = overlay.now - BACK, None
    good = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=overlay.now)
    rows = good.filter(finished_at__gt=start).order_by("finished_at").values_list("until", "finished_at")
    ends = [(until, finished_at) for until, finished_at in rows if finished_at is not None]
    judged_until = good.filter(finished_at__lte=start).order_by("-until").values_list("until", flat=True).first()
    for until, finished_at in ends:
        if judged_until is None or judged_until < overlay.limits.judged_since(finished_at):
            again = finished_at
        judged_until = max(until, judged_until or until)
    return again


# These groups have no lag by their nature: no read failed.
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
        """What is unknown, for how long, and why."""
        row, seconds = scan.rows[place], values[place]
        if seconds is None or since[place] is None:
            return coded_reason(AlertEvidence.ALL_KNOWN)
        why = states.reason(place) if row.state == State.UNKNOWN else lag_reason(scan, place)
        code = AlertEvidence.STATE_UNKNOWN if row.state == State.UNKNOWN else AlertEvidence.LAG_UNKNOWN
        return coded_reason(code, unknown_seconds=seconds, why=why)

    values = [value(place) for place in range(len(scan.rows))]
    column = number_column(values, lambda place: explained(scan, place) or "", age)
    return Column(values, column.reason, evidence, since.__getitem__, lambda place: _suppressed(scan, place))


def explained(scan: GroupScan, place: int) -> str | None:
    """The outside cause of an unknown value; None where there is none, or where the value is known."""
    if reason := scan.unread_reason(place):
        return reason
    if scan.rows[place].total_lost_queues:
        return reported_for_broker(scan.rows[place])
    # The others keep their last state.
    is_unknown = scan.explainer.nothing_is_judged and scan.rows[place].state == State.UNKNOWN
    return scan.unjudged_reason(place) if is_unknown else None


def _since(scan: GroupScan, place: int, again: Mapping[int, datetime]) -> datetime | None:
    """Since when the lag or the state is unknown; None while both are known. Time with an outside cause does
    not count.
    """
    row = scan.rows[place]
    times: list[datetime] = []
    if row.state == State.UNKNOWN:
        at = row.judged_at if scan.unjudged_reason(place) else row.judged_since
        at = at or row.first_seen_at
        times.append(max(at, again.get(row.cluster_id, at)))
    if row.lag_messages is None and row.total_unknown_reason not in NO_LAG:
        times.append(row.total_last_good_at or row.total_changed_at or row.first_seen_at)
    return min(times, default=None)


def _suppressed(scan: GroupScan, place: int) -> str | None:
    row = scan.rows[place]
    if (outside := why_outside(row)) is not None:
        return outside
    return reason_words(row.total_unknown_reason) if row.total_unknown_reason in NO_LAG else None


# The same over stored windows, for previews.

# The lag in a window: known or not needed; unknown because of a broker; unknown because of the group itself.
KNOWN, EXPLAINED, OWN = 0.0, 1.0, 2.0


def _reason_code(reason: str) -> float:
    if reason in NO_LAG:
        return KNOWN
    return EXPLAINED if reason == UnknownReason.BROKER_UNREAD else OWN


def _unknown_for(rows: np.ndarray, code: np.ndarray, grid: Grid) -> Values:
    since = _known_until(code, grid)
    return Values(rows, np.select([code == KNOWN, code == OWN], [0.0, (grid.at_us - since) / 1e6], np.nan), since)


def _lag_code(stored: Stored, _: int) -> np.ndarray:
    """NaN where there is no window."""
    is_known = ~np.isnan(stored["lag_messages"]) & ~np.isnan(stored["unknown_reason"])
    return np.where(is_known, KNOWN, stored["unknown_reason"])


def _known_until(code: np.ndarray, grid: Grid) -> np.ndarray:
    """When the lag was last known, or the first window where it never was. A broker that was not read is another
    subject's incident, so that time does not count; a group that has no lag by its nature lacks nothing.
    """
    never = float(grid.last_us)
    first = np.where(np.isnan(code), never, grid.at_us).min(axis=1, keepdims=True, initial=never)
    return np.maximum.accumulate(np.where(code <= EXPLAINED, grid.at_us, first), axis=1)


MEASURES = (
    MeasureSpec(
        code=Measure.UNKNOWN,
        unit=Unit.SECONDS,
        reads={SubjectKind.GROUP: unknown},
        past=windowed(
            Formula(("lag_messages", "unknown_reason"), _lag_code, code_of=_reason_code, values=_unknown_for)
        ),
        note=gettext_lazy("Covers the lag of groups only, not their state."),
    ),
)
