"""The replay ends where the machine of incidents does, whatever it is shown."""

import random
from datetime import timedelta

import numpy as np
import pytest

from consumers.alerts.evaluation.machine import Course, CourseTimes, Observation, step
from consumers.alerts.preview.judged import INCIDENT, Observations, replayed
from consumers.models import Comparison, IncidentStatus
from tests.pipeline_rows import T0, at, us

NAMES = ("place", "at_us", "value", "holds", "cleared", "since_us", "for_us", "clear_us")
SECOND = 1_000_000
LOOKS = {"h": Observation.HOLDS, "b": Observation.BETWEEN, "o": Observation.OVER, "?": Observation.UNKNOWN}


def rows(place, observations, waits, *, every=60, since=None, values=None):
    """One row for each look that is known, as the preview makes them."""
    return [
        {
            "place": place,
            "at_us": us(number * every),
            "value": float(values[number] if values else number),
            "holds": look == "h",
            "cleared": look == "o",
            "since_us": np.nan if since is None or since[number] is None else us(since[number]),
            "for_us": int(waits.for_seconds * SECOND),
            "clear_us": int(waits.clear_seconds * SECOND),
        }
        for number, look in enumerate(observations)
        if look != "?"
    ]


def by_replay(found, comparison=Comparison.ABOVE):
    seen = Observations(*(np.array([row[name] for row in found]) for name in NAMES))
    return [dict(zip(INCIDENT.names, row, strict=True)) for row in replayed(seen, comparison).tolist()]


def by_machine(observations, waits, *, every=60, since=None):
    """(started, fired, resolved) in seconds of each that fired."""
    course: Course | None = None
    ended = []
    for number, look in enumerate(observations):
        began = since[number] if since else None
        done = step(course, LOOKS[look], waits, at(number * every), None if began is None else at(began))
        if done.ending is not None:
            ended.append((course.started_at, course.fired_at, at(number * every)))
        course = done.course
    if course is not None and course.status == IncidentStatus.FIRING:
        ended.append((course.started_at, course.fired_at, None))
    return [tuple(None if one is None else (one - T0) / timedelta(seconds=1) for one in row) for row in ended]


def seconds(row):
    names = ("started_us", "fired_us", "resolved_us")
    return tuple(None if np.isnan(row[name]) else (row[name] - us(0)) / SECOND for name in names)


CASES = {
    "calm": ("ooooo", CourseTimes(60, 60), []),
    "too short": ("ohho", CourseTimes(300, 60), []),
    "pending at the end": ("ohh", CourseTimes(300, 60), []),
    "at once, and still at the end": ("ohh", CourseTimes(0, 60), [(60, 60, None)]),
    "after its wait": ("hhhoo", CourseTimes(120, 60), [(0, 120, 240)]),
    "a calm moment begins the wait anew": ("hhohhh", CourseTimes(120, 60), [(180, 300, None)]),
    "between the thresholds a pending one is forgotten": ("hhbhhh", CourseTimes(120, 60), [(180, 300, None)]),
    "between the thresholds it is not over": ("hbbbb", CourseTimes(0, 60), [(0, 0, None)]),
    "a calm moment that is broken off": ("hohoo", CourseTimes(0, 60), [(0, 0, 240)]),
    "between does not break the clearing off": ("hobo", CourseTimes(0, 120), [(0, 0, 180)]),
    "twice": ("hoohoo", CourseTimes(0, 60), [(0, 0, 120), (180, 180, 300)]),
    "unknown keeps the wait": ("h??h", CourseTimes(180, 60), [(0, 180, None)]),
    "unknown does not fire": ("hh?", CourseTimes(120, 60), []),
    "unknown does not resolve": ("ho????", CourseTimes(0, 60), [(0, 0, None)]),
    "over at the first known value after": ("ho???o", CourseTimes(0, 60), [(0, 0, 300)]),
    "over at once": ("ho", CourseTimes(0, 0), [(0, 0, 60)]),
}


def test_it_says_what_the_table_says():
    found = [
        row for place, (observations, waits, _) in enumerate(CASES.values()) for row in rows(place, observations, waits)
    ]
    said = by_replay(found)
    for place, (name, (observations, waits, expected)) in enumerate(CASES.items()):
        assert [seconds(row) for row in said if row["place"] == place] == expected, name
        assert by_machine(observations, waits) == expected, f"{name}: the machine"


def test_it_agrees_with_the_machine_on_random_series():
    dice = random.Random(11)
    cases = []
    for _ in range(200):
        observations = "".join(
            dice.choices("hbo?", weights=dice.choice([(5, 1, 3, 1), (1, 1, 6, 2), (8, 2, 2, 4)]), k=60)
        )
        since = [dice.choice([None, None, number * 60 - dice.randrange(-60, 900)]) for number in range(60)]
        cases.append((observations, CourseTimes(dice.choice([0, 60, 90, 300]), dice.choice([0, 60, 100, 300])), since))
    found = [
        row
        for place, (observations, waits, since) in enumerate(cases)
        for row in rows(place, observations, waits, since=since)
    ]
    said = by_replay(found)
    for place, (observations, waits, since) in enumerate(cases):
        assert [seconds(row) for row in said if row["place"] == place] == by_machine(
            observations, waits, since=since
        ), observations


@pytest.mark.parametrize(("comparison", "worst"), [(Comparison.ABOVE, 9), (Comparison.BELOW, 4)])
def test_it_keeps_the_worst_value_that_held(comparison, worst):
    found = rows(0, "hhhoo", CourseTimes(60, 60), values=[7, 4, 9, 100, -100])
    (row,) = by_replay(found, comparison)
    assert row["worst_value"] == worst
