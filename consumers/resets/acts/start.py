"""Lets a planned reset be applied. The work itself is the worker's: a row that says APPLYING is all it waits for."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from consumers.models import ConsumerGroup, Reset, ResetQueue, ResetStatus
from consumers.resets.wish import Asker, ResetRefused

from .acts import why_not_applied
from .events import note_act


def apply(reset: Reset, asker: Asker, confirm: str, now: datetime) -> None:
    """`confirm`: the group's name, as somebody typed it. Raises ResetRefused. One reset of a group runs at a time."""
    check_typed(reset, confirm)
    with transaction.atomic():
        take_turn(reset)
        if against := why_not_applied(reset, asker.user, now):
            raise ResetRefused(against)
        if not ResetQueue.objects.filter(reset=reset, left_out=None).exists():
            raise ResetRefused(_("None of its queues would be moved: see why each is left out."))
        set_going(reset, asker, now)
        note_act(reset, asker, "Let the plan be applied.", now)


def check_typed(reset: Reset, confirm: str) -> None:
    """Raises ResetRefused."""
    if confirm != reset.group_name:
        raise ResetRefused(_("Type the group's name, %s, to confirm.") % reset.group_name)


def take_turn(reset: Reset) -> None:
    """Within a transaction: the group's row is what two acts wait for in turn, the reset's own is what an act and its
    worker wait for, and the reset is read afterwards."""
    if reset.group_id is not None:
        ConsumerGroup.objects.select_for_update().filter(pk=reset.group_id).first()
    Reset.objects.select_for_update().filter(pk=reset.pk).first()
    reset.refresh_from_db()


def set_going(reset: Reset, asker: Asker, now: datetime) -> None:
    """On the word of `asker`, whose permission its worker asks for again."""
    reset.applied_by, reset.applied_by_name = asker.user, asker.user.get_username()
    reset.status, reset.started_at = ResetStatus.APPLYING, now
    reset.working_at, reset.finished_at, reset.moved, reset.error = None, None, None, None
    fields = ["status", "started_at", "working_at", "finished_at", "moved", "error", "applied_by", "applied_by_name"]
    reset.save(update_fields=fields)
