"""How many messages a queue's next owner was given that its last one had consumed or held: between low and high.

Half-open from where the next owner began to where the last one was. Neither is seen when it happens, only at the
clients' answers, so each bound takes the end of its span that makes it safe:
low from the last one's offset in memory to the furthest the next one can have begun;
high from all that the last one held to the nearest, and no less than what a client that works as fast as this queue was
seen to move can hold uncommitted between two of its commits (RocketMQ 5.4.0, MQClientInstance: every 5 s).
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.pipeline.queue_arrays import MICROSECONDS
from consumers.polling.reading import NEVER_COMMITTED

NO_OLD_OWNER = "who held it before it had no owner was not sampled"
NO_START = "where its next owner began is not known"


def with_replays(queues: DataFrame, durations: Durations) -> DataFrame:
    """Adds replayed_messages_low, replayed_messages, and replay_unknown: why they are null.

    0 where nobody took the queue over. `queues` has tenures, offsets, wanted and earlier.
    """
    committed = F.filter("offsets", lambda one: one["consumer_offset"].isNotNull())
    fresh = F.exists("wanted", lambda one: one["since_us"] > F.col("started_after_us"))
    steps = queues.withColumns({"committed": committed, "is_fresh": F.coalesce(fresh, F.lit(False))})
    steps = steps.withColumn("handovers", _handovers())
    for stage in (_with_times, _with_broker, _with_positions):
        steps = steps.withColumn("handovers", F.transform("handovers", stage))
    bounds = F.transform("handovers", lambda one: _bounds(one, durations))
    steps = steps.withColumn("handovers", bounds)
    why = F.get(F.filter("handovers.why", lambda one: one.isNotNull()), F.lit(0))
    return steps.withColumns(
        {
            "replayed_messages_low": F.when(why.isNull(), _total("handovers.low")),
            "replayed_messages": F.when(why.isNull(), _total("handovers.high")),
            "replay_unknown": why,
        }
    ).drop("handovers", "committed", "is_fresh")


def _handovers() -> Column:
    """One for each tenure that begins after the reading before: `new`, its first answer; `old`, the last answer of the
    tenure before, else of whoever held the queue before it had no owner; null where nobody is known to have."""
    places = F.filter(F.sequence(F.lit(0), F.size("tenures")), lambda place: place < F.size("tenures"))
    pairs = F.transform(
        places,
        lambda place: F.struct(
            F.coalesce(F.get("tenures", place - 1)["last"], F.get("earlier", F.lit(0))).alias("old"),
            F.get("tenures", place)["first"].alias("new"),
        ),
    )
    return F.filter(pairs, lambda pair: pair["new"]["at_us"] > F.coalesce("started_after_us", F.lit(0)))


def _with_times(pair: Column) -> Column:
    """Adds from_us: the last reading of offsets at or before the old owner's last answer, and before the new one's."""
    first = pair["new"]["at_us"]
    last_spoke = F.coalesce(F.least(pair["old"]["at_us"], first - 1), first - 1)
    read = F.filter("committed", lambda one: one["at_us"] <= last_spoke)
    # One that spoke last before all of these readings: the oldest of them is the nearest.
    nearest = F.coalesce(F.try_element_at(read, F.lit(-1))["at_us"], F.get("committed", F.lit(0))["at_us"])
    return pair.withField("from_us", F.coalesce(F.least(nearest, first), first))


def _with_broker(pair: Column) -> Column:
    """Adds what the broker said: all `between` from_us and the new owner's first answer, the first reading `after`."""
    first = pair["new"]["at_us"]
    earlier = F.filter("offsets", lambda one: one["at_us"] < first)
    later = F.filter("offsets", lambda one: one["at_us"] >= first)
    return (
        pair.withField("between", F.filter("committed", lambda one: one["at_us"].between(pair["from_us"], first)))
        .withField("after", F.get(later, F.lit(0)))
        .withField("reason", F.try_element_at(earlier, F.lit(-1))["reason"])
    )


def _with_positions(pair: Column) -> Column:
    """Adds `latest` and `earliest`, between which the new owner began; `position`, where the old one was; `pace`."""
    old, new, between = pair["old"], pair["new"], pair["between"]
    said = F.least(new["commit_offset"], new["cached_min"])
    start, last = F.get("committed", F.lit(0)), F.try_element_at(between, F.lit(-1))
    seconds = F.nullif((last["at_us"] - start["at_us"]) / F.lit(MICROSECONDS), F.lit(0.0))
    return (
        pair.withField("latest", F.coalesce(said, pair["after"]["consumer_offset"]))
        .withField("least_committed", F.array_min(between["consumer_offset"]))
        .withField("pace", F.coalesce((last["consumer_offset"] - start["consumer_offset"]) / seconds, F.lit(0.0)))
        .withField(
            "position",
            F.coalesce(old["commit_offset"], old["cached_min"], F.get(between, F.lit(0))["consumer_offset"]),
        )
    )


def _bounds(pair: Column, durations: Durations) -> Column:
    old, position, latest = pair["old"], pair["position"], pair["latest"]
    nothing = F.lit(0).cast("bigint")
    # Nobody had consumed anything: no offset on the broker, none in an old owner's memory.
    is_first = (position.isNull() | old.isNull()) & (
        F.coalesce(pair["reason"] == NEVER_COMMITTED, F.lit(False)) | F.col("is_fresh")
    )
    is_known = old.isNotNull() & latest.isNotNull() & position.isNotNull()
    low = F.greatest(position - latest, nothing)
    held = F.greatest(position, old["cached_max"] + 1)
    earliest = F.least(latest, pair["least_committed"])
    # What it can do between two commits beside what it held; no more than there was to be had.
    uncommitted = held - position + F.ceil(F.greatest(pair["pace"], F.lit(0.0)) * durations.commit_interval_seconds)
    possible = F.least(uncommitted, pair["after"]["broker_offset"] - earliest)
    high = F.greatest(low, held - earliest, possible)
    why = F.when(old.isNull(), F.lit(NO_OLD_OWNER)).otherwise(F.lit(NO_START))
    return F.struct(
        F.when(is_first, nothing).when(is_known, low).alias("low"),
        F.when(is_first, nothing).when(is_known, high).alias("high"),
        F.when(~is_first & ~is_known, why).alias("why"),
    )


def _total(name: str) -> Column:
    return F.aggregate(name, F.lit(0).cast("bigint"), lambda so_far, one: so_far + one)
