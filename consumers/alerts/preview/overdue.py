"""Ends previews that nobody ends any more: those that no worker took up, and those whose worker ended."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Coalesce

from consumers.models import PreviewStatus, RulePreview

TAKEN_UP_WITHIN = timedelta(minutes=5)
# A worker that is alive has given it up by then, or has ended itself.
ANSWERED_WITHIN = timedelta(minutes=3)
NOT_TAKEN_UP = "No Spark worker took it up within 5 minutes: see that a Celery worker for the queue spark runs."
NOT_ENDED = "The worker that had it ended, or does not answer: its log says why. Try again."


def fail_forgotten(now: datetime) -> int:
    """How many there were."""
    waiting = Q(status=PreviewStatus.WAITING, created_at__lt=now - TAKEN_UP_WITHIN)
    running = Q(status=PreviewStatus.RUNNING, began_at__lt=now - ANSWERED_WITHIN)
    previews = RulePreview.objects.alias(began_at=Coalesce("started_at", "created_at"))
    return sum(
        previews.filter(which).update(status=PreviewStatus.FAILED, error=error, finished_at=now)
        for which, error in ((waiting, NOT_TAKEN_UP), (running, NOT_ENDED))
    )


def fail_waiting(preview_id: UUID, error: str, now: datetime) -> None:
    """One that nobody can be told of. Nothing where it is taken up by now."""
    waiting = RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.WAITING)
    waiting.update(status=PreviewStatus.FAILED, error=error, finished_at=now)
