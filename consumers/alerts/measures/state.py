"""The state of each group as pages show it, with the rule that decided and its numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from consumers.alerts.measured import Column, MeasureSpec, PastSource, Unit, evidence_parts
from consumers.alerts.preview.judged import state_values
from consumers.groups.listing import shown_groups
from consumers.groups.overlay import UNKNOWN_RANK
from consumers.groups.shown import StateReport
from consumers.models import Comparison, Measure, State, SubjectKind
from consumers.queries.queues.overlay import NOT_JUDGED_YET
from consumers.queries.reset_marks import RULES, Jump, causes
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.states import RuleCode
from consumers.words.reasons import coded_reason

from .columns import judged_reason
from .scan import GroupScan, GroupValues, parsed
from .topic_parts import JudgedPart, TopicScan, worst

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
        return _state_words(row.state, row.judged_rule, detail, as_of=self._as_of(place, self.scan.is_late(place)))

    def _as_of(self, place: int, is_stale: bool) -> str | None:
        at = self.scan.rows[place].judged_at
        return f"{at:%H:%M}" if is_stale and at is not None else None

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
    said = causes(jumps.values())
    return {place: said[jump]["cause"] for place, jump in jumps.items() if "reset" in said[jump]}


MEASURES = (
    MeasureSpec(
        code=Measure.STATE,
        unit=Unit.STATE,
        comparisons=(Comparison.IN,),
        reads={SubjectKind.GROUP: state, SubjectKind.TOPIC: state_of_topic},
        past=PastSource(table="windows_60", read=state_values),
        knows_exclusions=True,
    ),
)
