"""What became of one queue: a rule over what was read of it since it was written. See docs/resets.md.

What it leans on (5.4.0; the client's part as told of 4.9 to 5.4):
- A broker that moves offsets itself answers with the target, and takes no commit of the group, until somebody pulls
  in the group's name; that one is told to begin there (ConsumerOffsetManager.assignResetOffset, PullMessageProcessor).
- A pull that finds nothing waits at the broker for 15 s, looked at every 5 s (PullRequestHoldService).
- A push consumer older than 5.2 goes on committing its old offset for 10 s before it begins at the target
  (DefaultMQPushConsumerImpl, OFFSET_ILLEGAL). One that is told by a broker that moves nothing itself stands still for
  10 s, then commits the target, then begins (MQClientInstance.resetOffset).
- A member asks for the stored offset when it gets a queue, never again while it has it (RemoteBrokerOffsetStore).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from consumers.models import ResetMethod, ResetOutcome
from consumers.resets.applying.case import Case, Change, Place, Present, Series, Timing, Written, seconds_between
from consumers.vocabulary.reasons import stored_reason, stored_reasons
from consumers.vocabulary.resets import ReadBackEvidence

# What was read, for a person on call: stored reasons.

SHOWN = 4


def evidence(case: Case, why: str) -> str:
    return stored_reasons([_readings(case), why])


def why_unknown(case: Case) -> str:
    if not case.series.changes:
        error = case.series.error or stored_reason(ReadBackEvidence.NOBODY_ASKED)
        return stored_reason(ReadBackEvidence.NEVER_READ, seconds=round(case.age_seconds), error=error)
    return stored_reasons([_readings(case), _doubt(case)])


def _readings(case: Case) -> str:
    series, target = case.series, case.written.target
    path = _path(case, series.changes)
    if series.count == 1:
        return stored_reason(ReadBackEvidence.READ_ONCE, target=target, path=path)
    values = {"times": series.count, "seconds": round(series.seconds), "path": path}
    return stored_reason(ReadBackEvidence.READ_TIMES, target=target, **values)


def _path(case: Case, changes: Sequence[Change]) -> list[str]:
    """Each offset with the seconds after the writing at which it was first read."""
    sentences = [_first_read(one, round(seconds_between(case.written.at, one.at))) for one in changes]
    return sentences if len(sentences) <= SHOWN else [*sentences[:2], "…", *sentences[-2:]]


def _first_read(change: Change, seconds: int) -> str:
    if change.offset is None:
        return stored_reason(ReadBackEvidence.NO_COMMIT_AFTER, seconds=seconds)
    return stored_reason(ReadBackEvidence.OFFSET_AFTER, offset=change.offset, seconds=seconds)


def _doubt(case: Case) -> str:
    present = case.present
    if case.series.error is not None:
        return stored_reason(ReadBackEvidence.UNREADABLE_SINCE, error=case.series.error)
    if present.nobody and not case.watched:
        return stored_reason(ReadBackEvidence.NOT_WATCHED)
    if case.broken:
        return stored_reason(ReadBackEvidence.READ_AGAIN)
    if present.now is None:
        error = present.error or stored_reason(ReadBackEvidence.NO_MEMBERS_ASKED)
        return stored_reason(ReadBackEvidence.PRESENT_UNKNOWN, error=error)
    if case.timing.commit_seconds > case.timing.settled_seconds:
        return stored_reason(ReadBackEvidence.COMMITS_TOO_SELDOM, seconds=round(case.timing.commit_seconds))
    return stored_reason(ReadBackEvidence.MEMBERS_REPLACED if present.lost else ReadBackEvidence.EITHER_WAY)


# Whether a member followed that was told to, where it may have come to the same offset by consuming alone.

# A member that was told stands still for 10 s; for less than one of its commits more than this if it was not.
MARGIN_SECONDS = 2.0


def was_notified(case: Case) -> bool:
    """The target was read, and a member that merely consumed would not have been read there.

    Backwards nothing else leads there. Forwards the queue must have stood still for longer than between two commits,
    and have come to the very target in one step, while its members stayed and its broker answered.
    """
    if case.written.back or case.written.before is None:
        return case.was_at_target
    if case.broken or not case.present.stayed:
        return False
    changes = case.series.changes
    reached = next((place for place, one in enumerate(changes) if _reached(case, one.offset)), None)
    if reached is None or case.written.place(changes[reached].offset) is not Place.AT:
        return False
    stood_since = changes[reached - 1].at if reached else case.written.at
    return seconds_between(stood_since, changes[reached].at) >= case.timing.commit_seconds + MARGIN_SECONDS


def _reached(case: Case, offset: int | None) -> bool:
    return case.written.place(offset) in (Place.AT, Place.BEYOND)


LONG_POLL_SECONDS = 20.0
# For so long an offset may be that of a member which is about to begin at the target.
OLD_OFFSET_SECONDS = 12.0
# A request without an answer may reach its broker so late.
ARRIVAL_SECONDS = 30.0
# Between a member's coming and the look that met it.
LOOK_SECONDS = 3.0


@dataclass(frozen=True)
class SettledOutcome:
    outcome: ResetOutcome
    evidence: str


def outcome_of(
    written: Written, series: Series, present: Present, timing: Timing, now: datetime
) -> SettledOutcome | None:
    """Null: not settled yet, read on. From `timing.until` on it never is."""
    case = Case(written, series, present, timing, now)
    if series.changes and (found := _found(case)) is not None:
        outcome, why = found
        return SettledOutcome(outcome, evidence(case, why))
    if now < timing.until:
        return None
    return SettledOutcome(ResetOutcome.UNKNOWN, why_unknown(case))


Finding = tuple[ResetOutcome, str] | None
CONFIRMED, UNCHANGED, OVERWRITTEN = ResetOutcome.CONFIRMED, ResetOutcome.UNCHANGED, ResetOutcome.OVERWRITTEN


def _found(case: Case) -> Finding:
    if case.written.method == ResetMethod.NOTHING or case.written.before == case.written.target:
        return _stood_there(case)
    if case.place is Place.GONE:
        return _gone(case)
    if case.present.nobody:
        return _nobody_there(case)
    return RULES[case.place](case)


def _stood_there(case: Case) -> Finding:
    """The queue stood at the target already: its owner goes on from there, notified or not."""
    needed = 0.0 if case.written.method == ResetMethod.NOTHING else case.timing.settled_seconds
    stood = case.written.before == case.written.target
    if case.place in (Place.AT, Place.BEYOND):
        settled = case.held(Place.AT, Place.BEYOND) >= needed
        code = ReadBackEvidence.STOOD_AT_TARGET if stood else ReadBackEvidence.CAME_TO_TARGET
        return (CONFIRMED, stored_reason(code)) if settled else None
    if case.place is Place.GONE:
        code = ReadBackEvidence.STOOD_COMMIT_GONE if stood else ReadBackEvidence.CAME_COMMIT_GONE
    else:
        code = ReadBackEvidence.STOOD_WENT_BACK if stood else ReadBackEvidence.CAME_WENT_BACK
    settled = case.held(case.place) >= needed
    return (OVERWRITTEN, stored_reason(code)) if settled else None


def _gone(case: Case) -> Finding:
    if case.held(Place.GONE) < case.timing.settled_seconds:
        return None
    if case.is_ours:
        return OVERWRITTEN, stored_reason(ReadBackEvidence.OFFSETS_DELETED)
    if case.written.before is None and case.age_seconds >= ARRIVAL_SECONDS:
        return UNCHANGED, stored_reason(ReadBackEvidence.NO_COMMIT_AS_BEFORE)
    return None


def _nobody_there(case: Case) -> Finding:
    if case.held(case.place) < case.timing.settled_seconds:
        return None
    if not case.watched:
        return _nobody_left(case)
    if case.place is Place.AT:
        return CONFIRMED, stored_reason(ReadBackEvidence.NOBODY_CONNECTED)
    if case.stands_still:
        late = not case.written.answered and case.age_seconds < ARRIVAL_SECONDS
        return None if late else (UNCHANGED, stored_reason(ReadBackEvidence.STANDS_AS_BEFORE))
    if case.broken and case.series.last == case.written.before:
        return UNCHANGED, stored_reason(ReadBackEvidence.BROKER_FORGOT)
    if case.is_ours:
        return OVERWRITTEN, stored_reason(ReadBackEvidence.NO_MEMBER_COMMITTED)
    return None


def _nobody_left(case: Case) -> Finding:
    """No member is present, but one may have been. After a step back it may have consumed everything again, up to the
    queue's offset before. After a step forwards it may have consumed what was to be skipped, up to the target."""
    if case.place is Place.AT and (case.written.back or (case.is_ours and not case.may_be_lost)):
        return CONFIRMED, stored_reason(ReadBackEvidence.NOBODY_CONNECTED)
    if case.place is Place.BETWEEN:
        return _between(case)
    is_over = case.place is Place.AWAY and case.is_ours
    return (OVERWRITTEN, stored_reason(ReadBackEvidence.SOMEBODY_COMMITTED_OVER)) if is_over else None


