"""How soon messages of groups expired, from their windows and how long brokers keep messages today."""

from collections.abc import Mapping

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from consumers.alerts.measures.expiry import kept_seconds
from consumers.models import Broker, ConsumerGroup
from consumers.selectors.brokers import MASTER

KEPT = pa.schema([("place", pa.int32()), ("shortest", pa.float64()), ("agreed", pa.float64())])


def kept_table(places: Mapping[int, int]) -> pa.Table:
    """For how many seconds the brokers of each group's cluster keep messages. `places` by group id.

    `shortest` is null where one of them does not say, and `agreed` also where they differ: on which of them a message
    waited is not kept in windows of groups.
    """
    known = kept_seconds()
    said: dict[int, list[float | None]] = {}
    for cluster, name in Broker.objects.filter(broker_id=MASTER).values_list("cluster_id", "name"):
        said.setdefault(cluster, []).append(known.get((cluster, name)))
    groups = ConsumerGroup.objects.order_by().values_list("pk", "cluster_id")
    rows = [
        {"place": places[group], **_kept(said.get(cluster, []))}
        for group, cluster in groups.iterator()
        if group in places
    ]
    return pa.Table.from_pylist(rows, KEPT)


def expires_in() -> Column:
    """Where nothing waits it is how long brokers keep a message."""
    left = F.greatest(F.lit(0.0), F.col("agreed") - F.col("time_lag_seconds"))
    waits = F.col("time_lag_seconds").isNotNull() & F.col("agreed").isNotNull()
    return F.when(F.col("lag_messages") == 0, F.col("shortest")).when(waits, left)


def _kept(said: list[float | None]) -> dict[str, float | None]:
    told = [seconds for seconds in said if seconds is not None]
    shortest = min(told) if told and len(told) == len(said) else None
    return {"shortest": shortest, "agreed": shortest if len(set(told)) == 1 else None}
