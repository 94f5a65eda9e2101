"""What was read, in a sentence for a person on call."""

from collections.abc import Sequence

from .case import Case
from .series import Change, seconds_between

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
