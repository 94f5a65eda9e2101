"""Why a lag is not known."""

from enum import StrEnum


class UnknownReason(StrEnum):
    # Of a queue, by what its broker answered.
    NEVER_COMMITTED = "never_committed"
    TOPIC_GONE = "topic_gone"
    QUEUE_GONE = "queue_gone"
    # An offset that an earlier reading had, of a topic and a group that the broker still has.
    OFFSET_LOST = "offset_lost"
    NOT_REPORTED = "not_reported"
    CONSUMER_AHEAD = "consumer_ahead"
    SLAVE_BEHIND = "slave_behind"
    NO_BROKER_OFFSET = "no_broker_offset"
    OUTSIDE_STORE = "outside_store"
    CONSUMER_OFFSET_UNREAD = "consumer_offset_unread"
    BROKER_OFFSET_UNREAD = "broker_offset_unread"
    OWN_DEAD_LETTERS = "own_dead_letters"
    # Of a group.
    NO_OFFSETS = "no_offsets"
    RETIRED_ONLY = "retired_only"
    QUEUE_UNKNOWN = "queue_unknown"
    # Of a broker; the first two are stored with its name and error.
    BROKER_UNREACHABLE = "broker_unreachable"
    BROKER_NEVER_READ = "broker_never_read"
    BROKER_LATE = "broker_late"
    BROKER_NOT_LISTED = "broker_not_listed"
    NO_BROKER = "no_broker"
    NOT_READ = "not_read"
    # Of a window.
    BROKER_UNREAD = "broker_unread"
    TIME_LAG_AT_LEAST = "time_lag_at_least"
    TIME_LAG_UNKNOWN = "time_lag_unknown"


_CODES = {reason.value: reason for reason in UnknownReason}
# Answers of the broker, not failures: they leave a group's sum whole.
NO_LAG_REASONS = (UnknownReason.NEVER_COMMITTED, UnknownReason.TOPIC_GONE, UnknownReason.QUEUE_GONE)


def of_broker(reason: UnknownReason, name: str, error: str | None) -> str:
    """As it is stored: a broker's own words are no code."""
    return f"{reason}:{name}: {error}"


def code_of(stored: str | None) -> UnknownReason | None:
    """Null too for what another version has stored."""
    return _CODES.get((stored or "").partition(":")[0])
