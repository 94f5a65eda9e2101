"""STOP and STALL: behind, and the offset does not move. Why depends on who is there to move it."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.columns import Columns, whole
from consumers.pipeline.kernel.segments import seconds

from .rule import Evidence, Rule

# Of one queue the client stops to pull above these. RocketMQ 5.4.0, DefaultMQPushConsumer: pullThresholdForQueue,
# consumeConcurrentlyMaxSpan.
PULL_THRESHOLD_MESSAGES = 1000
PULL_THRESHOLD_SPAN = 2000
FRESH_PULL_SECONDS = 60


def rules(durations: Durations) -> list[Rule]:
    detail: dict[str, Evidence] = {
        "still_seconds": lambda columns: np.fmax(
            columns["still_seconds"], seconds(columns["last_us"] - _still_since(columns))
        ),
        "lag_messages": "lag_messages",
        "expires_in_seconds": "expires_in_seconds",
    }
    owned: dict[str, Evidence] = {**detail, "client_id": "owner", "owners": "owners", "blocked_by": blocked_by}
    return [
        Rule(
            "no members",
            "STOP",
            lambda columns: has_no_members(columns, durations),
            {**detail, "without_members_seconds": "without_members_seconds"},
            since_us=still_since,
        ),
        Rule(
            "nobody owns the queue",
            "STALL",
            lambda columns: is_unowned(columns, durations),
            {**detail, "unowned_seconds": "unowned_seconds", "members": "members"},
            since_us=still_since,
        ),
        Rule(
            "blocked",
            "STALL",
            lambda columns: is_stuck(columns, durations) & columns.is_known("owner"),
            owned,
            since_us=still_since,
        ),
        Rule(
            "still, owner unread",
            "STALL",
            lambda columns: is_stuck(columns, durations),
            {**detail, "owner": why_without_owner, "members": "members"},
            since_us=still_since,
        ),
    ]


def has_no_members(columns: Columns, durations: Durations) -> np.ndarray:
    is_long_enough = columns["without_members_seconds"] >= durations.stop_without_members_seconds
    is_still = columns["still_seconds"] >= durations.stop_without_members_seconds
    # Pulling clients register only while they pull; each broadcasting member has progress of its own.
    may_be_away = columns["is_pulling"] | columns["is_broadcasting"] | columns["has_unlisted_members"]
    return is_long_enough & is_still & ~may_be_away


def is_unowned(columns: Columns, durations: Durations) -> np.ndarray:
    is_long_enough = columns["unowned_seconds"] > durations.unowned_seconds
    is_still = columns["still_seconds"] >= durations.unowned_seconds
    # A retry topic is judged later than the others, whoever owns it.
    is_due = ~columns.is_in("kind", ["retry"]) | (columns["still_seconds"] >= durations.retry_stall_seconds)
    # Members that pop hold no queue.
    is_shared = columns["is_broadcasting"] | columns["is_popping"]
    return is_long_enough & is_still & is_due & (columns["members"] > 0) & ~is_shared


def is_stuck(columns: Columns, durations: Durations) -> np.ndarray:
    usual = np.where(columns.is_in("kind", ["retry"]), durations.retry_stall_seconds, durations.stall_seconds)
    # A group that takes minutes for a message is slow, not stuck: three times its own usual gap between two moves.
    needed = np.fmax(usual, 3 * columns["usual_gap_seconds"])
    was_stuck = columns.is_in("previous_state", ["STALL"])
    return (columns["still_seconds"] >= needed) | (was_stuck & (columns["moves"] < 2))


def why_without_owner(columns: Columns) -> pa.Array:
    errors = columns.text("owners_error").to_pylist()
    found = zip(columns["is_popping"].tolist(), columns["has_unlisted_members"].tolist(), errors, strict=True)
    return pa.array([_why(*one) for one in found], pa.string())


def _why(pops: bool, is_unlisted: bool, error: str | None) -> str:
    if pops:
        return "none: it pops"
    return "not listed by any broker" if is_unlisted else error or "not sampled"


def still_since(columns: Columns) -> pa.Array:
    return whole(_still_since(columns))


def _still_since(columns: Columns) -> np.ndarray:
    """The last move; where it lies before what was looked at, the earlier judgement knows it better."""
    stood = columns["stood_us"]
    was_still = columns.is_in("previous_state", ["STALL", "STOP"]) & ~columns["has_moved"]
    return np.where(was_still & columns.is_known("previous_since_us"), columns["previous_since_us"], stood)


def blocked_by(columns: Columns) -> pa.Array:
    """As far as the history of what owners hold tells it: why a message is not finished is told by their newest words,
    which are not in it."""
    cached = columns["cached_count"]
    is_over = (cached > PULL_THRESHOLD_MESSAGES) | (columns["cached_max"] - columns["cached_min"] > PULL_THRESHOLD_SPAN)
    pulls = seconds(columns["last_us"] - columns["last_pull_at"]) <= FRESH_PULL_SECONDS
    cases = [
        (np.isnan(cached), "not sampled"),
        (columns["orderly"] & (cached > 0), "a message that is not finished, in order"),
        (is_over, "flow control"),
        (cached > 0, "a message that is not finished"),
        (pulls, "suspended by the application"),
    ]
    return pa.array(_first_of(cases, "the owner does not pull"), pa.string())


def _first_of(cases: Iterable[tuple[np.ndarray, str]], otherwise: str) -> list[str]:
    conditions, names = zip(*cases, strict=True)
    return np.select(conditions, names, otherwise).tolist()
