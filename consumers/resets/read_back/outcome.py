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
from consumers.resets.read_back.case import Change, Series, seconds_between

from .case import Case, Place, Timing, Written
from .present import Present

# What was read, in a sentence for a person on call.

SHOWN = 4


def evidence(case: Case, why: str) -> str:
    return f"{_readings(case)} {why}"


def why_unknown(case: Case) -> str:
    waited = f"for {case.age_seconds:.0f} s"
    if not case.series.changes:
        return f"It could not be read {waited}: {case.series.error or 'nobody asked for it'}."
    return f"{_readings(case)} {_doubt(case)}"


def _readings(case: Case) -> str:
    series = case.series
    times = "once" if series.count == 1 else f"{series.count} times over {series.seconds:.0f} s"
    return f"Set to {case.written.target:,}; read {times}: {_path(case, series.changes)}."


def _path(case: Case, changes: Sequence[Change]) -> str:
    """Each offset with the seconds after the writing at which it was first read."""
    said = [f"{_offset(one)} after {seconds_between(case.written.at, one.at):.0f} s" for one in changes]
    return ", ".join(said if len(said) <= SHOWN else [*said[:2], "…", *said[-2:]])


def _offset(change: Change) -> str:
    return "no commit" if change.offset is None else f"{change.offset:,}"


def _doubt(case: Case) -> str:
    present = case.present
    if case.series.error is not None:
        return f"Then it could not be read any more: {case.series.error}."
    if case.series.broken:
        return "It could not be read for a while, and a broker that was started anew has forgotten the reset."
    if present.now is None:
        return f"Who is in the group is not known: {present.error or 'nobody was asked'}."
    if case.timing.commit_seconds > case.timing.settled_seconds:
        return f"Members commit only every {case.timing.commit_seconds:.0f} s, too seldom to tell."
    if present.lost:
        return "Members left meanwhile, and who came after them may have begun there or where it stood before."
    return "It may be that it began at its target, or that another offset was committed over it."


# Whether a member followed that was told to, where it may have come to the same offset by consuming alone.

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


LONG_POLL_SECONDS = 20.0
# For so long an offset may be that of a member which is about to begin at the target.
OLD_OFFSET_SECONDS = 12.0
# A request without an answer may reach its broker so late.
ARRIVAL_SECONDS = 30.0
STANDS = (
    "That is longer than a pull may wait and the commit after it takes. A member that holds as many messages as it may "
    "begins there once it pulls again."
)
# Between a member's coming and the look that met it.
LOOK_SECONDS = 3.0


@dataclass(frozen=True)
class Verdict:
    outcome: ResetOutcome
    evidence: str


def outcome_of(written: Written, series: Series, present: Present, timing: Timing, now: datetime) -> Verdict | None:
    """Null: not settled yet, read on. From `timing.until` on it never is."""
    case = Case(written, series, present, timing, now)
    if series.changes and (found := _found(case)) is not None:
        outcome, why = found
        return Verdict(outcome, evidence(case, why))
    if now < timing.until:
        return None
    return Verdict(ResetOutcome.UNKNOWN, why_unknown(case))


Found = tuple[ResetOutcome, str] | None
CONFIRMED, UNCHANGED, OVERWRITTEN = ResetOutcome.CONFIRMED, ResetOutcome.UNCHANGED, ResetOutcome.OVERWRITTEN


def _found(case: Case) -> Found:
    if case.written.method == ResetMethod.NOTHING or case.written.before == case.written.target:
        return _stood_there(case)
    if case.place is Place.GONE:
        return _gone(case)
    if case.present.nobody:
        return _nobody_there(case)
    return RULES[case.place](case)


def _stood_there(case: Case) -> Found:
    """Whoever goes on from where it stood goes on from the target, told or not."""
    needed = 0.0 if case.written.method == ResetMethod.NOTHING else case.timing.settled_seconds
    stood = case.written.before == case.written.target
    said = "It stood at its target already" if stood else "It came to its target by itself, and nothing was written"
    if case.place in (Place.AT, Place.BEYOND):
        settled = case.held(Place.AT, Place.BEYOND) >= needed
        return (CONFIRMED, f"{said}.") if settled else None
    lost = "has no commit any more" if case.place is Place.GONE else "went back since"
    settled = case.held(case.place) >= needed
    return (OVERWRITTEN, f"{said}; it {lost}.") if settled else None


