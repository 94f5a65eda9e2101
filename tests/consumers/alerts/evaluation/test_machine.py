"""The course of an incident, case by case. `FOR` is 60 s, `CLEAR` 120 s."""

import pytest

from consumers.alerts.evaluation.machine import Course, Look, Step, Waits, step
from consumers.models import Ending, IncidentEventKind, IncidentStatus
from tests.world import NOW, ago

WAITS = Waits(for_seconds=60, clear_seconds=120)
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
    "nothing begins where it does not hold": (None, Look.OVER, Step(None)),
    "nothing begins between the two thresholds": (None, Look.BETWEEN, Step(None)),
    "nothing begins of what is unknown": (None, Look.UNKNOWN, Step(None)),
    "nothing begins of what is gone": (None, Look.GONE, Step(None)),
    "nothing begins of what no rule selects": (None, Look.UNSELECTED, Step(None)),
    "it begins as pending": (None, Look.HOLDS, Step(pending(0))),
    "pending stays pending until its time": (pending(59), Look.HOLDS, Step(pending(59))),
    "pending fires at its time": (
        pending(60),
        Look.HOLDS,
        Step(Course(IncidentStatus.FIRING, ago(60), NOW), FIRES),
    ),
    "pending stays while unknown, however long": (
        pending(900),
        Look.UNKNOWN,
        Step(pending(900, unknown_since=NOW)),
    ),
    "pending remembers since when it is unknown": (
        pending(900, unknown_since=ago(30)),
        Look.UNKNOWN,
        Step(pending(900, unknown_since=ago(30))),
    ),
    "pending that is known again fires": (
        pending(900, unknown_since=ago(30)),
        Look.HOLDS,
        Step(Course(IncidentStatus.FIRING, ago(900), NOW), FIRES),
    ),
    "pending is forgotten when over": (pending(59), Look.OVER, Step(None)),
    "pending is forgotten between the two thresholds": (pending(59), Look.BETWEEN, Step(None)),
    "pending is forgotten when gone": (pending(59), Look.GONE, Step(None)),
    "pending is forgotten when unselected": (pending(59), Look.UNSELECTED, Step(None)),
    "firing goes on": (firing(), Look.HOLDS, Step(firing())),
    "firing that holds again does not clear": (firing(clearing_since=ago(119)), Look.HOLDS, Step(firing())),
    "firing begins to clear": (firing(), Look.OVER, Step(firing(clearing_since=NOW))),
    "firing clears for a while": (
        firing(clearing_since=ago(119)),
        Look.OVER,
        Step(firing(clearing_since=ago(119))),
    ),
    "firing is over at its time": (firing(clearing_since=ago(120)), Look.OVER, Step(None, OVER, Ending.RECOVERED)),
    "between does not begin to clear": (firing(), Look.BETWEEN, Step(firing())),
    "between neither breaks off nor ends": (
        firing(clearing_since=ago(900)),
        Look.BETWEEN,
        Step(firing(clearing_since=ago(900))),
    ),
    "firing becomes unknown once": (firing(), Look.UNKNOWN, Step(firing(unknown_since=NOW), LOST)),
    "firing stays unknown without a word": (
        firing(unknown_since=ago(30)),
        Look.UNKNOWN,
        Step(firing(unknown_since=ago(30))),
    ),
    "unknown does not end what clears": (
        firing(clearing_since=ago(900)),
        Look.UNKNOWN,
        Step(firing(clearing_since=ago(900), unknown_since=NOW), LOST),
    ),
    "firing is known again": (firing(unknown_since=ago(30)), Look.HOLDS, Step(firing(), BACK)),
    "known again between": (firing(unknown_since=ago(30)), Look.BETWEEN, Step(firing(), BACK)),
    "known again and over at once": (
        firing(clearing_since=ago(900), unknown_since=ago(30)),
        Look.OVER,
        Step(None, (*BACK, *OVER), Ending.RECOVERED),
    ),
    "firing ends with its subject": (firing(unknown_since=ago(30)), Look.GONE, Step(None, OVER, Ending.GONE)),
    "firing ends with its rule": (firing(), Look.UNSELECTED, Step(None, OVER, Ending.RULE)),
}


@pytest.mark.parametrize(("course", "look", "expected"), CASES.values(), ids=CASES)
def test_each_look_leads_to_one_step(course: Course | None, look: Look, expected: Step) -> None:
    assert step(course, look, WAITS, NOW) == expected


def test_every_pair_of_status_and_look_is_in_the_table() -> None:
    pairs = {(course and course.status, look) for course, look, _ in CASES.values()}
    open_statuses = (None, IncidentStatus.PENDING, IncidentStatus.FIRING)
    assert pairs == {(status, look) for status in open_statuses for look in Look}


def test_it_begins_when_rows_say_that_it_began() -> None:
    assert step(None, Look.HOLDS, WAITS, NOW, since=ago(59)) == Step(pending(59))
    assert step(None, Look.HOLDS, WAITS, NOW, since=ago(60)).events == FIRES


def test_it_never_begins_in_the_future() -> None:
    assert step(None, Look.HOLDS, WAITS, NOW, since=ago(-5)) == Step(pending(0))


def test_without_waits_it_fires_and_ends_at_once() -> None:
    at_once = Waits(for_seconds=0, clear_seconds=0)
    assert step(None, Look.HOLDS, at_once, NOW).events == FIRES
    assert step(firing(), Look.OVER, at_once, NOW).events == OVER
