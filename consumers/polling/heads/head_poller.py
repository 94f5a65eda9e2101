"""A cluster's stuck messages, after its members were recorded: planned from the rows, fetched, recorded."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from consumers.models import Assignment, Cluster, HeadMessage, Queue
from consumers.polling.reading import OffsetsReading
from consumers.polling.record.delays import forget_heads, record_heads
from consumers.polling.wire import Wire
from consumers.rocketmq.admin import BrokerAdmin

from .look_up import CALLS_EACH, Head, HeadLimits, look_up, standing_heads

FAILURE_HOLDS = timedelta(seconds=60)


class HeadPoller:
    """One per cluster and process. It remembers nothing: the rows hold what was fetched."""

    def __init__(self, cluster: Cluster, limits: HeadLimits) -> None:
        self._cluster = cluster
        self._limits = limits

    def poll(self, wire: Wire, offsets: OffsetsReading, now: datetime, deadline_seconds: float) -> dict[str, Any]:
        """Returns counts that are stored with the reading. A failed call is an error of its own message only."""
        calls = wire.pool.calls
        forget_heads(self._cluster)
        admins = {one.name: BrokerAdmin(wire.pool, one.answered_by) for one in offsets.brokers if one.answered_by}
        read = [one.name for one in offsets.brokers if one.read and one.name in admins]
        heads = due_heads(self._cluster, read, self._limits, now)
        if heads:
            record_heads(heads, wire.run(look_up(admins, heads, deadline_seconds)), now)
        return {"looked_up": len(heads), "calls": wire.pool.calls - calls}


def due_heads(cluster: Cluster, brokers: Collection[str], limits: HeadLimits, now: datetime) -> list[Head]:
    """Stuck messages to fetch: those never fetched first, then those whose fetch failed longest ago; the longest-stuck
    first.
    """
    places = limits.calls // CALLS_EACH
    if places <= 0 or not brokers:
        return []
    same = HeadMessage.objects.filter(
        group=OuterRef("group"), queue=OuterRef("queue"), client_id=OuterRef("client_id"), offset=OuterRef("cached_min")
    )
    asked = Queue.objects.filter(pk=OuterRef("queue"), broker__in=list(brokers))
    standing = standing_heads(limits.seconds, now, cluster=cluster).filter(Exists(asked))
    found = _heads(standing.filter(~Exists(same)), places)
    if len(found) < places:
        failed = same.filter(error__isnull=False, asked_at__lte=now - FAILURE_HOLDS)
        again = standing.annotate(asked_at=Subquery(failed.values("asked_at")[:1])).filter(asked_at__isnull=False)
        found += _heads(again.order_by("asked_at", "head_since", "pk"), places - len(found))
    return found


def _heads(rows: QuerySet[Assignment], count: int) -> list[Head]:
    names = ("group_id", "queue_id", "client_id", "cached_min", "head_since")
    place = ("queue__topic__name", "queue__broker", "queue__queue_id")
    return [Head(*row) for row in rows.values_list(*names, *place)[:count]]