def _gone(case: Case) -> Found:
    if case.held(Place.GONE) < case.timing.settled_seconds:
        return None
    if case.is_ours:
        return OVERWRITTEN, "It has no commit any more: the group's offsets were deleted, or its broker lost them."
    if case.written.before is None and case.age_seconds >= ARRIVAL_SECONDS:
        return UNCHANGED, "It has no commit, as before."
    return None


def _nobody_there(case: Case) -> Found:
    if case.held(case.place) < case.timing.settled_seconds:
        return None
    if case.place is Place.AT:
        return CONFIRMED, "Nobody is connected."
    if case.stands_still:
        late = not case.written.answered and case.age_seconds < ARRIVAL_SECONDS
        return None if late else (UNCHANGED, "It stands where it was, and nobody is connected.")
    if case.series.broken and case.series.last == case.written.before:
        return UNCHANGED, "Its broker was away, and came back without what it had not written to its disk yet."
    if case.is_ours:
        return OVERWRITTEN, "Nobody was met in the group meanwhile: something that is no member committed it."
    return None


def _at(case: Case) -> Found:
    timing = case.timing
    if case.written.method == ResetMethod.CLIENT:
        settled = case.held(Place.AT) >= timing.settled_seconds and was_told(case)
        return (CONFIRMED, "A member that was told to stands there.") if settled else None
    # Longer than a member's pull may wait, and then it has committed at least once.
    needed = max(timing.settled_seconds, LONG_POLL_SECONDS + timing.commit_seconds)
    if case.held(Place.AT) < needed or not (case.written.back or _taken_or_stored(case)):
        return None
    return CONFIRMED, STANDS


def _between(case: Case) -> Found:
    if case.held(Place.BETWEEN, Place.BEYOND) < case.timing.settled_seconds:
        return None
    if not (_began_stored(case) if case.written.method == ResetMethod.COMMIT else case.goes_on_from_target):
        return None
    before, target = case.written.before, case.written.target
    return CONFIRMED, f"Whoever began at {target:,} passes between it and {before:,}, and who did not does not."


def _beyond(case: Case) -> Found:
    passed_between = case.held(Place.BETWEEN, Place.BEYOND) > case.held(Place.BEYOND)
    if passed_between and (found := _between(case)) is not None:
        return found
    if case.held(Place.BEYOND) < max(case.timing.settled_seconds, OLD_OFFSET_SECONDS):
        return None
    if case.written.method == ResetMethod.CLIENT:
        return (CONFIRMED, "A member that was told to had committed the target.") if was_told(case) else None
    # A broker that was started anew has forgotten the reset, and maybe the offset too.
    if not case.is_ours or case.series.broken:
        return None
    if _began_stored(case):
        return CONFIRMED, "Who is connected came after it was set, and began at the offset that was stored."
    if case.written.method == ResetMethod.COMMIT:
        return _committed_over(case)
    if not _is_taken(case):
        return None
    return CONFIRMED, "Its broker takes a commit only once a member has been told to begin at the target."


def _taken_or_stored(case: Case) -> bool:
    """Not where a member may have come to stand at the target by consuming what was to be skipped."""
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


def _committed_over(case: Case) -> Found:
    if not case.present.stayed:
        return None
    return OVERWRITTEN, f"{_named(case)}, connected since before, committed over it."


def _away(case: Case) -> Found:
    written, timing = case.written, case.timing
    before = written.before
    where_it_was = before is not None and case.series.first(lambda offset: (offset or 0) < before) is None
    if case.is_ours or (written.method == ResetMethod.CLIENT and was_told(case)):
        if case.held(Place.AWAY) < max(timing.settled_seconds, OLD_OFFSET_SECONDS):
            return None
        who = f"{_named(case)}, connected since before," if case.present.stayed and where_it_was else "Somebody"
        return OVERWRITTEN, f"{who} committed over it."
    told = timing.told_seconds if written.method == ResetMethod.CLIENT else ARRIVAL_SECONDS
    never_reached = case.series.first(lambda offset: (offset or 0) >= written.target) is None
    if where_it_was and never_reached and case.age_seconds >= told + timing.settled_seconds:
        settled = case.held(Place.AWAY) >= timing.settled_seconds
        return (UNCHANGED, "It goes on from where it was: the target was not taken.") if settled else None
    return None


def _named(case: Case) -> str:
    first, *others = sorted(case.present.then or ())
    return f"{first} or one of {len(others)} more" if others else first


RULES: Mapping[Place, Callable[[Case], Found]] = {
    Place.AT: _at,
    Place.BETWEEN: _between,
    Place.BEYOND: _beyond,
    Place.AWAY: _away,
}
