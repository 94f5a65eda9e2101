"""OK: level with the broker, or behind by no more time than is allowed, now or a moment ago."""

import numpy as np

from consumers.pipeline.kernel.arrays.columns import Columns
from consumers.pipeline.kernel.time_lag import KNOWN_KINDS
from consumers.vocabulary.rules import RuleCode
from consumers.vocabulary.states import State

from .rule import Rule


def rules() -> list[Rule]:
    detail = {
        "lag_messages": "lag_messages",
        "time_lag_seconds": "time_lag_seconds",
        "allowance_seconds": "allowance_seconds",
    }
    return [
        Rule(
            RuleCode.CAUGHT_UP, State.OK, lambda columns: columns["lag_messages"] == 0, {"lag_messages": "lag_messages"}
        ),
        Rule(RuleCode.WITHIN_THRESHOLD, State.OK, _is_within, detail),
        Rule(RuleCode.WITHIN_THRESHOLD_BEFORE, State.OK, lambda columns: columns["was_within_allowance"], detail),
    ]


def _is_within(columns: Columns) -> np.ndarray:
    """ "At least" has no upper end: only a known time lag can be within the allowance."""
    is_known = columns.is_in("time_lag_kind", KNOWN_KINDS)
    return is_known & (columns["time_lag_seconds"] <= columns["allowance_seconds"])
