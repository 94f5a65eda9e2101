"""Ends a running re-send: what was not sent is cancelled, and the row says how it went."""

from datetime import datetime

from django.db import transaction
from django.db.models import Count

from consumers.errands.hold import Hold
from consumers.models import Resend, ResendItem, ResendOutcome, ResendStatus


def finish(hold: Hold, reason: str | None, now: datetime) -> None:
    """`reason`: why it ends before its end; null where it does not, or was cancelled. Raises NotHeld."""
    items = ResendItem.objects.filter(resend=hold.pk)
    with transaction.atomic():
        hold.renew(now)
        left = items.filter(outcome=ResendOutcome.PLANNED)
        stopped = left.update(outcome=ResendOutcome.CANCELLED, at=now, error=reason)
        cancelled = bool(stopped) and reason is None
        counts = dict(items.exclude(at=None).order_by().values_list("outcome").annotate(Count("pk")))
        status = ResendStatus.CANCELLED if cancelled else status_of(counts)
        Resend.objects.filter(pk=hold.pk).update(status=status, finished_at=now, error=reason)


def status_of(counts: dict[str, int]) -> ResendStatus:
    """`counts` by outcome, without what the plan left out."""
    if not counts.get(ResendOutcome.SENT) and not counts.get(ResendOutcome.UNKNOWN):
        return ResendStatus.FAILED
    whole = set(counts) <= {ResendOutcome.SENT}
    return ResendStatus.DONE if whole else ResendStatus.PARTIAL


def abandon(hold: Hold, reason: str, now: datetime) -> None:
    """Ends one whose cluster cannot be reached at all. Raises NotHeld."""
    items = ResendItem.objects.filter(resend=hold.pk, outcome=ResendOutcome.SENDING)
    with transaction.atomic():
        hold.renew(now)
        items.update(outcome=ResendOutcome.UNKNOWN, at=now, error=f"it may have been sent: {reason}")
    finish(hold, reason, now)
