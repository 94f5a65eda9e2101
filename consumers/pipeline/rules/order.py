"""All rules in order: the first that applies decides, and the last one always applies."""

import numpy as np

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.columns import Columns
from consumers.vocabulary.states import RuleCode, State, UnknownReason

from . import falling_behind, stopped
from .rule import Rule

# UNKNOWN and RECREATED: whether there is enough to judge by. What the broker answered without a lag is no failure.

SEEN = {"readings": "readings_seen", "seen_seconds": "seen_seconds"}
GONE = (UnknownReason.TOPIC_GONE, UnknownReason.QUEUE_GONE)


def unread(durations: Durations) -> list[Rule]:
    def is_unread(columns: Columns) -> np.ndarray:
        # These are answers of the broker, which then has no offset to give.
        answered = columns.is_in("newest_reason", (*GONE, UnknownReason.OFFSET_LOST))
        answered &= columns["newest_age_seconds"] <= durations.unknown_after_seconds
        return ~((columns["read_age_seconds"] <= durations.unknown_after_seconds) | answered)

    return [
        # A broker forgets what members of a broadcasting group report two minutes after they left (RocketMQ 5.4.0,
        # BroadcastOffsetManager). Where the broker itself is silent, what is shown says so before this.
        Rule(
            RuleCode.NOT_REPORTED,
            State.UNKNOWN,
            lambda columns: is_unread(columns) & columns["is_broadcasting"],
            {"seconds_since_read": "read_age_seconds"},
        ),
        Rule(
            RuleCode.NOT_READ,
            State.UNKNOWN,
            is_unread,
            {"seconds_since_read": "read_age_seconds", "reason": "newest_reason"},
        ),
    ]


def reading_rules(durations: Durations) -> list[Rule]:
    def is_enough(readings: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        return (readings >= durations.provisional_readings) & (seconds >= durations.provisional_seconds)

    return [
        Rule(
            RuleCode.TOO_FEW_READINGS,
            State.UNKNOWN,
            lambda columns: ~is_enough(columns["readings_seen"], columns["seen_seconds"]),
            SEEN,
            is_provisional=True,
        ),
        Rule(
            RuleCode.TOPIC_RECREATED,
            State.RECREATED,
            lambda columns: (
                columns.is_known("recreated_us") & ~is_enough(columns["readings_of_topic"], columns["topic_seconds"])
            ),
            {"broker_offset_after": "recreated_offset", "readings_since": "readings_of_topic"},
            since_us="recreated_us",
        ),
        Rule(
            RuleCode.NEVER_COMMITTED,
            State.OK,
            lambda columns: columns.is_in("newest_reason", [UnknownReason.NEVER_COMMITTED]),
            SEEN,
        ),
        Rule(
            RuleCode.NO_SUCH_QUEUE,
            State.OK,
            lambda columns: columns.is_in("newest_reason", GONE),
            {**SEEN, "reason": "newest_reason"},
        ),
        Rule(
            RuleCode.LAG_UNKNOWN,
            State.UNKNOWN,
            lambda columns: ~(columns["known_age_seconds"] <= durations.unknown_after_seconds),
            {"seconds_since_known": "known_age_seconds", "reason": "newest_reason"},
        ),
    ]


def ordered_rules(durations: Durations) -> list[Rule]:
    return [
        *falling_behind.kept_outside(),
        *unread(durations),
        *stopped.lost_offsets(),
        *reading_rules(durations),
        *falling_behind.ghosts(),
        *stopped.moved_back_rules(durations),
        *stopped.expiry_rules(),
        *falling_behind.popped(),
        *falling_behind.keeping_up_rules(),
        *falling_behind.stopped_on_purpose(durations),
        *stopped.stopped_rules(durations),
        *falling_behind.falling_behind_rules(),
    ]
