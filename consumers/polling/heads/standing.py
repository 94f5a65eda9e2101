"""Oldest messages that members hold and do not finish: which rows tell of one."""

from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, QuerySet

from consumers.models import Assignment, QueueSnapshot


def standing_heads(seconds: float, now: datetime) -> QuerySet[Assignment]:
    """Present ones that stand for so long, the longest first: seen twice at least, and not known to be finished.

    A consumer offset beyond it is read more often than its member is heard.
    """
    finished = QueueSnapshot.objects.filter(
        group=OuterRef("group"), queue=OuterRef("queue"), consumer_offset__gt=OuterRef("cached_min")
    )
    rows = Assignment.objects.filter(
        gone_by=None, head_since__lte=now - timedelta(seconds=seconds), last_seen__gt=F("head_since")
    )
    return rows.filter(~Exists(finished)).order_by("head_since", "pk")
