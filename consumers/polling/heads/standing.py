"""Oldest messages that members hold and do not finish: which rows tell of one."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from consumers.models import Assignment, Cluster, ConsumerGroup, QueueSnapshot


def standing_heads(seconds: float, now: datetime, **of_groups: Any) -> QuerySet[Assignment]:
    """Present ones that stand for so long, the longest first: seen twice at least, and not known to be finished.

    A consumer offset beyond it is read more often than its member is heard. `of_groups`: which groups, as a filter;
    asked of each head, since SQLite would begin with all queues of all such groups.
    """
    finished = QueueSnapshot.objects.filter(
        group=OuterRef("group"), queue=OuterRef("queue"), consumer_offset__gt=OuterRef("cached_min")
    )
    rows = Assignment.objects.filter(
        gone_by=None, head_since__lte=now - timedelta(seconds=seconds), last_seen__gt=F("head_since")
    )
    if of_groups:
        rows = rows.filter(Exists(ConsumerGroup.objects.filter(pk=OuterRef("group"), **of_groups)))
    return rows.filter(~Exists(finished)).order_by("head_since", "pk")


def groups_with_standing_heads(cluster: Cluster, seconds: float, now: datetime) -> frozenset[str]:
    """Their names."""
    rows = standing_heads(seconds, now, cluster=cluster).order_by()
    return frozenset(rows.values_list("group__name", flat=True).distinct())
