"""What holds of every course of an incident, whatever is seen, and however long that takes."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hypothesis import given, strategies as st

from consumers.alerts.evaluation.machine import Course, CourseTimes, Observation, Step, step
from consumers.models import Ending, IncidentEventKind, IncidentStatus
from tests.world import NOW

TOLD = (IncidentEventKind.FIRING, IncidentEventKind.RESOLVED)
waits = st.builds(CourseTimes, for_seconds=st.integers(0, 90), clear_seconds=st.integers(0, 90))
observations = st.lists(st.tuples(st.integers(1, 60), st.sampled_from(Observation)), max_size=40)


@dataclass
class Told:
    """Every step of a run of looks, each some seconds after the one before."""

    steps: list[tuple[datetime, Observation, Course | None, Step]] = field(default_factory=list)

    @classmethod
    def of(cls, seen: list[tuple[int, Observation]], waits: CourseTimes) -> "Told":
        told, course, now = cls(), None, NOW
        for seconds, observation in seen:
            now += timedelta(seconds=seconds)
            after = step(course, observation, waits, now)
            told.steps.append((now, observation, course, after))
            course = after.course
        return told

    @property
    def events(self) -> list[IncidentEventKind]:
        return [kind for *_, after in self.steps for kind in after.events]


@given(observations, waits)
def test_firing_and_resolved_alternate(seen: list[tuple[int, Observation]], waits: CourseTimes) -> None:
    told = [kind for kind in Told.of(seen, waits).events if kind in TOLD]
    assert told == [TOLD[number % 2] for number in range(len(told))]


@given(observations, waits)
def test_unknown_and_known_alternate_within_an_incident(
    seen: list[tuple[int, Observation]], waits: CourseTimes
) -> None:
    is_unknown = False
    for kind in Told.of(seen, waits).events:
        if kind in (IncidentEventKind.UNKNOWN, IncidentEventKind.KNOWN):
            assert is_unknown == (kind == IncidentEventKind.KNOWN)
            is_unknown = not is_unknown
        else:
            is_unknown = False


@given(observations, waits)
def test_unknown_neither_begins_nor_fires_nor_ends_anything(
    seen: list[tuple[int, Observation]], waits: CourseTimes
) -> None:
    for _, observation, before, after in Told.of(seen, waits).steps:
        if observation is Observation.UNKNOWN:
            assert (before is None) == (after.course is None)
            assert not set(after.events) & set(TOLD)


@given(observations, waits)
def test_it_fires_only_where_it_holds_and_for_long_enough(
    seen: list[tuple[int, Observation]], waits: CourseTimes
) -> None:
    for now, observation, _, after in Told.of(seen, waits).steps:
        if IncidentEventKind.FIRING in after.events:
            assert after.course is not None
            assert observation is Observation.HOLDS
            assert (now - after.course.started_at).total_seconds() >= waits.for_seconds


@given(observations, waits)
def test_it_recovers_only_where_nothing_held_for_long_enough(
    seen: list[tuple[int, Observation]], waits: CourseTimes
) -> None:
    held_at = NOW
    for now, observation, _, after in Told.of(seen, waits).steps:
        if observation is Observation.HOLDS:
            held_at = now
        if after.ending == Ending.RECOVERED:
            assert observation is Observation.OVER
            assert (now - held_at).total_seconds() > waits.clear_seconds or waits.clear_seconds == 0


@given(observations, waits)
def test_its_start_stays_until_its_end(seen: list[tuple[int, Observation]], waits: CourseTimes) -> None:
    for _, _, before, after in Told.of(seen, waits).steps:
        if before is not None and after.course is not None:
            assert after.course.started_at == before.started_at
            if before.status == IncidentStatus.FIRING:
                assert (after.course.status, after.course.fired_at) == (before.status, before.fired_at)


@given(observations, waits)
def test_the_same_look_at_the_same_moment_again_changes_nothing(
    seen: list[tuple[int, Observation]], waits: CourseTimes
) -> None:
    for now, observation, _, after in Told.of(seen, waits).steps:
        if after.course is not None:
            assert step(after.course, observation, waits, now) == Step(after.course)


@given(observations, waits)
def test_no_time_of_it_is_later_than_now(seen: list[tuple[int, Observation]], waits: CourseTimes) -> None:
    for now, _, _, after in Told.of(seen, waits).steps:
        if after.course is not None:
            times = (after.course.started_at, after.course.fired_at, after.course.clearing_since)
            assert all(time is None or time <= now for time in (*times, after.course.unknown_since))