def _at(case: Case) -> Finding:
    timing = case.timing
    if case.written.method == ResetMethod.CLIENT:
        settled = case.held(Place.AT) >= timing.settled_seconds and was_notified(case)
        return (CONFIRMED, stored_reason(ReadBackEvidence.TOLD_MEMBER_STANDS)) if settled else None
    # Longer than a member's pull may wait, and then it has committed at least once.
    needed = max(timing.settled_seconds, LONG_POLL_SECONDS + timing.commit_seconds)
    if case.held(Place.AT) < needed or not (case.written.back or _taken_or_stored(case)):
        return None
    return CONFIRMED, stored_reason(ReadBackEvidence.STANDS_LONG_ENOUGH)


def _between(case: Case) -> Finding:
    if case.may_be_lost or case.held(Place.BETWEEN, Place.BEYOND) < case.timing.settled_seconds:
        return None
    if not (_began_stored(case) if case.written.method == ResetMethod.COMMIT else case.goes_on_from_target):
        return None
    before, target = case.written.before, case.written.target
    return CONFIRMED, stored_reason(ReadBackEvidence.PASSED_BETWEEN, target=target, before=before)


def _beyond(case: Case) -> Finding:
    passed_between = case.held(Place.BETWEEN, Place.BEYOND) > case.held(Place.BEYOND)
    if passed_between and (found := _between(case)) is not None:
        return found
    if case.held(Place.BEYOND) < max(case.timing.settled_seconds, OLD_OFFSET_SECONDS):
        return None
    if case.written.method == ResetMethod.CLIENT:
        return (CONFIRMED, stored_reason(ReadBackEvidence.TOLD_MEMBER_COMMITTED)) if was_notified(case) else None
    # A broker that restarted has forgotten the reset, and maybe the offset too.
    if not case.is_ours or case.broken:
        return None
    if _began_stored(case):
        return CONFIRMED, stored_reason(ReadBackEvidence.BEGAN_STORED)
    if case.written.method == ResetMethod.COMMIT:
        return _committed_over(case)
    if not _is_taken(case):
        return None
    return CONFIRMED, stored_reason(ReadBackEvidence.COMMITS_MEAN_TOLD)


