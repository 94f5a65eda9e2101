"""Whether an action on a reset is allowed now, and the records of actions."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from consumers.jobs.wires import why_read_only
from consumers.models import (
    Reset,
    ResetEvent,
    ResetMethod,
    ResetOutcome,
    ResetQueue,
    ResetStatus,
    ResetStep,
)
from consumers.resets.wish import Asker

MAY_RESET = "consumers.reset_offsets"
# Each running reset occupies a process of the general worker, which has other work too.
MOST_AT_ONCE = 2


def why_not_applied(reset: Reset, user: Any, now: datetime) -> str | None:
    """Null where `user` may apply the reset. Some queries; the typed name of the group is not checked here."""
    if against := _why_not_now(reset, user):
        return against
    if reset.status == ResetStatus.PLANNED and _has_expired(reset, now):
        return why_expired()
    if reset.status != ResetStatus.PLANNED:
        return _("Only a plan can be applied, and this reset is %s.") % reset.get_status_display().lower()
    return _why_busy(reset)


def why_not_resumed(reset: Reset, user: Any, now: datetime) -> str | None:
    """Null where `user` may resume the reset with the queues that were not moved, to the offsets of its plan."""
    if against := _why_not_now(reset, user):
        return against
    if reset.status not in (ResetStatus.PARTIAL, ResetStatus.FAILED):
        return _("Only a reset that ended half-way can go on, and this one is %s.") % reset.get_status_display().lower()
    if not resumable(reset).exists():
        return _("No queue of it is left to be moved: those that are not confirmed were written.")
    if _has_expired(reset, now):
        return why_expired()
    return _why_busy(reset)


def why_not_cancelled(reset: Reset, user: Any) -> str | None:
    """Null where `user` may cancel it: a plan, or a reset that is being applied before any broker was told anything."""
    if not user.has_perm(MAY_RESET):
        return why_no_role()
    if reset.status == ResetStatus.APPLYING:
        if not may_be_written(reset).exists():
            return None
        return _(
            "It is being applied, which takes a minute or two and is not broken off half-way: restore it afterwards."
        )
    if reset.status != ResetStatus.PLANNED:
        return _("Only a plan can be cancelled, and this reset is %s.") % reset.get_status_display().lower()
    return None


def why_no_role() -> str:
    return _("Offset resets need the permission %s: the roles operator and admin have it.") % MAY_RESET


def why_expired() -> str:
    return _("The plan has expired: plan anew, as the group has moved on since.")


def may_be_written(reset: Reset) -> QuerySet[ResetQueue]:
    """Queues whose broker was told, or is being told, since the reset was last applied or resumed."""
    told = Q(step__in=(ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED))
    # Of a resumed reset, queues were written before.
    lately = Q() if reset.started_at is None else Q(written_at=None) | Q(written_at__gte=reset.started_at)
    was_told = Q(step=ResetStep.READ_BACK) & ~Q(method=ResetMethod.NOTHING) & lately
    return ResetQueue.objects.filter(told | was_told, reset=reset)


def resumable(reset: Reset) -> QuerySet[ResetQueue]:
    """Queues to be moved that certainly were not, or that were read back at their former offset."""
    untouched = Q(step__in=(ResetStep.FAILED, ResetStep.NOT_DONE))
    stayed = Q(step=ResetStep.READ_BACK, outcome=ResetOutcome.UNCHANGED)
    return ResetQueue.objects.filter(untouched | stayed, reset=reset, left_out=None)


def _why_not_now(reset: Reset, user: Any) -> str | None:
    if not user.has_perm(MAY_RESET):
        return why_no_role()
    if against := why_read_only(reset.cluster_name):
        return against
    if settings.CONSUMERSCOPE_RESET_SECOND_PERSON and _planned_by(reset, user):
        return _("You planned it: here a second person has to apply what somebody planned.")
    if reset.group_id is None:
        return _("The group %s is not known any more: nothing can be checked against it.") % reset.group_name
    return None


def _has_expired(reset: Reset, now: datetime) -> bool:
    return reset.expires_at is not None and reset.expires_at <= now


def _planned_by(reset: Reset, user: Any) -> bool:
    """Compared by name too: of a deleted account only the name remains."""
    return bool(reset.by_id == user.pk or reset.by_name == user.get_username())


def _why_busy(reset: Reset) -> str | None:
    applying = Reset.objects.filter(status=ResetStatus.APPLYING)
    if applying.filter(group=reset.group_id).exists():
        return _("Another reset of this group is being applied: wait for its end.")
    if applying.count() >= MOST_AT_ONCE:
        return _("%s resets are being applied, and no more may be at once: wait for the end of one.") % MOST_AT_ONCE
    return None


# The actions on a reset, one row each, in order of time.

WORKER = "worker"


def note_act(reset: Reset, asker: Asker, sentence: str, now: datetime) -> None:
    ResetEvent.objects.create(
        reset=reset,
        at=now,
        by_name=asker.user.get_username(),
        address=asker.address,
        via=asker.via,
        sentence=sentence,
    )


def note_work(reset: Reset, sentence: str, now: datetime) -> None:
    """Records an action of the system."""
    ResetEvent.objects.create(reset=reset, at=now, via=WORKER, sentence=sentence)
