"""The course of an incident, case by case. `FOR` is 60 s, `CLEAR` 120 s."""

import pytest

from consumers.alerts.evaluation.machine import Course, CourseTimes, Observation, Step, step
from consumers.models import Ending, IncidentEventKind, IncidentStatus
from tests.world import NOW, ago

WAITS = CourseTimes(for_seconds=60, clear_seconds=120)
FIRES, OVER, LOST, BACK = (
    (IncidentEventKind.FIRING,),
    (IncidentEventKind.RESOLVED,),
    (IncidentEventKind.UNKNOWN,),
    (IncidentEventKind.KNOWN,),
)


def pending(seconds: float, **fields: object) -> Course:
    return Course(IncidentStatus.PENDING, ago(seconds), **fields)  # type: ignore[arg-type]


def firing(**fields: object) -> Course:
    return Course(IncidentStatus.FIRING, ago(600), ago(540), **fields)  # type: ignore[arg-type]


CASES = {
    "nothing begins where it does not hold": (None, Observation.OVER, Step(None)),
    "nothing begins between the two thresholds": (None, Observation.BETWEEN, Step(None)),
    "nothing begins of what is unknown": (None, Observation.UNKNOWN, Step(None)),
    "nothing begins of what is gone": (None, Observation.GONE, Step(None)),
    "nothing begins of what no rule selects": (None, Observation.UNSELECTED, Step(None)),
    "it begins as pending": (None, Observation.HOLDS, Step(pending(0))),
    "pending stays pending until its time": (pending(59), Observation.HOLDS, Step(pending(59))),
    "pending fires at its time": (
        pending(60),
        Observation.HOLDS,
        Step(Course(IncidentStatus.FIRING, ago(60), NOW), FIRES),
    ),
    "pending stays while unknown, however long": (
        pending(900),
        Observation.UNKNOWN,
        Step(pending(900, unknown_since=NOW)),
    ),
    "pending remembers since when it is unknown": (
        pending(900, unknown_since=ago(30)),
        Observation.UNKNOWN,
        Step(pending(900, unknown_since=ago(30))),
    ),
    "pending that is known again fires": (
        pending(900, unknown_since=ago(30)),
        Observation.HOLDS,
        Step(Course(IncidentStatus.FIRING, ago(900), NOW), FIRES),
    ),
    "pending is forgotten when over": (pending(59), Observation.OVER, Step(None)),
    "pending is forgotten between the two thresholds": (pending(59), Observation.BETWEEN, Step(None)),
    "pending is forgotten when gone": (pending(59), Observation.GONE, Step(None)),
    "pending is forgotten when unselected": (pending(59), Observation.UNSELECTED, Step(None)),
    "firing goes on": (firing(), Observation.HOLDS, Step(firing())),
    "firing that holds again does not clear": (firing(clearing_since=ago(119)), Observation.HOLDS, Step(firing())),
    "firing begins to clear": (firing(), Observation.OVER, Step(firing(clearing_since=NOW))),
    "firing clears for a while": (
        firing(clearing_since=ago(119)),
        Observation.OVER,
        Step(firing(clearing_since=ago(119))),
    ),
    "firing is over at its time": (
        firing(clearing_since=ago(120)),
        Observation.OVER,
        Step(None, OVER, Ending.RECOVERED),
    ),
    "between does not begin to clear": (firing(), Observation.BETWEEN, Step(firing())),
    "between neither breaks off nor ends": (
        firing(clearing_since=ago(900)),
        Observation.BETWEEN,
        Step(firing(clearing_since=ago(900))),
    ),
    "firing becomes unknown once": (firing(), Observation.UNKNOWN, Step(firing(unknown_since=NOW), LOST)),
    "firing stays unknown without a word": (
        firing(unknown_since=ago(30)),
        Observation.UNKNOWN,
        Step(firing(unknown_since=ago(30))),
    ),
    "unknown does not end what clears": (
        firing(clearing_since=ago(900)),
        Observation.UNKNOWN,
        Step(firing(clearing_since=ago(900), unknown_since=NOW), LOST),
    ),
    "firing is known again": (firing(unknown_since=ago(30)), Observation.HOLDS, Step(firing(), BACK)),
    "known again between": (firing(unknown_since=ago(30)), Observation.BETWEEN, Step(firing(), BACK)),
    "known again and over at once": (
        firing(clearing_since=ago(900), unknown_since=ago(30)),
        Observation.OVER,
        Step(None, (*BACK, *OVER), Ending.RECOVERED),
    ),
    "firing ends with its subject": (firing(unknown_since=ago(30)), Observation.GONE, Step(None, OVER, Ending.GONE)),
    "firing ends with its rule": (firing(), Observation.UNSELECTED, Step(None, OVER, Ending.RULE)),
}


@pytest.mark.parametrize(("course", "observation", "expected"), CASES.values(), ids=CASES)
def test_each_look_leads_to_one_step(course: Course | None, observation: Observation, expected: Step) -> None:
    assert step(course, observation, WAITS, NOW) == expected


def test_every_pair_of_status_and_look_is_in_the_table() -> None:
    pairs = {(course and course.status, observation) for course, observation, _ in CASES.values()}
    open_statuses = (None, IncidentStatus.PENDING, IncidentStatus.FIRING)
    assert pairs == {(status, observation) for status in open_statuses for observation in Observation}


def test_it_begins_when_rows_say_that_it_began() -> None:
    assert step(None, Observation.HOLDS, WAITS, NOW, since=ago(59)) == Step(pending(59))
    assert step(None, Observation.HOLDS, WAITS, NOW, since=ago(60)).events == FIRES


def test_it_never_begins_in_the_future() -> None:
    assert step(None, Observation.HOLDS, WAITS, NOW, since=ago(-5)) == Step(pending(0))


def test_without_waits_it_fires_and_ends_at_once() -> None:
    at_once = CourseTimes(for_seconds=0, clear_seconds=0)
    assert step(None, Observation.HOLDS, at_once, NOW).events == FIRES
    assert step(firing(), Observation.OVER, at_once, NOW).events == OVER
