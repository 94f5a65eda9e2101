"""WARN: the time lag rises, or stays high; and what is left: behind, but coming along."""

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.arrays.columns import Columns
from consumers.pipeline.kernel.time_lag import KNOWN_KINDS
from consumers.vocabulary.rules import Expiry, RuleCode
from consumers.vocabulary.states import State

from .rule import Evidence, Rule, everything

LAG = {"lag_messages": "lag_messages", "time_lag_seconds": "time_lag_seconds"}
RATES = {"consume_rate": "trend_consume_rate", "produce_rate": "trend_produce_rate"}


def rules() -> list[Rule]:
    rise: dict[str, Evidence] = {
        "time_lag_from_seconds": "trend_from_seconds",
        "time_lag_to_seconds": "trend_to_seconds",
        "expires_in_seconds": "expires_in_seconds",
        "expiry": _expiry,
    }
    return [
        Rule(
            RuleCode.FALLING_BEHIND, State.WARN, lambda columns: columns["is_falling_behind"], {**LAG, **RATES, **rise}
        ),
        Rule(
            RuleCode.NOT_DRAINING,
            State.WARN,
            lambda columns: columns["is_not_draining"],
            {
                **LAG,
                **RATES,
                "drain_seconds": _late_drain,
                "limit_seconds": "behind_seconds",
                "expires_in_seconds": "expires_in_seconds",
            },
        ),
        Rule(
            RuleCode.DRAINING,
            State.OK,
            lambda columns: columns["drains_in_time"],
            {**LAG, **RATES, "drain_seconds": "drain_seconds"},
        ),
        # How long the oldest message has waited has no upper end that is known: it may be hours.
        Rule(
            RuleCode.TIME_LAG_UNBOUNDED,
            State.UNKNOWN,
            _has_open_end,
            {
                "lag_messages": "lag_messages",
                "time_lag_at_least_seconds": "time_lag_seconds",
                "limit_seconds": "behind_seconds",
            },
        ),
        Rule(RuleCode.LAGGING, State.OK, everything, {**LAG, **RATES}),
    ]


def _has_open_end(columns: Columns) -> np.ndarray:
    bounded = columns.is_in("time_lag_kind", KNOWN_KINDS)
    return ~bounded & ~(columns["time_lag_at_most_seconds"] <= columns["behind_seconds"])


def _late_drain(columns: Columns) -> np.ndarray:
    """While the state is only held, the queue may drain in time already."""
    return np.where(columns["drains_in_time"], np.nan, columns["drain_seconds"])


def _expiry(columns: Columns) -> pa.Array:
    return pa.array(
        [Expiry.UNKNOWN if unknown else None for unknown in np.isnan(columns["expires_in_seconds"]).tolist()]
    )


def expires_soon(columns: Columns, durations: Durations) -> np.ndarray:
    return columns["expires_in_seconds"] < durations.warn_expiry_seconds
