"""The attempts of one message: what a stored copy is, what is known of its delivery, and why the rest is unknown."""

from enum import StrEnum


class CopyKind(StrEnum):
    """Where a message is stored. DELAYED: it waits on a delay level for its next attempt."""

    ORIGINAL = "original"
    RETRY = "retry"
    DELAYED = "delayed"
    DEAD_LETTER = "dead_letter"


class AttemptProgress(StrEnum):
    """What the group's offset says of a copy. FILTERED: the group's tag expression leaves it out."""

    CONSUMED = "consumed"
    WAITING = "waiting"
    FILTERED = "filtered"


class DeliveryBasis(StrEnum):
    """How a delivery is known.

    SENT_BACK: a later copy exists. COUNTED: reconsume times count it, and its copy was not found. COMMITTED: the
    group's offset passed it. REDELIVERED: a repeat covers it.
    """

    SENT_BACK = "sent_back"
    COUNTED = "counted"
    COMMITTED = "committed"
    REDELIVERED = "redelivered"


class AttemptUnknown(StrEnum):
    """Why something of an attempt is null."""

    # Of the group's offset.
    BROADCASTING = "broadcasting_offset"
    POPPING = "popping_offset"
    OUTSIDE_STORE = "outside_store"
    NEVER_COMMITTED = "never_committed_there"
    OFFSET_UNREAD = "offset_unread"  # error
    NOT_DELIVERED_FROM = "not_delivered_from"
    SQL_FILTER = "sql_filter"
    # Of times.
    NOT_CONSUMED_YET = "not_consumed_yet"
    NOT_PASSED_IN_HISTORY = "not_passed_in_history"  # until
    NO_HISTORY = "no_history_then"  # error
    CLOCKS_DIFFER = "clocks_differ"
    COPY_NOT_FOUND = "copy_not_found"
    NO_DELAY = "no_delay"
    NOT_DELAYED = "not_delayed"
    # Of members.
    QUEUE_NEVER_SEEN = "queue_never_seen"
    SEVERAL_MEMBERS = "several_members"
    STILL_MEMBER = "still_member"
    # Of repeats and numbers.
    NO_REPEAT_COVERS = "no_repeat_covers"
    DELIVERIES_NOT_STORED = "deliveries_not_stored"
    NOT_IN_MESSAGE = "not_in_message"
    # Of a place that was searched.
    BUDGET_USED = "lookup_budget_used"  # calls
    TIME_USED = "lookup_time_used"  # seconds
    PLACE_UNREAD = "place_unread"  # error
    MORE_THAN_SHOWN = "more_than_shown"  # most
    NO_MASTER = "no_master_known"  # broker
    NO_KEY = "no_key_to_join"
