"""Which running re-sends no living worker has: those to be taken up again."""

from datetime import datetime
from uuid import UUID

from django.db.models import Q

from consumers.models import Resend, ResendStatus

from .hold import STALE


def left_behind(now: datetime) -> list[UUID]:
    """Never taken up, or whose worker was not seen for a while."""
    lost = Q(working_at=None, started_at__lt=now - STALE) | Q(working_at__lt=now - STALE)
    return list(
        Resend.objects.filter(lost, status=ResendStatus.RUNNING).order_by("started_at").values_list("pk", flat=True)
    )
