"""Forgets what is long over: incidents with their events, messages with their tries, previews. Never what is open."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from consumers.models import Delivery, DeliveryStatus, Incident, RulePreview, Silence

# Each transaction is short, so that others that write do not wait.
AT_ONCE = 500
ENDED = (DeliveryStatus.SENT, DeliveryStatus.FAILED, DeliveryStatus.DROPPED)


def forget(now: datetime) -> int:
    """How many rows went, without those that hang on them."""
    return sum(_delete(rows) for rows in _old(now - timedelta(days=settings.ALERT_HISTORY_DAYS)))


def _old(before: datetime) -> Iterator[QuerySet[Any]]:
    # Which channels were told that an open incident fires has to be known when it ends.
    of_open = Delivery.objects.filter(tells__event__incident__resolved_at=None, tells__isnull=False)
    yield Delivery.objects.filter(status__in=ENDED, created_at__lt=before).exclude(pk__in=of_open.values("pk"))
    yield Incident.objects.filter(resolved_at__lt=before)
    yield RulePreview.objects.filter(created_at__lt=before)
    # An open incident may have been silenced for as long as that: what kept it from being told stays with it.
    kept = Incident.objects.filter(silence__isnull=False, resolved_at=None)
    yield Silence.objects.filter(ends_at__lt=before).exclude(pk__in=kept.values("silence"))


def _delete(rows: QuerySet[Any]) -> int:
    count = 0
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=ids).delete()
        count += len(ids)
    return count
