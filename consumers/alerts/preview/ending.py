"""How a preview ends that no worker answers: given up by whoever may, or failed with a sentence."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from consumers.alerts.refused import MAY_MANAGE, AlertRefused
from consumers.models import UNFINISHED_PREVIEWS, PreviewStatus, RulePreview

TAKEN_UP_WITHIN = timedelta(minutes=5)
# A worker that is alive has given it up by then, or has ended itself.
ANSWERED_WITHIN = timedelta(minutes=3)
NOT_TAKEN_UP = "No worker took it up within 5 minutes: see that a Celery worker for the queue general runs."
NOT_ENDED = "The worker that had it ended, or does not answer: its log says why. Try again."


def why_not_permitted(preview: RulePreview, user: Any) -> str | None:
    """Null where `user` asked for it, or may manage alerts."""
    if preview.by_id == user.pk or user.has_perm(MAY_MANAGE):
        return None
    return _("A preview is cancelled by whoever asked for it, or with the permission %s.") % MAY_MANAGE


def cancel(preview: RulePreview, by: Any, now: datetime) -> None:
    """By whoever may. Raises AlertRefused where it has ended: then its end stays as it is."""
    unfinished = RulePreview.objects.filter(pk=preview.pk, status__in=UNFINISHED_PREVIEWS)
    given_up = {"status": PreviewStatus.CANCELLED, "finished_at": now, "cancelled_by_name": by.get_username()}
    if not unfinished.update(**given_up):
        preview.refresh_from_db()
        ended = preview.get_status_display().lower()
        raise AlertRefused(_("Only what waits or runs can be cancelled, and this preview is %s.") % ended)


def is_cancelled(preview_id: Any) -> bool:
    return RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.CANCELLED).exists()


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
