"""Actions of people on resets: apply, resume, restore, cancel; and acknowledge lost offsets."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from consumers.jobs.acts import note
from consumers.jobs.permissions import why_not
from consumers.models import (
    ConsumerGroup,
    LossAcknowledgement,
    Reset,
    ResetKind,
    ResetQueue,
    ResetStatus,
    ResetStep,
)
from consumers.queries.queues.lost_offsets import lost_snapshots
from consumers.resets.past_offsets import touched
from consumers.resets.target_values import Asker, ResetRefused, ResetRequest
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ApplyReason, ResetAct

from .request import (
    MAY_RESET,
    end_unsent,
    note_act,
    request_plan,
    resumable,
    why_not_applied,
    why_not_cancelled,
    why_not_planned,
    why_not_resumed,
)

# Acknowledging lost offsets instead of resetting the group: its queues then count as never committed.


def why_not_acknowledged(group: ConsumerGroup, user: Any) -> str | None:
    """Null where `user` may acknowledge the group's lost offsets."""
    if against := why_not(user, MAY_RESET, group.cluster.name):
        return against
    if LossAcknowledgement.objects.filter(group=group, applied_at=None).exists():
        return _("The loss is already acknowledged: the next poll applies it.")
    if not lost_snapshots([group.pk]).exists():
        return _("No lost offset of the group is known: nothing to acknowledge.")
    return None


def acknowledge_loss(group: ConsumerGroup, by: Any, now: datetime) -> LossAcknowledgement:
    """Acknowledges all offsets that are lost by now. Raises ResetRefused."""
    with transaction.atomic():
        # The lock serialises two calls.
        ConsumerGroup.objects.select_for_update().get(pk=group.pk)
        if against := why_not_acknowledged(group, by):
            raise ResetRefused(against)
        rows = lost_snapshots([group.pk]).select_related("queue__topic")
        queues = [
            {
                "topic": row.queue.topic.name,
                "broker": row.queue.broker,
                "queue_id": row.queue.queue_id,
                "lost_offset": row.lost_offset,
                "lost_at": row.lost_at.isoformat() if row.lost_at else None,
            }
            for row in rows.order_by("queue__topic__name", "queue__broker", "queue__queue_id")
        ]
        made = LossAcknowledgement.objects.create(group=group, at=now, by=by, by_name=by.get_username(), queues=queues)
        note(group, group.name, by, f"Acknowledged the lost offsets of {len(queues)} queues.", now)
    return made


# Starts a planned reset. The work is the worker's: it looks for rows that say APPLYING.


def apply(reset: Reset, asker: Asker, confirm: str, now: datetime) -> None:
    """`confirm`: the group's name, as the user typed it. Raises ResetRefused. One reset of a group runs at a time."""
    check_typed(reset, confirm)
    with transaction.atomic():
        take_turn(reset)
        if against := why_not_applied(reset, asker.user, now):
            raise ResetRefused(against)
        if not ResetQueue.objects.filter(reset=reset, left_out=None).exists():
            raise ResetRefused(_("No queue would move: see the reason of each queue."))
        set_going(reset, asker, now)
        note_act(reset, asker, stored_reason(ResetAct.APPLIED), now)


def check_typed(reset: Reset, confirm: str) -> None:
    """Raises ResetRefused."""
    if confirm != reset.group_name:
        raise ResetRefused(_("Type the group's name, %s, to confirm.") % reset.group_name)


def take_turn(reset: Reset) -> None:
    """Call it within a transaction. It locks the group's row, which serialises two actions, and the reset's own row,
    which serialises an action and the worker; then it reads the reset.
    """
    if reset.group_id is not None:
        ConsumerGroup.objects.select_for_update().filter(pk=reset.group_id).first()
    Reset.objects.select_for_update().filter(pk=reset.pk).first()
    reset.refresh_from_db()


def set_going(reset: Reset, asker: Asker, now: datetime) -> None:
    """Starts it in the name of `asker`, whose permission the worker checks again."""
    reset.applied_by, reset.applied_by_name = asker.user, asker.user.get_username()
    reset.status, reset.started_at = ResetStatus.APPLYING, now
    reset.working_at, reset.finished_at, reset.moved, reset.error = None, None, None, None
    fields = ["status", "started_at", "working_at", "finished_at", "moved", "error", "applied_by", "applied_by_name"]
    reset.save(update_fields=fields)


# Resumes a reset that ended early, with the queues that were not moved.


def resume(reset: Reset, asker: Asker, confirm: str, now: datetime) -> None:
    """`confirm`: the group's name, as the user typed it. Raises ResetRefused.

    These queues become planned again, and are checked again before any of them is written. All others stay as they are.
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
        ended = reset.error or stored_reason(ApplyReason.SOME_NOT_CONFIRMED)
        set_going(reset, asker, now)
        note_act(reset, asker, stored_reason(ResetAct.RESUMED, left_queues=left, why=ended), now)


# Rollback: a plan that returns to the offsets from before a reset. It is applied as any other plan.

ENDED = (ResetStatus.APPLIED, ResetStatus.PARTIAL, ResetStatus.FAILED)


def restore(reset: Reset, asker: Asker, reason: str, now: datetime, *, clip: bool = False) -> Reset:
    """A reset that waits for the general worker to plan it: hand it over. Raises ResetRefused.

    `clip`: where earlier messages were deleted meanwhile, go to the nearest existing one.
    """
    if against := why_not_restored(reset, asker.user):
        raise ResetRefused(against)
    requested = ResetRequest(ResetKind.RESTORE, str(reset.pk), reason, clip=clip)
    return request_plan(reset.cluster_name, reset.group_name, requested, asker, now)


def why_not_restored(reset: Reset, user: Any) -> str | None:
    """Null where `user` may request the rollback."""
    if against := why_not(user, MAY_RESET, reset.cluster_name):
        return against
    if reset.status == ResetStatus.APPLYING:
        return _("It is being applied: wait until it ends.")
    if reset.status not in ENDED:
        words = reset.get_status_display().lower()
        return _("Only an applied reset can be rolled back; this one is %s.") % words
    if reset.group is None:
        return _("The group %s no longer exists, so nothing can be checked.") % reset.group_name
    written = touched(reset.pk)
    if not written.exists():
        return _("It changed no queue: there is nothing to roll back.")
    if not written.exclude(before=None).exists():
        return _("None of its queues had a committed offset before, and RocketMQ cannot delete one.")
    return why_not_planned(reset.group, user)


# Discards a plan, or a reset that is being applied before any broker was told anything.


def cancel(reset: Reset, asker: Asker, now: datetime) -> None:
    """Raises ResetRefused once a broker was called: from then on a reset runs to its end within its time limit. A
    worker notices the cancellation before it calls a broker: each call is recorded under the same row's lock."""
    with transaction.atomic():
        take_turn(reset)
        if against := why_not_cancelled(reset, asker.user):
            raise ResetRefused(against)
        if reset.status == ResetStatus.PLANNED:
            reset.status, reset.finished_at = ResetStatus.CANCELLED, now
            reset.save(update_fields=["status", "finished_at"])
            note_act(reset, asker, stored_reason(ResetAct.CANCELLED_PLAN), now)
            return
        error = stored_reason(ApplyReason.CANCELLED_BY, user=asker.user.get_username())
        end_unsent(reset, ResetStatus.CANCELLED, error, now)
        note_act(reset, asker, stored_reason(ResetAct.CANCELLED_EARLY), now)
