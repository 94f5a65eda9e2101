"""STOP and STALL: the queue has lag and its offset does not move. The members decide which of the two it is."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.columns import Columns, whole
from consumers.pipeline.kernel.segments import seconds
from consumers.vocabulary.states import BlockedBy, OwnerUnknown, RuleCode, State, UnknownReason

from .rule import Evidence, Rule

FRESH_PULL_SECONDS = 60


def stopped_rules(durations: Durations) -> list[Rule]:
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
            RuleCode.NO_MEMBERS,
            State.STOP,
            lambda columns: has_no_members(columns, durations),
            {**detail, "without_members_seconds": "without_members_seconds"},
            since_us=still_since,
        ),
        Rule(
            RuleCode.NO_OWNER,
            State.STALL,
            lambda columns: is_unowned(columns, durations),
            {**detail, "unowned_seconds": "unowned_seconds", "members": "members"},
            since_us=still_since,
        ),
        Rule(
            RuleCode.BLOCKED,
            State.STALL,
            lambda columns: is_stuck(columns, durations) & columns.is_known("owner"),
            owned,
            since_us=still_since,
        ),
        Rule(
            RuleCode.OWNER_UNKNOWN,
            State.STALL,
            lambda columns: is_stuck(columns, durations),
            {**detail, "owner": why_without_owner, "owner_error": owner_error, "members": "members"},
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
    was_stuck = columns.is_in("previous_state", [State.STALL])
    return (columns["still_seconds"] >= needed) | (was_stuck & (columns["moves"] < 2))


def why_without_owner(columns: Columns) -> pa.Array:
    """Null where a client's own error says it."""
    pops, is_unlisted = columns["is_popping"].tolist(), columns["has_unlisted_members"].tolist()
    found = zip(pops, is_unlisted, columns.is_known("owners_error").tolist(), strict=True)
    return pa.array([_why(*one) for one in found], pa.string())


def _why(pops: bool, is_unlisted: bool, has_error: bool) -> OwnerUnknown | None:
    if pops:
        return OwnerUnknown.POPPING
    if is_unlisted:
        return OwnerUnknown.UNLISTED
    return None if has_error else OwnerUnknown.NOT_SAMPLED


def owner_error(columns: Columns) -> pa.Array:
    is_said = columns["is_popping"] | columns["has_unlisted_members"]
    return pc.if_else(pa.array(is_said), None, columns.text("owners_error"))


def still_since(columns: Columns) -> pa.Array:
    return whole(_still_since(columns))


def _still_since(columns: Columns) -> np.ndarray:
    """The last move; where it lies before what was looked at, the earlier judgement knows it better."""
    stood = columns["stood_us"]
    was_still = columns.is_in("previous_state", [State.STALL, State.STOP]) & ~columns["has_moved"]
    return np.where(was_still & columns.is_known("previous_since_us"), columns["previous_since_us"], stood)


def blocked_by(columns: Columns) -> pa.Array:
    """The kind of blockage, as far as the history of owners shows it. Why a message is not finished is in the owners'
    newest answers, which are not in the history."""
    cached = columns["cached_count"]
    # As the member itself does, by its own settings (RocketMQ 5.4.0, DefaultMQPushConsumerImpl.pullMessage). A
    # comparison with one that it has not reported is false.
    is_over = (
        (cached > columns["pull_threshold"])
        | (columns["cached_mib"] > columns["pull_threshold_mib"])
        | (columns["cached_max"] - columns["cached_min"] > columns["pull_threshold_span"])
    )
    is_threshold_unknown = np.isnan(columns["pull_threshold"])
    pulls = seconds(columns["last_us"] - columns["last_pull_at"]) <= FRESH_PULL_SECONDS
    cases = [
        (np.isnan(cached), BlockedBy.NOT_SAMPLED),
        (columns["orderly"] & (cached > 0), BlockedBy.ORDERLY_MESSAGE),
        (is_over, BlockedBy.FLOW_CONTROL),
        ((cached > 0) & is_threshold_unknown, BlockedBy.MESSAGE_AT_LEAST),
        (cached > 0, BlockedBy.MESSAGE),
        (pulls, BlockedBy.SUSPENDED),
    ]
    return pa.array(_first_of(cases, BlockedBy.NOT_PULLING), pa.string())


def _first_of(cases: Iterable[tuple[np.ndarray, BlockedBy]], otherwise: BlockedBy) -> list[str]:
    conditions, names = zip(*cases, strict=True)
    return np.select(conditions, names, otherwise).tolist()


# REWIND: the consumer offset went back and has not regained. Looked at before "caught up", which it may also be.


def moved_back_rules(durations: Durations) -> list[Rule]:
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


# LOSS: messages were deleted by the broker before the group consumed them, or its offset is gone.


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


def expiry_rules() -> list[Rule]:
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
