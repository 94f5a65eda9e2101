"""Readings as one row per queue of a group, with all its readings in an array sorted by time.

Sorted arrays and higher-order functions judge a queue in one row: no window frames, no second shuffle.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TOPIC_QUEUE = ["cluster", "topic", "broker", "queue_id"]
QUEUE = ["cluster", "group", "topic", "broker", "queue_id"]
MICROSECONDS = 1_000_000

OFFSETS = ["consumer_offset", "broker_offset", "min_offset", "pull_offset"]
ENTRY = f"struct<at_us:bigint,{','.join(f'{name}:bigint' for name in [*OFFSETS, 'first_us'])},reason:string>"

# In which an offset of the queue was set by hand.
SPANS = "array<struct<from_us:bigint,to_us:bigint>>"


def queue_arrays(readings: DataFrame) -> DataFrame:
    """cluster, group, topic, broker, queue_id, kind, readings: array of (at_us, offsets, first_us, reason), oldest
    first. `first_us`: when the first unconsumed message was stored, by the broker's clock; null where nobody asked."""
    entry = F.struct(
        F.unix_micros("taken_at").alias("at_us"),
        *OFFSETS,
        F.unix_micros("first_stored_at").alias("first_us"),
        F.col("unknown_reason").alias("reason"),
    )
    # By topic queue: so the produced history joins, and groups of one topic meet, without another shuffle.
    rows = readings.repartition(*TOPIC_QUEUE).groupBy(*QUEUE, "kind")
    grouped = rows.agg(F.collect_list(entry).alias("readings"))
    return grouped.withColumn("readings", F.sort_array("readings"))


def with_hands(arrays: DataFrame, hands: DataFrame) -> DataFrame:
    """Adds `hands`, the spans of each queue in which its offset was set by hand; null where there is none."""
    return arrays.join(F.broadcast(hands), on=QUEUE, how="left")


def silent_arrays(silent: DataFrame) -> DataFrame:
    """Queues of brokers that were not read, `silent`: the queue columns and kind: without any reading."""
    return silent.select(*QUEUE, "kind", F.array().cast(f"array<{ENTRY}>").alias("readings"))


def is_good(entry: Column) -> Column:
    """The lag of this reading is known."""
    return entry["consumer_offset"].isNotNull() & entry["broker_offset"].isNotNull() & entry["reason"].isNull()


def never_falls(values: Column) -> Column:
    return values == F.sort_array(values)


def seconds_between(earlier_us: Column, later_us: Column) -> Column:
    return (later_us - earlier_us) / F.lit(float(MICROSECONDS))
