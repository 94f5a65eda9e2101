"""The way back: a plan that returns to the offsets from before a reset. It is applied as any other."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from consumers.models import Reset, ResetKind, ResetStatus
from consumers.resets.request import request_plan, why_not_planned
from consumers.resets.targets.past import touched
from consumers.resets.wish import Asker, ResetRefused, Wish

from .acts import MAY_RESET, why_no_role

ENDED = (ResetStatus.APPLIED, ResetStatus.PARTIAL, ResetStatus.FAILED)


def restore(reset: Reset, asker: Asker, reason: str, now: datetime, *, clip: bool = False) -> Reset:
    """A reset that waits for the general worker to plan it: hand it over. Raises ResetRefused.

    `clip`: where messages from before are gone since, to the nearest that are there.
    """
    if against := why_not_restored(reset, asker.user):
        raise ResetRefused(against)
    wish = Wish(ResetKind.RESTORE, str(reset.pk), reason, clip=clip)
    return request_plan(reset.cluster_name, reset.group_name, wish, asker, now)


def why_not_restored(reset: Reset, user: Any) -> str | None:
    """Null where `user` may ask for the way back."""
    if not user.has_perm(MAY_RESET):
        return why_no_role()
    if reset.status == ResetStatus.APPLYING:
        return _("It is being applied: wait for its end.")
    if reset.status not in ENDED:
        words = reset.get_status_display().lower()
        return _("Only a reset that was applied can be restored, and this one is %s.") % words
    if reset.group is None:
        return _("The group %s is not known any more: nothing can be checked against it.") % reset.group_name
    written = touched(reset.pk)
    if not written.exists():
        return _("It changed no queue: there is nothing to return to.")
    if not written.exclude(before=None).exists():
        return _("None of its queues had a commit before, and no call of RocketMQ takes an offset away.")
    return why_not_planned(reset.group, user)
