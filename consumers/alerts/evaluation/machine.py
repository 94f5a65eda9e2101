"""The course of one incident, as a pure function of where it stands, what is seen now, and the time.

    no incident  HOLDS → pending, or firing at once where it holds for long enough already
    pending      HOLDS for long enough → firing; OVER, BETWEEN, GONE, UNSELECTED → forgotten; UNKNOWN → stays
    firing       OVER for long enough, GONE, UNSELECTED → resolved; UNKNOWN → stays, and is told once as unknown

Clearing begins at the first OVER. A HOLDS breaks it off; BETWEEN and UNKNOWN neither break it off nor end it.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum

from consumers.models import Ending, IncidentEventKind, IncidentStatus


class Observation(Enum):
    """The result of evaluating one subject under one rule."""

    HOLDS = "holds"
    BETWEEN = "between"  # beyond the clear threshold, but not beyond the threshold
    OVER = "over"  # beyond neither threshold, or suppressed
    UNKNOWN = "unknown"
    GONE = "gone"
    UNSELECTED = "unselected"  # by a change of the rule, of its selection or of an override


@dataclass(frozen=True, slots=True)
class Course:
    """State of an open incident. `unknown_since` and `clearing_since` are null where they do not apply."""

    status: IncidentStatus
    started_at: datetime
    fired_at: datetime | None = None
    clearing_since: datetime | None = None
    unknown_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class CourseTimes:
    for_seconds: float
    clear_seconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """`course` is null where no incident is open: resolved, with `ending`, or never started, or forgotten."""

    course: Course | None
    events: tuple[IncidentEventKind, ...] = ()
    ending: Ending | None = None


NOTHING = Step(None)
ENDINGS = {Observation.GONE: Ending.GONE, Observation.UNSELECTED: Ending.RULE}


def step(
    course: Course | None, observation: Observation, waits: CourseTimes, now: datetime, since: datetime | None = None
) -> Step:
    """`since`: since when the condition passes, where rows say; it is used only when the incident starts."""
    if course is None:
        if observation is not Observation.HOLDS:
            return NOTHING
        began = now if since is None else min(since, now)
        return _held(Course(IncidentStatus.PENDING, began), waits, now)
    if course.status == IncidentStatus.PENDING:
        return _pending(course, observation, waits, now)
    return _firing(course, observation, waits, now)


def _pending(course: Course, observation: Observation, waits: CourseTimes, now: datetime) -> Step:
    if observation is Observation.HOLDS:
        return _held(replace(course, unknown_since=None), waits, now)
    if observation is Observation.UNKNOWN:
        return Step(replace(course, unknown_since=course.unknown_since or now))
    return NOTHING


def _held(course: Course, waits: CourseTimes, now: datetime) -> Step:
    if now - course.started_at < timedelta(seconds=waits.for_seconds):
        return Step(course)
    return Step(replace(course, status=IncidentStatus.FIRING, fired_at=now), (IncidentEventKind.FIRING,))


def _firing(course: Course, observation: Observation, waits: CourseTimes, now: datetime) -> Step:
    if observation in ENDINGS:
        return Step(None, (IncidentEventKind.RESOLVED,), ENDINGS[observation])
    if observation is Observation.UNKNOWN:
        if course.unknown_since is not None:
            return Step(course)
        return Step(replace(course, unknown_since=now), (IncidentEventKind.UNKNOWN,))
    known = () if course.unknown_since is None else (IncidentEventKind.KNOWN,)
    course = replace(course, unknown_since=None)
    if observation is Observation.HOLDS:
        return Step(replace(course, clearing_since=None), known)
    if observation is Observation.BETWEEN:
        return Step(course, known)
    since = course.clearing_since or now
    if now - since < timedelta(seconds=waits.clear_seconds):
        return Step(replace(course, clearing_since=since), known)
    return Step(None, (*known, IncidentEventKind.RESOLVED), Ending.RECOVERED)
