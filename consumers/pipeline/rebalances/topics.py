"""What a rebalance did to each topic: sums over its queues, null with a reason as soon as a part is not known."""

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations

from .gathered import EVENT
from .lag_cost import NOT_READ_BEFORE, NOT_READ_WITHIN, lag_before, lag_peak, queue_lags, topic_lags
from .moves import has_moved, with_owners
from .replay import with_replays
from .tenures import with_tenures
from .unowned import KINDS, with_lapses

TOPIC = [*EVENT, "topic"]
NOT_SAMPLED_BEFORE = "who owned the queues before was not sampled"
NOT_SAMPLED_AFTER = "who owns the queues after it was not sampled"
NO_QUEUE = "no queue of the topic is known"
EVERY_MEMBER = "every member of a broadcasting group holds every queue"
OWN_OFFSETS = "members of a broadcasting group keep offsets of their own"
LAPSES = ["unowned_queue_seconds", "doubly_owned_queue_seconds", "doubly_owned_queues"]
REPLAYED = ["replayed_messages_low", "replayed_messages"]
LAGS = ["lag_before_messages", "lag_peak_messages"]
OF_QUEUE = [f"{kind}_seconds{bound}" for kind in KINDS for bound in ("", "_low", "_high")]


def topic_costs(found: DataFrame, durations: Durations) -> DataFrame:
    """EVENT, topic, queues and the sums of a RebalanceTopic; moves: array of what is told of each queue that moved,
    lapsed or doubled; unknown: JSON object of the sums that are null, each with its reason.

    `found`: what `gathered` gives. A topic of which no queue moved has its row too.
    """
    queues = with_replays(with_tenures(with_lapses(with_owners(found))), durations)
    told = queues.withColumns({**_replay_of_queue(), "lags": queue_lags(), "is_queue": _is_queue()})
    summed = _summed(told).withColumn("lags", topic_lags("lags"))
    costs = {"lag_before_messages": lag_before("lags"), "lag_peak_messages": lag_peak("lags")}
    return (
        summed.withColumns(costs)
        .withColumn("unknown", _reasons())
        .select(*TOPIC, "queues", "queues_moved", *LAPSES, *REPLAYED, *LAGS, "moves", "unknown")
    )


def _is_queue() -> Column:
    """Brokers keep offsets of queues that nobody in the group holds or should hold: those have lag, and no owner."""
    return (F.size("held") > 0) | (F.size("wanted") > 0) | (F.size("answers") > 0)


def _not_sampled() -> Column:
    return F.when(F.col("before_us").isNull(), NOT_SAMPLED_BEFORE).when(F.col("after_us").isNull(), NOT_SAMPLED_AFTER)


def _replay_of_queue() -> dict[str, Column]:
    """A queue that nobody took over was given to nobody again."""
    why = F.coalesce(F.when(F.col("is_broadcasting"), OWN_OFFSETS), _not_sampled(), F.col("replay_unknown"))
    amounts = {name: F.when(why.isNull(), F.coalesce(name, F.lit(0).cast("bigint"))) for name in REPLAYED}
    return {**amounts, "replay_unknown": why}


def _summed(told: DataFrame) -> DataFrame:
    own = F.col("is_queue")
    known = F.every(~own | F.col("replay_unknown").isNull())
    is_sampled = F.first("before_us").isNotNull() & F.first("after_us").isNotNull() & (F.count_if(own) > 0)
    has_lapses = is_sampled & ~F.first("is_broadcasting")

    def count(claim: Column) -> Column:
        return F.count_if(own & claim).cast("int")

    return (
        told.groupBy(*TOPIC)
        .agg(
            *[F.first(name).alias(name) for name in ("started_after_us", "before_us", "after_us", "is_broadcasting")],
            F.nullif(F.count_if(own).cast("int"), F.lit(0)).alias("queues"),
            F.bool_or(own | F.col("broker").isNull()).alias("is_of_group"),
            F.when(is_sampled, count(has_moved())).alias("queues_moved"),
            F.sum(F.when(own, F.col("unowned_seconds"))).alias("unowned_queue_seconds"),
            F.sum(F.when(own, F.col("doubly_owned_seconds"))).alias("doubly_owned_queue_seconds"),
            F.when(has_lapses, count(F.col("is_doubly_owned"))).alias("doubly_owned_queues"),
            *[F.when(known, F.sum(F.when(own, F.col(name)))).alias(name) for name in REPLAYED],
            F.min(F.when(own, F.col("replay_unknown"))).alias("replay_unknown"),
            F.sort_array(F.collect_list(F.when(own & _is_worth_telling(), _move()))).alias("moves"),
            F.collect_list(F.when(F.size("lags") > 0, F.col("lags"))).alias("lags"),
        )
        .where("is_of_group")
    )


def _is_worth_telling() -> Column:
    amounts = [F.col(name) > 0 for name in ("unowned_seconds", "doubly_owned_seconds", "replayed_messages")]
    is_unknown = F.col("replay_unknown").isNotNull() & ~F.col("is_broadcasting") & _not_sampled().isNull()
    claims = [has_moved(), is_unknown, *amounts]
    return reduce(lambda one, other: one | other, [F.coalesce(claim, F.lit(False)) for claim in claims])


def _move() -> Column:
    names = ["broker", "queue_id", "before", "after", *OF_QUEUE, *REPLAYED]
    lapse = F.when(F.col("is_broadcasting"), EVERY_MEMBER)
    whys = {**dict.fromkeys(OF_QUEUE, lapse), **dict.fromkeys(REPLAYED, F.col("replay_unknown"))}
    return F.struct(*names, _with_reason(whys).alias("unknown"))


def _reasons() -> Column:
    sampled = F.coalesce(_not_sampled(), F.when(F.col("queues").isNull(), NO_QUEUE))
    lapse = F.coalesce(F.when(F.col("is_broadcasting"), EVERY_MEMBER), sampled)
    replay = F.coalesce(F.col("replay_unknown"), F.when(F.col("is_broadcasting"), OWN_OFFSETS), sampled)
    whys = {"queues": F.lit(NO_QUEUE), "queues_moved": sampled, **dict.fromkeys(LAPSES, lapse)}
    whys |= dict.fromkeys(REPLAYED, replay)
    return _with_reason(
        {**whys, "lag_before_messages": F.lit(NOT_READ_BEFORE), "lag_peak_messages": F.lit(NOT_READ_WITHIN)}
    )


def _with_reason(whys: dict[str, Column]) -> Column:
    """A JSON object of the names whose columns are null, each with why."""
    return F.to_json(F.struct(*[F.when(F.col(name).isNull(), why).alias(name) for name, why in whys.items()]))