def _taken_or_stored(case: Case) -> bool:
    """Not where a member may have come to stand at the target by consuming what was to be skipped."""
    if case.broken:
        return False
    if case.present.came_after:
        return case.is_ours
    return case.written.method == ResetMethod.SERVER and case.written.answered and _is_taken(case)


def _is_taken(case: Case) -> bool:
    present = case.present
    known = present.then is not None and present.now is not None
    return known and not present.lost and present.obeying


def _began_stored(case: Case) -> bool:
    """Somebody was there at the latest when it left the target."""
    left = next((one for one in case.series.changes if one.offset not in (case.written.target, None)), None)
    if not case.present.came_after or left is None or case.series.changes[0] is left:
        return False
    return seconds_between(left.at, case.present.met_at) <= LOOK_SECONDS


def _committed_over(case: Case) -> Finding:
    if not case.present.stayed:
        return None
    return OVERWRITTEN, stored_reason(ReadBackEvidence.MEMBER_COMMITTED_OVER, member=_named(case))


def _away(case: Case) -> Finding:
    written, timing = case.written, case.timing
    before = written.before
    where_it_was = before is not None and case.series.first(lambda offset: (offset or 0) < before) is None
    if case.is_ours or (written.method == ResetMethod.CLIENT and was_notified(case)):
        if case.held(Place.AWAY) < max(timing.settled_seconds, OLD_OFFSET_SECONDS):
            return None
        if case.present.stayed and where_it_was:
            return OVERWRITTEN, stored_reason(ReadBackEvidence.MEMBER_COMMITTED_OVER, member=_named(case))
        return OVERWRITTEN, stored_reason(ReadBackEvidence.SOMEBODY_COMMITTED_OVER)
    arrival_seconds = timing.notified_seconds if written.method == ResetMethod.CLIENT else ARRIVAL_SECONDS
    never_reached = case.series.first(lambda offset: (offset or 0) >= written.target) is None
    if case.watched and where_it_was and never_reached and case.age_seconds >= arrival_seconds + timing.settled_seconds:
        settled = case.held(Place.AWAY) >= timing.settled_seconds
        return (UNCHANGED, stored_reason(ReadBackEvidence.TARGET_NOT_TAKEN)) if settled else None
    return None


def _named(case: Case) -> str:
    first, *others = sorted(case.present.then or ())
    return stored_reason(ReadBackEvidence.OR_ONE_OF_MORE, first=first, n=len(others)) if others else first


RULES: Mapping[Place, Callable[[Case], Finding]] = {
    Place.AT: _at,
    Place.BETWEEN: _between,
    Place.BEYOND: _beyond,
    Place.AWAY: _away,
}
