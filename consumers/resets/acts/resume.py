"""Lets a reset that ended half-way go on with the queues that were not moved."""

from datetime import datetime

from django.db import transaction

from consumers.models import Reset, ResetStep
from consumers.resets.wish import Asker, ResetRefused

from .acts import resumable, why_not_resumed
from .events import note_act
from .start import check_typed, set_going, take_turn


def resume(reset: Reset, asker: Asker, confirm: str, now: datetime) -> None:
    """`confirm`: the group's name, as somebody typed it. Raises ResetRefused.

    Those queues are as planned again, and looked at anew before any of them is written. All others stay as they are.
    """
    check_typed(reset, confirm)
    with transaction.atomic():
        take_turn(reset)
        if against := why_not_resumed(reset, asker.user, now):
            raise ResetRefused(against)
        left = resumable(reset).update(
            step=ResetStep.PLANNED,
            before=None,
            before_at=None,
            written_at=None,
            answered=None,
            error=None,
            readings=[],
            after=None,
            after_at=None,
            outcome=None,
            evidence=None,
        )
        ended = reset.error or "some queues were not confirmed"
        set_going(reset, asker, now)
        queues = "1 queue" if left == 1 else f"{left} queues"
        note_act(reset, asker, f"Let it go on with {queues}. It had ended before: {ended}", now)
