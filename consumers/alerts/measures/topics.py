"""Groups' parts of the topics that rules name."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime

from django.utils.translation import gettext

from consumers.alerts.measured import Column, Table
from consumers.alerts.rules.notes import Notes
from consumers.models import Measure, State, SubjectKind
from consumers.selectors.groups.row import YOUNG_LAG
from consumers.selectors.measures import age, messages
from consumers.selectors.overlay import NOT_JUDGED_YET
from consumers.selectors.resets.causes import RULES, Jump, causes
from consumers.selectors.sentences import queue_words, sentence, state_parts

from .blocked import blocked_column, standing
from .columns import judged_reason
from .number_column import number_column
from .ownership import doubly_owned, unowned
from .scan import GroupScan, parsed
from .silent import silent_groups
from .spared import spared_waiting
from .topic_parts import JudgedPart, TopicPart, topic_parts, worst

Parts = Sequence[TopicPart]


def topics(scan: GroupScan, notes: Notes, wanted: Mapping[str, Set[Measure]]) -> dict[str, Table]:
    """`wanted`: the measures of each topic. Groups that have no offsets of a topic are not in its table."""
    return {topic: _table(scan, notes, topic, measures) for topic, measures in wanted.items()}


def _table(whole: GroupScan, notes: Notes, topic: str, wanted: Set[Measure]) -> Table:
    parts = topic_parts(whole, topic)
    scan = _of_parts(whole, parts, topic)
    makes: dict[Measure, Callable[[], Column]] = {
        Measure.STATE: lambda: _state(whole, scan, parts, topic),
        Measure.LAG: lambda: _lag(scan, parts),
        Measure.TIME_LAG: lambda: _time_lag(scan, parts),
        Measure.UNOWNED: lambda: unowned(scan, topic),
        Measure.DOUBLY_OWNED: lambda: doubly_owned(scan, topic),
        Measure.BLOCKED: lambda: blocked_column(scan, standing(scan.now, queue__topic__name=topic), silent_groups()),
    }
    columns = {measure: make() for measure, make in makes.items() if measure in wanted}
    return Table(scan.subjects, columns, notes.labels(scan.subjects))


def _of_parts(whole: GroupScan, parts: Parts, topic: str) -> GroupScan:
    """The rows of their groups, as subjects of the topic."""
    rows = [whole.rows[part.place] for part in parts]
    subjects = [replace(whole.subjects[part.place], kind=SubjectKind.TOPIC, topic=topic) for part in parts]
    return GroupScan(whole.overlay, whole.explainer, rows, subjects)


def _lag(scan: GroupScan, parts: Parts) -> Column:
    return number_column(
        [part.lag_messages for part in parts],
        lambda place: parts[place].lag_reason,
        lambda value: gettext("%s behind") % messages(round(value)),
        spared=lambda place: spared_waiting(scan, place),
    )


def _time_lag(scan: GroupScan, parts: Parts) -> Column:
    def value(place: int) -> float | None:
        part = parts[place]
        if part.lag_messages == 0:
            return 0.0
        return None if scan.unjudged_reason(place) else part.time_lag_seconds

    def reason(place: int) -> str:
        part = parts[place]
        return part.lag_reason if part.lag_messages is None else scan.unjudged_reason(place) or YOUNG_LAG

    return number_column(
        [value(place) for place in range(len(parts))],
        reason,
        lambda value: gettext("its oldest message waits for %s") % age(value),
        spared=lambda place: spared_waiting(scan, place),
    )


def _state(whole: GroupScan, scan: GroupScan, parts: Parts, topic: str) -> Column:
    # Of a group that was never evaluated nothing is judged; of one whose evaluation is late, what still holds.
    found = [
        (State.UNKNOWN, None) if row.judged_at is None else worst(whole, part)
        for row, part in zip(scan.rows, parts, strict=True)
    ]

    def reason(place: int) -> str:
        judged = found[place][1]
        if judged is None:
            return judged_reason(scan, place) or NOT_JUDGED_YET
        return sentence(state_parts(State.UNKNOWN, judged.rule, parsed(judged.detail)))

    def evidence(place: int) -> str:
        state, judged = found[place]
        if judged is None:
            return reason(place) if state == State.UNKNOWN else sentence(state_parts(state, None, {}))
        where = queue_words(topic, judged.broker, judged.queue_id)
        return sentence(state_parts(state, judged.rule, parsed(judged.detail), place=where))

    def since(place: int) -> datetime | None:
        judged = found[place][1]
        return judged.since if judged is not None else None

    moved = _moved(scan, topic, [judged for _, judged in found])
    values = [None if state == State.UNKNOWN else state for state, _ in found]
    return Column(values, reason, evidence, since, moved.get)


def _moved(scan: GroupScan, topic: str, found: Sequence[JudgedPart | None]) -> dict[int, str]:
    """Places whose offset somebody set from here, and who. One query, none where no offset jumped."""
    jumps: dict[int, Jump] = {}
    for place, judged in enumerate(found):
        at = scan.rows[place].judged_at
        if judged is not None and judged.rule in RULES and at is not None:
            where = (topic, judged.broker, judged.queue_id)
            jumps[place] = Jump(judged.group_id, *where, judged.rule, judged.since, at)
    said = causes(jumps.values())
    return {place: said[jump]["cause"] for place, jump in jumps.items() if "reset" in said[jump]}
