"""LOSS: messages were deleted by the broker before the group consumed them."""

from pyspark.sql import functions as F

from .rule import Rule


def rules() -> list[Rule]:
    skipped = F.col("skipped")
    return [
        Rule(
            "unread messages have expired",
            "LOSS",
            F.col("consumer_offset") < F.col("min_offset"),
            {
                "expired_messages": F.col("min_offset") - F.col("consumer_offset"),
                "consumer_offset": F.col("consumer_offset"),
                "min_offset": F.col("min_offset"),
                "lag_messages": F.col("lag_messages"),
            },
        ),
        Rule(
            "moved up to the oldest message",
            "LOSS",
            skipped.isNotNull(),
            {
                # A consumer that was fast enough lost none of them; one that begins again at the min offset lost all.
                "lost_messages_at_least": F.when(
                    skipped["to_offset"] == skipped["min_offset"], skipped["min_offset"] - skipped["from_offset"]
                ).otherwise(F.lit(0)),
                "lost_messages_at_most": skipped["min_offset"] - skipped["from_offset"],
                "from_offset": skipped["from_offset"],
                "to_offset": skipped["to_offset"],
            },
            since_us=skipped["at_us"],
        ),
    ]
