"""Gives up a preview that waits or runs. The worker that has it sees that, and lets go."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from consumers.alerts.permission import MAY_MANAGE
from consumers.alerts.refused import AlertRefused
from consumers.models import UNFINISHED_PREVIEWS, PreviewStatus, RulePreview


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
