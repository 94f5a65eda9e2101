"""Queues that a worker was writing when it died. Whether one may be written again: a rule over what is there by then.

An absolute offset that is set twice may replay messages twice: a group that went back, and has consumed all of it
again meanwhile, stands where it stood before. So a queue is written again only where that cannot be.
"""

from collections.abc import Sequence
from datetime import datetime

from consumers.models import Reset, ResetMethod, ResetQueue, ResetStep
from consumers.resets.facts import GroupFacts
from consumers.resets.wish import QueueKey

IN_DOUBT = "its worker stopped while the broker was being told: only reading back tells what became of it"


def settle(reset: Reset, rows: Sequence[ResetQueue], fresh: GroupFacts) -> None:
    """Sets each of `rows`, unsaved: PLANNED where it was certainly not moved, else UNANSWERED.

    `fresh` must be read so long after the dead worker's last call that it has arrived or is lost.
    """
    for row in rows:
        if _was_not_moved(reset, row, fresh):
            row.step, row.error, row.before, row.before_at = ResetStep.PLANNED, None, None, None
        else:
            doubt([row], fresh.taken_at)


def doubt(rows: Sequence[ResetQueue], now: datetime) -> None:
    """Sets each of `rows`, unsaved, where nothing more can be known than reading back will tell."""
    for row in rows:
        row.step, row.error, row.written_at = ResetStep.UNANSWERED, IN_DOUBT, now


def _was_not_moved(reset: Reset, row: ResetQueue, fresh: GroupFacts) -> bool:
    facts = fresh.queues.get(QueueKey.of(row))
    if facts is None or facts.error is not None or row.target is None or facts.now_offset != row.before:
        return False
    if row.method == ResetMethod.CLIENT or row.before == row.target:
        return False
    # Nobody who was told to go on further ahead comes back to where it was.
    return row.before is None or row.target > row.before or _nobody_was_there(reset, fresh)


def _nobody_was_there(reset: Reset, fresh: GroupFacts) -> bool:
    return (reset.seen or {}).get("members") == [] and fresh.members == ()
