"""Why a group rebalanced, as far as what was read supports it. Several causes may hold; none is guessed."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations

from . import member_causes, queue_causes

UNKNOWN = '{"cause":"unknown"}'
EVIDENCE = ["clients", "queues", "brokers", "said", "held_before", "failing", "versions", "came", "went", "doubled"]


def with_causes(events: DataFrame, durations: Durations) -> DataFrame:
    """Adds cause (words with ", " between, the most telling first), evidence (JSON text: [{cause, …facts}]),
    dated_us (when, by the members' own clocks; null where none tells of a moment between the two readings),
    members_before and members_after. What only served to tell causes is dropped; `topics` stays.
    """
    found = member_causes.with_comings(events).withColumns(_by_cause(durations))
    names = list(_by_cause(durations))
    words = [F.when(F.size(name) > 0, F.lit(name.removeprefix("by "))) for name in names]
    told = F.concat_ws(", ", *words)
    entries = F.concat(*[F.col(name) for name in names])
    is_told = F.size(entries) > 0
    return found.withColumns(
        {
            "cause": F.when(is_told, told).otherwise("unknown"),
            "evidence": F.concat(
                F.lit("["), F.when(is_told, F.array_join(entries, ",")).otherwise(UNKNOWN), F.lit("]")
            ),
            "dated_us": _dated(),
            "members_before": F.when(F.col("client_ids_before").isNotNull(), F.size("client_ids_before")),
            "members_after": F.size("client_ids_after"),
        }
    ).drop(*names, *EVIDENCE, "returned")


def _by_cause(durations: Durations) -> dict[str, Column]:
    """In the order in which they are named."""
    return {
        "by joined": member_causes.joined(),
        "by gone": member_causes.gone(),
        "by silent": member_causes.silent(),
        "by reconnected": member_causes.reconnected(),
        "by restarted": member_causes.restarted(),
        "by queue count": queue_causes.queue_count(durations),
        "by subscription": queue_causes.subscription(),
        "by strategy": queue_causes.strategy(),
        "by broker": queue_causes.broker(durations),
        "by pull stuck": queue_causes.pull_stuck(),
    }


def _dated() -> Column:
    within = F.filter("versions", lambda at: (at > F.col("started_after_us")) & (at <= F.col("started_before_us")))
    return F.array_min(within)
