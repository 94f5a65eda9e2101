"""Whether a member followed that was told to, where it may have come to the same offset by consuming alone."""

from .case import Case, Place
from .series import seconds_between

# A member that was told stands still for 10 s; for less than one of its commits more than this if it was not.
MARGIN_SECONDS = 2.0


def was_told(case: Case) -> bool:
    """The target was read, and a member that merely consumed would not have been read there.

    Backwards nothing else leads there. Forwards the queue must have stood still for longer than between two commits,
    and have come to the very target in one step, while its members stayed and its broker answered.
    """
    if case.written.back or case.written.before is None:
        return case.was_at_target
    if case.series.broken or not case.present.stayed:
        return False
    changes = case.series.changes
    reached = next((place for place, one in enumerate(changes) if _reached(case, one.offset)), None)
    if reached is None or case.written.place(changes[reached].offset) is not Place.AT:
        return False
    stood_since = changes[reached - 1].at if reached else case.written.at
    return seconds_between(stood_since, changes[reached].at) >= case.timing.commit_seconds + MARGIN_SECONDS


def _reached(case: Case, offset: int | None) -> bool:
    return case.written.place(offset) in (Place.AT, Place.BEYOND)
