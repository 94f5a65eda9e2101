"""WARN: the time lag rises or stays high. And the last case: lagging, but draining."""

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.columns import Columns
from consumers.pipeline.kernel.time_lag import KNOWN_KINDS
from consumers.vocabulary.states import Expiry, RuleCode, State

from .rule import Evidence, Rule, everything

LAG = {"lag_messages": "lag_messages", "time_lag_seconds": "time_lag_seconds"}
RATES = {"consume_rate": "trend_consume_rate", "produce_rate": "trend_produce_rate"}


def falling_behind_rules() -> list[Rule]:
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


# OK: level with the broker, or behind by no more time than is allowed, now or a moment ago.


def keeping_up_rules() -> list[Rule]:
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


# What is of a kind that is not judged like the others: ghosts, progress kept elsewhere, pauses, habits, pops.


def kept_outside() -> list[Rule]:
    """Before whether there is a reading at all: none could tell."""
    return [
        Rule(
            RuleCode.PROGRESS_OUTSIDE,
            State.UNKNOWN,
            lambda columns: columns.is_known("outside_store"),
            {"outside_store": "outside_store"},
        )
    ]


def ghosts() -> list[Rule]:
    """Before anything that an offset could say."""
    return [
        Rule(
            RuleCode.INACTIVE,
            State.OK,
            lambda columns: columns["is_ghost"],
            {"lag_messages": "lag_messages"},
        )
    ]


def popped() -> list[Rule]:
    """Before "caught up": an offset at the end says that all was handed out, not that it was done."""
    return [
        Rule(
            RuleCode.POPPED_TO_END,
            State.OK,
            lambda columns: columns["is_popping"] & (columns["lag_messages"] == 0),
            {"lag_messages": "lag_messages", "unacked_messages": "unacked_messages"},
        )
    ]


def stopped_on_purpose(durations: Durations) -> list[Rule]:
    """Rules for queues with lag whose offset does not move and that have no fault. They follow the rules of loss and
    those of queues without lag."""
    detail = {"lag_messages": "lag_messages", "time_lag_seconds": "time_lag_seconds"}
    shortest = min(durations.stop_without_members_seconds, durations.unowned_seconds, durations.stall_seconds)

    def is_away_as_usual(columns: Columns) -> np.ndarray:
        # Where how long it waits, or usually waits, is not known, it is not known to be usual either.
        is_usual = columns["time_lag_seconds"] <= columns["habit_limit_seconds"]
        return columns["is_away"] & is_usual & ~expires_soon(columns, durations)

    return [
        Rule(
            RuleCode.PAUSED,
            State.OK,
            lambda columns: columns["is_paused"] & (columns["still_seconds"] >= shortest),
            detail,
        ),
        Rule(
            RuleCode.OFFLINE_BY_HABIT,
            State.OK,
            is_away_as_usual,
            {**detail, "usual_limit_seconds": "habit_limit_seconds"},
        ),
    ]
