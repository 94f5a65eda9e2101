"""LOSS: messages were deleted by the broker before the group consumed them, or its offset is gone."""

import numpy as np
import pyarrow as pa

from consumers.pipeline.kernel.arrays.columns import Columns, whole
from consumers.vocabulary.rules import RuleCode
from consumers.vocabulary.states import State
from consumers.vocabulary.unknown import UnknownReason

from .rule import Rule


def lost_offsets() -> list[Rule]:
    """Before "never committed", which is only for a queue whose offset nobody ever saw."""
    return [
        Rule(
            RuleCode.OFFSET_LOST,
            State.LOSS,
            lambda columns: columns.is_in("newest_reason", [UnknownReason.OFFSET_LOST]),
            {"lost_offset": "lost_offset", "broker_offset": "newest_broker_offset", "min_offset": "newest_min_offset"},
            since_us="lost_us",
        )
    ]


def rules() -> list[Rule]:
    return [
        Rule(
            RuleCode.MESSAGES_EXPIRED,
            State.LOSS,
            lambda columns: columns["consumer_offset"] < columns["min_offset"],
            {
                "expired_messages": lambda columns: whole(columns["min_offset"] - columns["consumer_offset"]),
                "consumer_offset": "consumer_offset",
                "min_offset": "min_offset",
                "lag_messages": "lag_messages",
            },
        ),
        Rule(
            RuleCode.MOVED_TO_OLDEST,
            State.LOSS,
            lambda columns: columns.is_known("skipped_us"),
            {
                "lost_messages_at_least": _lost_at_least,
                "lost_messages_at_most": lambda columns: whole(columns["skipped_min"] - columns["skipped_from"]),
                "from_offset": "skipped_from",
                "to_offset": "skipped_to",
            },
            since_us="skipped_us",
        ),
    ]


def _lost_at_least(columns: Columns) -> pa.Array:
    """A consumer that was fast enough lost none of them; one that begins again at the min offset lost all."""
    all_of_them = columns["skipped_min"] - columns["skipped_from"]
    return whole(np.where(columns["skipped_to"] == columns["skipped_min"], all_of_them, 0.0))
