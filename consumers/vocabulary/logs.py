"""RocketMQ's logs: what a line says, how its time is read, and why a file is not followed."""

from enum import StrEnum


class LogRole(StrEnum):
    """Whose logs a glob names."""

    CLIENT = "client"
    BROKER = "broker"


class LogForm(StrEnum):
    """The layout before a message."""

    CLIENT_4 = "client_4"
    CLIENT_5 = "client_5"
    BROKER = "broker"
    OWN = "own"


class ZoneBasis(StrEnum):
    """Why the times of a file are read in their zone."""

    NAMED = "named"
    FORM = "form"
    MACHINE = "machine"


class LogCode(StrEnum):
    # Clients: who consumes which queue.
    REBALANCED = "rebalanced"
    REBALANCE_NOTIFIED = "rebalance_notified"
    QUEUE_ADDED = "queue_added"
    QUEUE_NOT_ADDED = "queue_not_added"
    QUEUE_REMOVED = "queue_removed"
    PULL_EXPIRED = "pull_expired"
    PULL_DROPPED = "pull_dropped"
    QUEUE_DROPPED = "queue_dropped"
    RESULT_DROPPED = "result_dropped"
    LOCKED = "locked"
    LOCK_FAILED = "lock_failed"
    LOCK_LOST = "lock_lost"
    UNLOCKED = "unlocked"
    # Clients: what was consumed wrongly, and sent back.
    CONSUME_THREW = "consume_threw"
    CONSUME_RETURNED_NULL = "consume_returned_null"
    CONSUME_NOT_OK = "consume_not_ok"
    CONSUME_TIMED_OUT = "consume_timed_out"
    SEND_BACK_FAILED = "send_back_failed"
    SEND_BACK_SKIPPED = "send_back_skipped"
    # Clients: offsets.
    COMMITTED = "committed"
    COMMITTED_LAST = "committed_last"
    COMMIT_FAILED = "commit_failed"
    OFFSET_FORGOTTEN = "offset_forgotten"
    OFFSET_ILLEGAL = "offset_illegal"
    OFFSET_CORRECTED = "offset_corrected"
    FIRST_PULL = "first_pull"
    RESET_RECEIVED = "reset_received"
    # Clients: their life.
    CLIENT_CREATED = "client_created"
    CONSUMER_STARTED = "consumer_started"
    CONSUMER_STOPPED = "consumer_stopped"
    CLIENT_STOPPED = "client_stopped"
    CLIENT_UNREGISTERED = "client_unregistered"
    # Brokers.
    CONSUMER_CONNECTED = "consumer_connected"
    CONSUMER_REGISTERED = "consumer_registered"
    CONSUMER_UNREGISTERED = "consumer_unregistered"
    CHANNEL_CLOSED = "channel_closed"
    CHANNEL_EXPIRED = "channel_expired"
    GROUP_EMPTY = "group_empty"
    CLIENT_ID_DIFFERS = "client_id_differs"
    LOCK_GRANTED = "lock_granted"
    LOCK_TAKEN_OVER = "lock_taken_over"
    LOCK_REFUSED = "lock_refused"
    LOCK_RELEASED = "lock_released"
    UNLOCK_REFUSED = "unlock_refused"
    OFFSET_WENT_BACK = "offset_went_back"
    COMMIT_REFUSED = "commit_refused"
    OFFSET_TOO_SMALL = "offset_too_small"
    RESET_STARTED = "reset_started"
    DEAD_LETTERED = "dead_lettered"

    @property
    def role(self) -> LogRole:
        """Whose logs tell it."""
        codes = list(LogCode)
        is_brokers = codes.index(self) >= codes.index(LogCode.CONSUMER_CONNECTED)
        return LogRole.BROKER if is_brokers else LogRole.CLIENT


class LogProblem(StrEnum):
    """Why a file is not followed, or what is to be known of one."""

    NOT_PERMITTED = "not_permitted"
    UNREADABLE = "unreadable"
    NO_FILE = "no_file"
    LINK_OUTSIDE = "link_outside"
    FORM_UNKNOWN = "form_unknown"
    ZONE_DIFFERS = "zone_differs"
    REPLACED_UNREAD = "replaced_unread"
    GLOB = "glob"
    GLOB_NO_FILE = "glob.no_file"
    GLOB_PACKED = "glob.packed"
    GLOB_ODD_PATHS = "glob.odd_paths"
    GLOB_TOO_MANY = "glob.too_many"
