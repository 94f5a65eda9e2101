"""What stands in an incident's row is all that the next evaluation needs: a restart forgets nothing."""

from datetime import timedelta

from hypothesis import given, strategies as st

from consumers.alerts.evaluation.machine import Course, Step
from consumers.alerts.evaluation.rows import course_of, follow
from consumers.models import Ending, Incident, IncidentStatus
from tests.world import NOW, ago

moments = st.integers(0, 900).map(ago)
maybe = st.none() | moments
courses = st.builds(
    Course,
    status=st.sampled_from([IncidentStatus.PENDING, IncidentStatus.FIRING]),
    started_at=moments,
    fired_at=maybe,
    clearing_since=maybe,
    unknown_since=maybe,
)


@given(courses, courses)
def test_a_course_is_read_back_as_it_was_written(before: Course, after: Course) -> None:
    incident = Incident()
    follow(incident, Step(before), NOW)
    follow(incident, Step(after), NOW + timedelta(seconds=15))
    assert course_of(incident) == after


@given(courses, st.sampled_from(Ending))
def test_what_has_ended_is_over_since_then(course: Course, ending: Ending) -> None:
    incident = Incident()
    follow(incident, Step(course), ago(15))
    follow(incident, Step(None, ending=ending), NOW)
    assert (incident.status, incident.resolved_at, incident.ending) == ("resolved", NOW, ending)
    assert (incident.started_at, incident.clearing_since) == (course.started_at, None)
