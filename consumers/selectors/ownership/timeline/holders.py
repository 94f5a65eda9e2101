"""Who was seen to hold which queue."""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Q

from consumers.models import Assignment, ConsumerGroup

Holders = Mapping[int, tuple[str, ...]]  # client ids, by the queue's id


def holders_at(group: ConsumerGroup, at: datetime | None = None) -> Holders:
    """Who holds each queue by the newest answers, or was seen to at `at`. One query."""
    rows = Assignment.objects.filter(group=group)
    if at is None:
        rows = rows.filter(gone_by=None)
    else:
        rows = rows.filter(Q(gone_by=None) | Q(gone_by__gt=at), seen_since__lte=at)
    holders: dict[int, tuple[str, ...]] = {}
    for queue, client_id in rows.order_by("client_id").values_list("queue_id", "client_id"):
        holders[queue] = (*holders.get(queue, ()), client_id)
    return holders
