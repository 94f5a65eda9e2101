"""REWIND: the consumer offset went back and has not regained. Looked at before "caught up", which it may also be."""

import numpy as np

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.arrays.columns import Columns, whole
from consumers.pipeline.kernel.arrays.segments import seconds
from consumers.vocabulary.rules import RuleCode
from consumers.vocabulary.states import State

from .rule import Rule


def rules(durations: Durations) -> list[Rule]:
    return [
        Rule(
            RuleCode.OFFSET_WENT_BACK,
            State.REWIND,
            lambda columns: (_missing(columns) > 0) & ~is_replay(columns, durations),
            {
                "from_offset": "highest_consumer_offset",
                "to_offset": "consumer_offset",
                "missing_messages": lambda columns: whole(_missing(columns)),
                "lag_messages": "lag_messages",
                "client_id": "owner",
            },
            since_us="dropped_us",
        )
    ]


def _missing(columns: Columns) -> np.ndarray:
    return columns["highest_consumer_offset"] - columns["consumer_offset"]


def is_replay(columns: Columns, durations: Durations) -> np.ndarray:
    """An owner's successor begins at what was committed: no further back than what was in flight."""
    apart = np.abs(seconds(columns["dropped_us"] - columns["owner_changed_us"]))
    return (apart <= durations.replay_after_move_seconds) & (_missing(columns) <= columns["in_flight_seen"])
