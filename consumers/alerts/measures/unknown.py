"""The state of each group as pages show it, and for how long its lag or state has been unknown, where the group itself
is the cause.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy

from consumers.alerts.measured import Column, MeasureSpec, PastSource, Unit, evidence_parts, number_column
from consumers.alerts.preview.judged import state_values
from consumers.alerts.preview.values import Grid, Need, Values
from consumers.alerts.preview.windows import Formula, Stored, windowed
from consumers.groups.listing import shown_groups
from consumers.groups.overlay import UNKNOWN_RANK, Overlay
from consumers.groups.shown import StateReport
from consumers.models import Comparison, Measure, PipelineRun, Reading, State, SubjectKind
from consumers.queries.queues.overlay import NOT_JUDGED_YET
from consumers.queries.reset_marks import RULES, Jump, causes
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.states import RuleCode, UnknownReason
from consumers.vocabulary.times import iso
from consumers.words.reasons import coded_reason, reason_words
from consumers.words.spans import age

from .columns import judged_reason, lag_reason
from .scan import GroupScan, GroupValues, parsed, why_outside
from .topic_parts import JudgedPart, TopicScan, worst

# The state of each group as pages show it, with the rule that decided and its numbers.
# Up to so many groups with a jumped offset are compared with resets: more at once were not moved by people.
MOST_JUMPS = 2000
# Groups whose shown state differs from the evaluated one: on silent brokers, or while evaluations are late.
MOST_LOOKED_UP = 500


def state(scan: GroupScan) -> Column:
    states = _States(scan)
    return Column(states.values, states.reason, states.evidence, states.since, states.suppressed)


@dataclass(frozen=True)
class _States:
    scan: GroupScan

    @cached_property
    def values(self) -> Sequence[State | None]:
        """None too where offsets are lost: that incident belongs to the broker, and it resolves no incident of the
        group.
        """
        return [None if row.state == State.UNKNOWN or self._is_lost(row) else row.state for row in self.scan.rows]

    def _is_lost(self, row: GroupValues) -> bool:
        """Whether only lost offsets put the group into LOSS."""
        if row.state != State.LOSS or not row.total_lost_queues:
            return False
        is_judged = row.judged_state == State.LOSS and row.judged_rule != RuleCode.OFFSET_LOST
        return not is_judged or self.scan.explainer.unjudged_reason(row.judged_at) is not None

    def reason(self, place: int) -> str:
        row = self.scan.rows[place]
        if self._is_lost(row):
            return reported_for_broker(row)
        if reason := judged_reason(self.scan, place):
            return reason
        # The evidence says that the state is unknown; the word of the state itself would repeat that.
        return coded_reason(AlertEvidence.STATE_REASON, rule=row.judged_rule, detail=self.scan.detail(place))

    def evidence(self, place: int) -> str:
        row = self.scan.rows[place]
        if row.state == State.UNKNOWN or self._is_lost(row):
            return self.reason(place)
        if (shown := self._looked_up_of(row)) is not None:
            as_of = self._as_of(place, shown.stale)
            if not shown.is_named:
                return evidence_parts(shown.parts)
            queue = shown.queue
            where = None if queue is None else (queue.topic.name, queue.broker, queue.queue_id)
            return _state_words(shown.state, shown.rule, shown.detail, where, as_of)
        if row.judged_state != row.state:
            return _state_words(row.state, None, {})
        detail = self.scan.detail(place) | self._causes.get(row.id, {})
        is_stale = self.scan.is_late(place) or row.unread_by is not None
        return _state_words(row.state, row.judged_rule, detail, as_of=self._as_of(place, is_stale))

    def _as_of(self, place: int, is_stale: bool) -> str | None:
        at = self.scan.rows[place].judged_at
        return iso(at) if is_stale and at is not None else None

    def since(self, place: int) -> datetime | None:
        row = self.scan.rows[place]
        if (shown := self._looked_up_of(row)) is not None:
            return shown.since
        return row.judged_since if row.judged_state == row.state else None

    def suppressed(self, place: int) -> str | None:
        """Suppressed where Consumerscope reset the offset."""
        row = self.scan.rows[place]
        if row.judged_rule not in RULES or row.judged_state != row.state:
            return None
        cause = self._causes.get(row.id, {})
        return cause["cause"] if "reset" in cause else None

    @cached_property
    def _causes(self) -> dict[int, dict[str, str]]:
        """One query, none where no offset jumped."""
        jumps = [jump for place in range(len(self.scan.rows)) if (jump := self._jump(place)) is not None]
        return {jump.group_id: cause for jump, cause in causes(jumps[:MOST_JUMPS]).items()}

    def _jump(self, place: int) -> Jump | None:
        row = self.scan.rows[place]
        if row.judged_rule not in RULES or row.judged_since is None or row.judged_at is None:
            return None
        where = _queue(self.scan.detail(place))
        return None if where is None else Jump(row.id, *where, row.judged_rule, row.judged_since, row.judged_at)

    def _looked_up_of(self, row: GroupValues) -> StateReport | None:
        """Groups whose shown state is not simply the evaluated one."""
        return self._looked_up.get(row.id) if _is_looked_up(row) else None

    @cached_property
    def _looked_up(self) -> dict[int, StateReport]:
        """A fixed number of queries."""
        wanted = [row.id for row in self.scan.rows if _is_looked_up(row)]
        shown = shown_groups(self.scan.overlay, wanted[:MOST_LOOKED_UP])
        return {one.group.pk: one.verdict for one in shown}


def reported_for_broker(row: GroupValues) -> str:
    return coded_reason(AlertEvidence.LOST_REPORTED, lost_queues=row.total_lost_queues or 0)


def _state_words(
    state: State,
    rule: str | None,
    detail: Mapping[str, Any],
    place: tuple[str, str, int] | None = None,
    as_of: str | None = None,
) -> str:
    values = {"state": state.value, "rule": rule, "detail": detail, "place": place, "as_of": as_of}
    return coded_reason(AlertEvidence.STATE, **values)


def _is_looked_up(row: GroupValues) -> bool:
    """The state may come from a queue on a broker that still answers, or from rows alone while evaluations are late."""
    return (row.unread_by is not None and row.rank < UNKNOWN_RANK) or row.state not in (row.judged_state, State.UNKNOWN)


def _queue(detail: dict[str, Any]) -> tuple[str, str, int] | None:
    topic, broker, queue_id = (detail.get(name) for name in ("topic", "broker", "queue_id"))
    return None if topic is None or broker is None or queue_id is None else (topic, broker, queue_id)


def state_of_topic(of: TopicScan) -> Column:
    whole, scan, parts, topic = of.whole, of.scan, of.parts, of.topic
    # A group that was never evaluated has no evaluated values; one whose evaluation is late has those that are still
    # valid.
    found = [
        (State.UNKNOWN, None) if row.judged_at is None else worst(whole, part)
        for row, part in zip(scan.rows, parts, strict=True)
    ]

    def reason(place: int) -> str:
        judged = found[place][1]
        if judged is None:
            return judged_reason(scan, place) or str(NOT_JUDGED_YET)
        return _state_words(State.UNKNOWN, judged.rule, parsed(judged.detail))

    def evidence(place: int) -> str:
        state, judged = found[place]
        if judged is None:
            return reason(place) if state == State.UNKNOWN else _state_words(state, None, {})
        where = (topic, judged.broker, judged.queue_id)
        return _state_words(state, judged.rule, parsed(judged.detail), place=where)

    def since(place: int) -> datetime | None:
        judged = found[place][1]
        return judged.since if judged is not None else None

    moved = _moved(scan, topic, [judged for _, judged in found])
    values = [None if state == State.UNKNOWN else state for state, _ in found]
    return Column(values, reason, evidence, since, moved.get)


def _moved(scan: GroupScan, topic: str, found: Sequence[JudgedPart | None]) -> dict[int, str]:
    """Places whose offset was reset from here, and by whom. One query, none where no offset jumped."""
    jumps: dict[int, Jump] = {}
    for place, judged in enumerate(found):
        at = scan.rows[place].judged_at
        if judged is not None and judged.rule in RULES and at is not None:
            where = (topic, judged.broker, judged.queue_id)
            jumps[place] = Jump(judged.group_id, *where, judged.rule, judged.since, at)
    caused = causes(jumps.values())
    return {place: caused[jump]["cause"] for place, jump in jumps.items() if "reset" in caused[jump]}


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
    if row.lag_messages is None and row.total_unknown_reason not in NO_LAG and not row.is_lag_bound:
        times.append(row.total_last_good_at or row.total_changed_at or row.first_seen_at)
    return min(times, default=None)


def _suppressed(scan: GroupScan, place: int) -> str | None:
    row = scan.rows[place]
    if (outside := why_outside(row)) is not None:
        return outside
    return reason_words(row.total_unknown_reason) if row.total_unknown_reason in NO_LAG else None


# The same over stored windows, for previews.

# The lag in a window: known or not needed; unknown because of a broker, whose incident it is; unknown because of the
# group itself.
KNOWN, EXPLAINED, OWN = 0.0, 1.0, 2.0


def _reason_code(reason: str) -> float:
    if reason in NO_LAG:
        return KNOWN
    return EXPLAINED if reason in (UnknownReason.BROKER_UNREAD, UnknownReason.OFFSET_LOST) else OWN


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
        code=Measure.STATE,
        unit=Unit.STATE,
        comparisons=(Comparison.IN,),
        reads={SubjectKind.GROUP: state, SubjectKind.TOPIC: state_of_topic},
        past=PastSource(table="windows_60", read=state_values, needs=frozenset({Need.HEARD})),
        knows_exclusions=True,
    ),
    MeasureSpec(
        code=Measure.UNKNOWN,
        unit=Unit.SECONDS,
        is_age=True,
        reads={SubjectKind.GROUP: unknown},
        past=windowed(
            Formula(("lag_messages", "unknown_reason"), _lag_code, code_of=_reason_code, values=_unknown_for), needs=()
        ),
        note=gettext_lazy("Covers the lag of groups only, not their state."),
    ),
)
