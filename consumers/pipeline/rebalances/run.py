"""The rebalances of a range, with causes and costs. Where no group changed no Spark is asked, as in most runs.

Otherwise first what happened, a handful of rows; then what it cost, by the readings around those alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from consumers.lake.schemas import TEXT
from consumers.models import ConsumerGroup
from consumers.pipeline.durations import Durations
from consumers.pipeline.frames import Frames
from consumers.pipeline.membership import GROUP
from consumers.pipeline.slices import EPOCH

from .changed_groups import ChangedGroups
from .finding import Found, interpreted
from .gathered import REACH_SECONDS, gathered, with_bounds
from .last_owners import last_owners
from .topics import topic_costs
from .views import views, wanted_queues, wholes

PULLING, BROADCASTING = "CONSUME_ACTIVELY", "BROADCASTING"
SUBSCRIBED = pa.schema([("cluster", TEXT), ("group", TEXT), ("topic", TEXT)])
# More names than this are not looked for in the files: reading all groups is quicker then.
NAMES_LOOKED_FOR = 200


@dataclass(frozen=True)
class Rebalances:
    """`events`: one row each. `topics`: what each did to each topic; none where there is no event. `spans`: cluster,
    group, anchor_us: the groups that were looked at, each from when on: what began later would have been found."""

    events: pa.Table
    topics: pa.Table | None
    spans: pa.Table


def find_rebalances(frames: Frames, since: datetime, until: datetime, durations: Durations) -> Rebalances | None:
    """Of [since, until), and those still open at `since`; None where no group may have one."""
    changed = ChangedGroups.of(frames.clusters, since, until, durations)
    if changed is None:
        return None
    groups = frames.known(changed.rows)
    membership = _of(frames.table("membership", changed.reach, until), changed.rows)
    ownership = _of(frames.table("ownership", changed.reach, until), changed.rows)
    found = Found.of(membership, ownership, groups, durations)
    # Both actions want them.
    readings = found.readings.persist()
    try:
        with interpreted(frames.spark):
            happened = _bounded(found).toArrow()
            spans = _spans(readings).toArrow()
            topics = _costs(frames, happened, readings, groups, until, durations) if happened.num_rows else None
    finally:
        readings.unpersist()
    return Rebalances(happened, topics, spans)


def _spans(readings: DataFrame) -> DataFrame:
    """The first reading of a group shows no change: rebalances that the lake has nothing of any more are left alone."""
    from_us = F.greatest(F.min("at_us"), F.max("since_us") - 1)
    return readings.groupBy(*GROUP).agg(from_us.alias("anchor_us"))


def _bounded(found: Found) -> DataFrame:
    """The events with the whole readings around them, and is_broadcasting."""
    # Members of a pull group and of one that pops do not say which queues they hold.
    sharing = found.readings.where("shares_queues").where(F.coalesce(F.col("consume_type") != PULLING, F.lit(True)))
    model = found.readings.groupBy(*GROUP).agg(F.max_by("message_model", "at_us").alias("message_model"))
    is_broadcasting = F.coalesce(F.col("message_model") == BROADCASTING, F.lit(False))
    modelled = found.events.join(model, on=GROUP, how="left").withColumn("is_broadcasting", is_broadcasting)
    return with_bounds(modelled, wholes(sharing))


def _costs(
    frames: Frames,
    happened: pa.Table,
    readings: DataFrame,
    groups: DataFrame,
    until: datetime,
    durations: Durations,
) -> pa.Table:
    first = pc.min(pc.coalesce(happened["before_us"], happened["started_after_us"], happened["started_before_us"]))
    start = EPOCH + timedelta(microseconds=first.as_py()) - timedelta(seconds=REACH_SECONDS)
    found = gathered(
        frames.known(happened),
        views(readings),
        wanted_queues(groups),
        frames.known(_subscribed(happened)),
        _of(frames.table("ownership", start, until), happened),
        _of(frames.table("readings", start, until), happened),
        frames.known(last_owners(happened)),
    )
    return topic_costs(found, durations).toArrow()


def _of(rows: DataFrame, groups: pa.Table) -> DataFrame:
    """Those of these groups, by name: files are read for them alone."""
    names = groups["group"].unique().to_pylist()
    return rows if len(names) > NAMES_LOOKED_FOR else rows.where(F.col("group").isin(names))


def _subscribed(happened: pa.Table) -> pa.Table:
    """The topics that members subscribe to: by their own word, and by the brokers', where nobody could ask them."""
    rows = {
        (one["cluster"], one["group"], topic)
        for one in happened.select([*GROUP, "topics"]).to_pylist()
        for topic in one["topics"] or []
    }
    return pa.Table.from_pylist(
        [dict(zip(SUBSCRIBED.names, row, strict=True)) for row in sorted(rows | _named_by_brokers(happened))],
        SUBSCRIBED,
    )


def _named_by_brokers(happened: pa.Table) -> set[tuple[str, str, str]]:
    wanted = set(zip(*(happened[name].to_pylist() for name in GROUP), strict=True))
    names: Sequence[str] = sorted({group for _, group in wanted})
    found: set[tuple[str, str, str]] = set()
    # SQLite takes no more than some thousand parameters in one statement.
    for start in range(0, len(names), 500):
        rows = ConsumerGroup.objects.filter(name__in=names[start : start + 500])
        for cluster, group, topics in rows.values_list("cluster__name", "name", "subscriptions"):
            if (cluster, group) in wanted:
                found |= {(cluster, group, one["topic"]) for one in topics}
    return found
