"""Starts and cancels planned resends. A worker does the work: it looks for rows that say RUNNING."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from consumers.jobs.audit import note
from consumers.models import ConsumerGroup, Resend, ResendItem, ResendOutcome, ResendStatus

from .preview import preview_of

# Each running resend occupies a process of the general worker, which has other work too.
MOST_AT_ONCE = 2


class NotStarted(Exception):
    """str() is one sentence: why, and what to do."""


class NotCancelled(Exception):
    """str() is one sentence."""


def start(resend: Resend, by: Any, confirm: str, now: datetime) -> None:
    """`confirm`: the group's name, as the user typed it. Raises NotStarted. One resend of a group runs at a time."""
    if confirm != resend.group.name:
        raise NotStarted(_("Type the group's name, %s, to confirm.") % resend.group.name)
    if against := preview_of(resend.pk, now).refusals:
        raise NotStarted(" ".join(against))
    with transaction.atomic():
        # Locking the group's row serialises two starts.
        ConsumerGroup.objects.select_for_update().get(pk=resend.group_id)
        resend.refresh_from_db()
        if resend.status == ResendStatus.PLANNED and resend.expires_at <= now:
            raise NotStarted(
                _(
                    "The plan has expired. Plan the resend again: dead-letter messages may have been added or "
                    "deleted since."
                )
            )
        if resend.status != ResendStatus.PLANNED:
            raise NotStarted(_("It was started, cancelled or has expired already: it is %s.") % resend.status)
        if Resend.objects.filter(group=resend.group_id, status=ResendStatus.RUNNING).exists():
            raise NotStarted(_("Another resend of this group is running. Wait for its end, or cancel it."))
        if Resend.objects.filter(status=ResendStatus.RUNNING).count() >= MOST_AT_ONCE:
            raise NotStarted(_("%s resends are running, which is the maximum. Wait for the end of one.") % MOST_AT_ONCE)
        if not resend.items.filter(outcome=ResendOutcome.PLANNED).exists():
            raise NotStarted(_("None of its messages would be sent: see why each is left out."))
        resend.status, resend.started_at = ResendStatus.RUNNING, now
        resend.started_by, resend.started_by_name = by, by.get_username()
        resend.save(update_fields=["status", "started_at", "started_by", "started_by_name"])
        note(resend, resend.title, by, "Started the resend.", now)


def cancel(resend: Resend, by: Any, now: datetime) -> None:
    """A planned resend is cancelled at once; a running one after its current batch. Raises NotCancelled."""
    with transaction.atomic():
        if _close(resend, ResendStatus.CANCELLED, now):
            note(resend, resend.title, by, "Cancelled the plan.", now)
        elif Resend.objects.filter(pk=resend.pk, status=ResendStatus.RUNNING).update(cancel_wanted=True):
            note(resend, resend.title, by, "Requested to cancel the resend.", now)
        else:
            raise NotCancelled(_("It has ended already."))
    resend.refresh_from_db()


def expire(now: datetime) -> int:
    """Marks plans past their time as expired. Returns how many there were."""
    void = Resend.objects.filter(status=ResendStatus.PLANNED, expires_at__lte=now)
    with transaction.atomic():
        return sum(_close(resend, ResendStatus.EXPIRED, now) for resend in void)


def _close(resend: Resend, status: ResendStatus, now: datetime) -> bool:
    """False where the resend is no longer planned."""
    planned = Resend.objects.filter(pk=resend.pk, status=ResendStatus.PLANNED)
    if not planned.update(status=status, finished_at=now):
        return False
    left = ResendItem.objects.filter(resend=resend, outcome=ResendOutcome.PLANNED)
    left.update(outcome=ResendOutcome.CANCELLED, at=now)
    return True
