"""Ends abandoned resets: plans that have expired, and requests that no worker planned."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from consumers.models import Reset, ResetStatus
from consumers.resets.permission import may_be_written, note_work
from consumers.resets.read_back.finish import end_untold

PLANNED_WITHIN = timedelta(seconds=60)
# A reset to be applied that no worker took up for so long is not applied any more.
TAKEN_UP_WITHIN = timedelta(minutes=5)
NOT_TAKEN_UP = (
    "No worker took it up within 5 minutes: see that a Celery worker for the queue general runs, and plan anew."
)
NOT_PLANNED = (
    "No worker took it up within a minute: see that a Celery worker for the queue general runs, and plan again."
)


def expire(now: datetime) -> int:
    """Ends expired plans. Returns how many there were."""
    void = Reset.objects.filter(status=ResetStatus.PLANNED, expires_at__lte=now)
    return sum(_close(reset, ResetStatus.EXPIRED, None, "The plan expired.", now) for reset in void)


def refuse_forgotten(now: datetime) -> int:
    """Refuses requests that no worker has worked on for a minute. Returns how many there were."""
    long_ago = now - PLANNED_WITHIN
    silent = Q(working_at=None, created_at__lt=long_ago) | Q(working_at__lt=long_ago)
    forgotten = Reset.objects.filter(silent, status=ResetStatus.PLANNING)
    return sum(_close(reset, ResetStatus.REFUSED, NOT_PLANNED, NOT_PLANNED, now) for reset in forgotten)


def refuse_unplanned(reset_id: UUID, reason: str, now: datetime) -> None:
    """Refuses a request that no worker can plan. Does nothing where it is planned by now."""
    for reset in _planning(reset_id):
        _close(reset, ResetStatus.REFUSED, reason, reason, now)


def expire_untaken(now: datetime) -> int:
    """Ends resets to be applied that no worker took up: they would move long outdated offsets once a worker is back.

    Returns how many there were.
    """
    ended = 0
    for reset_id in _untaken(now).values_list("pk", flat=True):
        with transaction.atomic():
            # Checked again under the lock: a worker may take it up at this time.
            reset = _untaken(now).select_for_update().filter(pk=reset_id).first()
            if reset is None or may_be_written(reset).exists():
                continue
            end_untold(reset, ResetStatus.EXPIRED, NOT_TAKEN_UP, now)
            note_work(reset, NOT_TAKEN_UP, now)
            ended += 1
    return ended


def _untaken(now: datetime) -> QuerySet[Reset]:
    return Reset.objects.filter(status=ResetStatus.APPLYING, working_at=None, started_at__lt=now - TAKEN_UP_WITHIN)


def _planning(reset_id: UUID) -> QuerySet[Reset]:
    return Reset.objects.filter(pk=reset_id, status=ResetStatus.PLANNING)


def _close(reset: Reset, status: ResetStatus, error: str | None, sentence: str, now: datetime) -> bool:
    """False where the reset was continued meanwhile."""
    with transaction.atomic():
        same = Reset.objects.filter(pk=reset.pk, status=reset.status)
        if not same.update(status=status, error=error, finished_at=now):
            return False
        note_work(reset, sentence, now)
    return True
