"""The states of queues and groups."""

from enum import StrEnum

from .reasons import reasons_in


class State(StrEnum):
    """Worst first."""

    LOSS = "LOSS"
    STOP = "STOP"
    STALL = "STALL"
    REWIND = "REWIND"
    WARN = "WARN"
    UNKNOWN = "UNKNOWN"
    RECREATED = "RECREATED"
    OK = "OK"


# The rules that give a queue or group its state, and what they name as evidence besides numbers.


class RuleCode(StrEnum):
    """In the order in which the rules are asked; the last one is of a group alone."""

    PROGRESS_OUTSIDE = "progress_outside"
    NOT_REPORTED = "not_reported"
    NOT_READ = "not_read"
    OFFSET_LOST = "offset_lost"
    TOO_FEW_READINGS = "too_few_readings"
    TOPIC_RECREATED = "topic_recreated"
    NEVER_COMMITTED = "never_committed"
    NO_SUCH_QUEUE = "no_such_queue"
    LAG_UNKNOWN = "lag_unknown"
    INACTIVE = "inactive"
    OFFSET_WENT_BACK = "offset_went_back"
    MESSAGES_EXPIRED = "messages_expired"
    MOVED_TO_OLDEST = "moved_to_oldest"
    POPPED_TO_END = "popped_to_end"
    CAUGHT_UP = "caught_up"
    WITHIN_THRESHOLD = "within_threshold"
    WITHIN_THRESHOLD_BEFORE = "within_threshold_before"
    PAUSED = "paused"
    OFFLINE_BY_HABIT = "offline_by_habit"
    NO_MEMBERS = "no_members"
    NO_OWNER = "no_owner"
    BLOCKED = "blocked"
    OWNER_UNKNOWN = "owner_unknown"
    FALLING_BEHIND = "falling_behind"
    NOT_DRAINING = "not_draining"
    DRAINING = "draining"
    TIME_LAG_UNBOUNDED = "time_lag_unbounded"
    LAGGING = "lagging"
    NO_OWN_QUEUE = "no_own_queue"


class BlockedBy(StrEnum):
    """What keeps an owner from moving its queue, by its running info."""

    NOT_SAMPLED = "not_sampled"
    ORDERLY_MESSAGE = "orderly_message"
    FLOW_CONTROL = "flow_control"
    MESSAGE = "message"
    # Whether flow control keeps it from pulling, too, is not known: the owner has not reported its thresholds.
    MESSAGE_AT_LEAST = "message_at_least"
    SUSPENDED = "suspended"
    NOT_PULLING = "not_pulling"


class OwnerUnknown(StrEnum):
    """Why a queue has no owner that could be named. A client's error is no code: it is given beside."""

    POPPING = "popping"
    UNLISTED = "unlisted"
    NOT_SAMPLED = "not_sampled"


class Expiry(StrEnum):
    """Beside a rule whose messages may expire, where how soon is not known."""

    UNKNOWN = "unknown"


class ExpiryForecast(StrEnum):
    """Whether messages of a group are to be deleted before it consumes them, if it goes on as it does."""

    EXPECTED = "expected"
    # The first of the queues that are known; another queue may lose messages before.
    AT_MOST = "at_most"
    NONE = "none"
    # Unknown, by what is not known of a queue.
    NO_RETENTION = "no_retention"
    NO_TIME_LAG = "no_time_lag"
    NO_TREND = "no_trend"
    UNKNOWN = "unknown"


# Why a lag is not known.


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
    # Stored as an object, with the broker and how far it is behind: the lag is known as a lower bound.
    DISPATCH_BEHIND = "dispatch_behind"  # broker, behind_bytes
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
    found = reasons_in(stored or "")[0]
    return _CODES.get(found.partition(":")[0] if isinstance(found, str) else found["code"])


# Kinds of groups, and how members consume.

# RocketMQ's own names of a message model and of consume types.
BROADCASTING, POPPING, PULLING = "BROADCASTING", "CONSUME_POP", "CONSUME_ACTIVELY"


class Flag(StrEnum):
    SYSTEM = "system"
    GHOST = "ghost"
    PAUSED = "paused"
    HABITUAL = "habitual"
    RETIRED_TOPICS = "retired_topics"
    OUTSIDE_STORE = "outside_store"
    UNLISTED_MEMBERS = "unlisted_members"
    BROADCASTING = "broadcasting"
    POP = "pop"
    TAG_FILTERED = "tag_filtered"


# RocketMQ's own numbers of brokers.

# BrokerId 0 is the master of a broker name; others are its slaves (RocketMQ 5.4.0, MixAll.MASTER_ID).
MASTER = 0

# Bits of a permission, of a topic or of a broker (RocketMQ 5.4.0, PermName).
READ, WRITE = 4, 2
