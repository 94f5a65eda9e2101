"""How far a queue's offsets moved in a window: from the last reading before it to its own last one.

So the sums of windows that follow one another are the difference of the ends. What would have to be guessed is null,
with the reason.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.queue_arrays import never_falls
from consumers.polling.reading import AHEAD, NEVER_COMMITTED, NO_BROKER_OFFSET, QUEUE_GONE, TOPIC_GONE

from .names import (
    BROKER_WENT_BACK,
    CONSUMER_WENT_BACK,
    FIRST_COMMIT,
    NO_READING_BEFORE,
    NOT_RECORDED,
    SET_BY_HAND,
    UNREAD_OFFSET,
)

# With these the lag is not known, but what the broker says of the consumer offset is.
CONSUMER_IS_KNOWN = (TOPIC_GONE, QUEUE_GONE, NO_BROKER_OFFSET, AHEAD)


def with_volumes(windows: DataFrame) -> DataFrame:
    """Adds consumed, produced and volume_unknown.

    `windows`: kind, `inside` (its readings), `last` of them, `before` (null: none within reach), and `is_new`: that the
    topic was seen to appear, `is_by_hand`: that its offset was set.
    """
    consumed, consumed_unknown = _consumed()
    produced, produced_unknown = _produced()
    reasons = F.array_distinct(F.array_compact(F.array(consumed_unknown, produced_unknown)))
    return windows.withColumns(
        {
            "consumed": F.when(consumed_unknown.isNull(), consumed),
            "produced": F.when(produced_unknown.isNull(), produced),
            "volume_unknown": F.nullif(F.array_join(reasons, "; "), F.lit("")),
        }
    )


def volume_reason() -> Column:
    """Of a window that lacks a volume."""
    return F.coalesce("volume_unknown", F.lit(NOT_RECORDED))


def _produced() -> tuple[Column, Column]:
    """A topic begins at 0: one that appears, and one that was gone before."""
    before, last = F.col("before"), F.col("last")
    began = F.when(_says(before, TOPIC_GONE) | (before.isNull() & F.col("is_new")), F.lit(0).cast("bigint"))
    begin = F.coalesce(began, before["broker_offset"])
    end = F.when(_says(last, TOPIC_GONE) & _says(before, TOPIC_GONE), begin).otherwise(last["broker_offset"])
    inside = F.transform("inside", lambda entry: entry["broker_offset"])
    unknown = (
        F.when(begin.isNull() & before.isNull(), NO_READING_BEFORE)
        .when(begin.isNull(), _reason(before))
        .when(end.isNull(), _reason(last))
        .when(~_rises(begin, inside), BROKER_WENT_BACK)
    )
    return end - begin, unknown


def _consumed() -> tuple[Column, Column]:
    """A retry queue is read from its start (RocketMQ 5.4.0, RebalancePushImpl.computePullFromWhereWithException)."""
    before, last = F.col("before"), F.col("last")
    begins_here = _says(before, NEVER_COMMITTED) | (before.isNull() & F.col("is_new"))
    from_zero = (F.col("kind") == "retry") & begins_here & (F.coalesce(last["min_offset"], F.lit(0)) == 0)
    begin = F.when(_is_usable(before), before["consumer_offset"]).when(from_zero, F.lit(0).cast("bigint"))
    never = F.forall("inside", lambda entry: _says(entry, NEVER_COMMITTED))
    still_never = never & (before.isNull() | _says(before, NEVER_COMMITTED))
    inside = F.transform(F.filter("inside", _is_usable), lambda entry: entry["consumer_offset"])
    unknown = (
        F.when(still_never, F.lit(None).cast("string"))
        .when(begin.isNull() & before.isNull(), NO_READING_BEFORE)
        .when(begin.isNull() & _says(before, NEVER_COMMITTED), FIRST_COMMIT)
        .when(begin.isNull(), _reason(before))
        .when(~_is_usable(last), _reason(last))
        .when(F.col("is_by_hand"), SET_BY_HAND)
        .when(~_rises(begin, inside), CONSUMER_WENT_BACK)
    )
    return F.when(still_never, F.lit(0).cast("bigint")).otherwise(last["consumer_offset"] - begin), unknown


def _is_usable(entry: Column) -> Column:
    has_no_reason = entry["reason"].isNull() | entry["reason"].isin(*CONSUMER_IS_KNOWN)
    return entry["consumer_offset"].isNotNull() & has_no_reason


def _says(entry: Column, reason: str) -> Column:
    return F.coalesce(entry["reason"] == reason, F.lit(False))


def _reason(entry: Column) -> Column:
    return F.coalesce(entry["reason"], F.lit(UNREAD_OFFSET))


def _rises(begin: Column, inside: Column) -> Column:
    """What was not read in between tells nothing."""
    return never_falls(F.array_compact(F.concat(F.array(begin), inside)))
