"""The rules that give a queue or group its state, and what they name as evidence besides numbers."""

from enum import StrEnum


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
