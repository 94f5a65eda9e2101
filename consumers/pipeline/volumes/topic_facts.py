"""What the poll's rows say of retry and dead-letter topics: when they appeared, and which groups have none."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pyarrow as pa
from django.db.models import Count, Q

from consumers.lake.schemas import TEXT
from consumers.models import GroupBroker, Reading
from consumers.pipeline.slices import microseconds

APPEARED = pa.schema(
    [("cluster", TEXT), ("topic", TEXT), ("broker", TEXT), ("appeared_us", pa.list_(pa.int64()))],
)
TOPICS = pa.schema([("cluster", TEXT), ("group", TEXT), ("has_retry", pa.bool_()), ("has_dead", pa.bool_())])


def appeared_topics(clusters: Sequence[str], since: datetime, until: datetime, reach: timedelta) -> pa.Table:
    """When a broker that had been read within `reach` before was seen to have a topic that it had not had then."""
    rows = Reading.objects.filter(cluster__name__in=clusters, taken_at__gte=since - reach, taken_at__lt=until)
    found: dict[tuple[str, str, str], list[int]] = {}
    read_at: dict[tuple[str, str], datetime] = {}
    for cluster, at, brokers in rows.order_by("taken_at").values_list("cluster__name", "taken_at", "brokers"):
        for one in brokers:
            # A slave may lack what its master has.
            if not one["read"] or one.get("read_from"):
                continue
            before = read_at.get((cluster, one["name"]))
            read_at[cluster, one["name"]] = at
            if before is not None and at - before <= reach and at >= since:
                for topic in one.get("topics_appeared", ()):
                    found.setdefault((cluster, topic, one["name"]), []).append(microseconds(at))
    return pa.Table.from_pylist(
        [dict(zip(APPEARED.names, (*key, times), strict=True)) for key, times in found.items()], APPEARED
    )


def group_topics(clusters: Sequence[str]) -> pa.Table:
    """Whether a group has a retry and a dead-letter topic: yes where a broker says so, no where all were asked."""
    rows: list[dict[str, object]] = []
    for cluster in clusters:
        newest = Reading.objects.filter(cluster__name=cluster).exclude(brokers=[]).first()
        names = [one["name"] for one in newest.brokers] if newest else []
        counted = GroupBroker.objects.filter(group__cluster__name=cluster).values("group__name")
        counted = counted.annotate(
            asked=Count("pk", filter=Q(broker__in=names)),
            retry=Count("pk", filter=~Q(retry_permissions={})),
            dead=Count("pk", filter=Q(dlq_permission__isnull=False)),
        )
        for one in counted:
            is_whole = bool(names) and one["asked"] == len(names)
            rows.append(
                {
                    "cluster": cluster,
                    "group": one["group__name"],
                    "has_retry": True if one["retry"] else (False if is_whole else None),
                    "has_dead": True if one["dead"] else (False if is_whole else None),
                }
            )
    return pa.Table.from_pylist(rows, TOPICS)
