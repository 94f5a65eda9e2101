"""Deletes old resolved incidents with their events, old messages with their attempts, and previews. Never open
incidents.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from consumers.models import Delivery, DeliveryEvent, DeliveryStatus, Incident, RulePreview, Silence

# Each transaction is short, so that other writers do not wait.
AT_ONCE = 500
ENDED = (DeliveryStatus.SENT, DeliveryStatus.FAILED, DeliveryStatus.DROPPED)


def forget(now: datetime) -> int:
    """Returns how many rows were deleted, without dependent rows."""
    return sum(_delete(rows) for rows in _old(now - timedelta(days=settings.ALERT_HISTORY_DAYS)))


def _old(before: datetime) -> Iterator[QuerySet[Any]]:
    yield Incident.objects.filter(resolved_at__lt=before)
    # Deliveries of an incident are needed until it resolves, and until its resolution is delivered.
    of_kept = Exists(DeliveryEvent.objects.filter(delivery=OuterRef("pk")))
    yield Delivery.objects.filter(~of_kept, status__in=ENDED, created_at__lt=before)
    yield RulePreview.objects.filter(created_at__lt=before)
    # An open incident may be silenced for that long: the silence that suppresses it stays with it.
    kept = Incident.objects.filter(silence__isnull=False, resolved_at=None)
    yield Silence.objects.filter(ends_at__lt=before).exclude(pk__in=kept.values("silence"))


def _delete(rows: QuerySet[Any]) -> int:
    count = 0
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=ids).delete()
        count += len(ids)
    return count
