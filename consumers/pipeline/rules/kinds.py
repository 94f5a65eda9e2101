"""What is of a kind that is not judged like the others: ghosts, progress kept elsewhere, pauses, habits, pops."""

import numpy as np

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.arrays.columns import Columns
from consumers.vocabulary.rules import RuleCode
from consumers.vocabulary.states import State

from .falling_behind import expires_soon
from .rule import Rule


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


def standing_as_meant(durations: Durations) -> list[Rule]:
    """Behind and still, and no fault: after what is lost and what is level."""
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
