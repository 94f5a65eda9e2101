"""Gives up a plan, or a reset that is being applied of which no broker was told anything yet."""

from datetime import datetime

from django.db import transaction

from consumers.models import Reset, ResetStatus
from consumers.resets.read_back.finish import end_untold
from consumers.resets.wish import Asker, ResetRefused

from .acts import why_not_cancelled
from .events import note_act
from .start import take_turn


def cancel(reset: Reset, asker: Asker, now: datetime) -> None:
    """Raises ResetRefused: one of which a broker was told is bounded, and not broken off half-way.

    A worker that has it finds out before it tells a broker: each call is noted in the same row's turn.
    """
    with transaction.atomic():
        take_turn(reset)
        if against := why_not_cancelled(reset, asker.user):
            raise ResetRefused(against)
        if reset.status == ResetStatus.PLANNED:
            reset.status, reset.finished_at = ResetStatus.CANCELLED, now
            reset.save(update_fields=["status", "finished_at"])
            note_act(reset, asker, "Cancelled the plan.", now)
            return
        error = f"Cancelled by {asker.user.get_username()} before a broker was told."
        end_untold(reset, ResetStatus.CANCELLED, error, now)
        note_act(reset, asker, "Cancelled it before a broker was told.", now)
