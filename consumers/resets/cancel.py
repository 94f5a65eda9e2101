"""Gives up a plan."""

from datetime import datetime

from django.db import transaction

from consumers.models import Reset, ResetStatus

from .acts import why_not_cancelled
from .events import note_act
from .start import take_turn
from .wish import Asker, ResetRefused


def cancel(reset: Reset, asker: Asker, now: datetime) -> None:
    """Raises ResetRefused: a reset that is being applied is bounded, and not broken off half-way."""
    with transaction.atomic():
        take_turn(reset)
        if against := why_not_cancelled(reset, asker.user):
            raise ResetRefused(against)
        reset.status, reset.finished_at = ResetStatus.CANCELLED, now
        reset.save(update_fields=["status", "finished_at"])
        note_act(reset, asker, "Cancelled the plan.", now)
