"""Why messages were consumed again: causes, what each is found in, confidence, evidence, and reasons of null bounds.

To add a cause: its code here with its RepeatCauseSpec, its words in words/repeats.py, and a rule in pipeline/repeats/.
"""

from dataclasses import dataclass
from enum import StrEnum

from .logs import LogCode


class RepeatCause(StrEnum):
    CONSUMER_CRASH = "consumer_crash"
    SHUTDOWN_DID_NOT_WAIT = "shutdown_did_not_wait"
    FINISHED_OUT_OF_ORDER = "finished_out_of_order"
    LOCAL_RETRY_RESTART = "local_retry_restart"
    STALE_OFFSET = "stale_offset"
    TWO_OWNERS = "two_owners"
    DUPLICATE_CLIENT_ID = "duplicate_client_id"
    RESET = "reset"
    RESET_ELSEWHERE = "reset_elsewhere"
    BROKER_CRASH = "broker_crash"
    SLAVE_FAILOVER = "slave_failover"
    OFFSET_FILE_LOST = "offset_file_lost"
    OFFSET_FILE_CHANGED = "offset_file_changed"
    WRONG_ACK = "wrong_ack"
    BATCH_RECONSUME = "batch_reconsume"
    CONSUME_TIMEOUT = "consume_timeout"
    BROADCAST_CRASH = "broadcast_crash"
    POP_REVIVE = "pop_revive"
    SENT_TWICE = "sent_twice"
    UNKNOWN = "unknown"


class Confidence(StrEnum):
    """Strongest first."""

    PROVEN = "proven"
    LIKELY = "likely"
    POSSIBLE = "possible"


class RepeatSource(StrEnum):
    """Where events of a cause are found. A source finds its events again in each run that reads its time again.

    Stored history decides the first three. Events of the others exist only where somebody supplies that evidence.
    """

    REBALANCES = "rebalances"
    OFFSETS = "offsets"
    RETRIES = "retries"
    CLIENT_LOGS = "client_logs"
    SINGLE_MESSAGES = "single_messages"


@dataclass(frozen=True)
class RepeatCauseSpec:
    """`is_repeat` False: no repeated consumption, though it looks like one to the application.

    Lines of logs: those of `proven_by` name the cause and make it proven; those of `supported_by` are evidence beside
    others.
    """

    cause: RepeatCause
    source: RepeatSource
    is_repeat: bool = True
    proven_by: tuple[LogCode, ...] = ()
    supported_by: tuple[LogCode, ...] = ()


# A broker lost a member's connection: as a crash does, and a network.
_GONE = (LogCode.CHANNEL_CLOSED, LogCode.CHANNEL_EXPIRED)
# A listener failed, and its messages were sent back.
_WRONG_ANSWERS = (LogCode.CONSUME_THREW, LogCode.CONSUME_RETURNED_NULL, LogCode.CONSUME_NOT_OK)
_SPECS = (
    RepeatCauseSpec(RepeatCause.CONSUMER_CRASH, RepeatSource.REBALANCES, supported_by=_GONE),
    RepeatCauseSpec(
        RepeatCause.SHUTDOWN_DID_NOT_WAIT,
        RepeatSource.REBALANCES,
        supported_by=(
            LogCode.CONSUMER_UNREGISTERED,
            LogCode.RESULT_DROPPED,
            LogCode.CLIENT_STOPPED,
            LogCode.CONSUMER_STOPPED,
        ),
    ),
    RepeatCauseSpec(RepeatCause.FINISHED_OUT_OF_ORDER, RepeatSource.REBALANCES, supported_by=_GONE),
    RepeatCauseSpec(RepeatCause.LOCAL_RETRY_RESTART, RepeatSource.REBALANCES, supported_by=_GONE),
    # What was consumed of a queue that had been given up is not committed (5.4.0, ConsumeMessageConcurrentlyService).
    RepeatCauseSpec(
        RepeatCause.STALE_OFFSET,
        RepeatSource.REBALANCES,
        proven_by=(LogCode.RESULT_DROPPED,),
        supported_by=(LogCode.QUEUE_REMOVED, LogCode.QUEUE_DROPPED, LogCode.OFFSET_WENT_BACK),
    ),
    RepeatCauseSpec(
        RepeatCause.TWO_OWNERS,
        RepeatSource.REBALANCES,
        supported_by=(LogCode.LOCK_TAKEN_OVER, LogCode.LOCK_LOST, LogCode.OFFSET_WENT_BACK),
    ),
    RepeatCauseSpec(RepeatCause.DUPLICATE_CLIENT_ID, RepeatSource.REBALANCES, supported_by=(LogCode.OFFSET_WENT_BACK,)),
    RepeatCauseSpec(RepeatCause.RESET, RepeatSource.OFFSETS),
    RepeatCauseSpec(
        RepeatCause.RESET_ELSEWHERE,
        RepeatSource.OFFSETS,
        proven_by=(LogCode.RESET_STARTED, LogCode.RESET_RECEIVED),
        supported_by=(LogCode.OFFSET_WENT_BACK,),
    ),
    RepeatCauseSpec(RepeatCause.BROKER_CRASH, RepeatSource.OFFSETS),
    RepeatCauseSpec(RepeatCause.SLAVE_FAILOVER, RepeatSource.OFFSETS),
    RepeatCauseSpec(RepeatCause.OFFSET_FILE_LOST, RepeatSource.OFFSETS),
    RepeatCauseSpec(RepeatCause.OFFSET_FILE_CHANGED, RepeatSource.OFFSETS),
    RepeatCauseSpec(
        RepeatCause.WRONG_ACK,
        RepeatSource.RETRIES,
        proven_by=_WRONG_ANSWERS,
        supported_by=(LogCode.CONSUME_TIMED_OUT, LogCode.DEAD_LETTERED),
    ),
    RepeatCauseSpec(
        RepeatCause.BATCH_RECONSUME,
        RepeatSource.RETRIES,
        proven_by=_WRONG_ANSWERS,
        supported_by=(LogCode.CONSUME_TIMED_OUT, LogCode.DEAD_LETTERED),
    ),
    # Looks like a wrong answer: only its line tells it apart.
    RepeatCauseSpec(RepeatCause.CONSUME_TIMEOUT, RepeatSource.CLIENT_LOGS, proven_by=(LogCode.CONSUME_TIMED_OUT,)),
    RepeatCauseSpec(RepeatCause.BROADCAST_CRASH, RepeatSource.OFFSETS),
    RepeatCauseSpec(RepeatCause.POP_REVIVE, RepeatSource.RETRIES),
    RepeatCauseSpec(RepeatCause.SENT_TWICE, RepeatSource.SINGLE_MESSAGES, is_repeat=False),
    RepeatCauseSpec(RepeatCause.UNKNOWN, RepeatSource.OFFSETS),
)
REPEAT_CAUSES = {spec.cause: spec for spec in _SPECS}


class RepeatEvidence(StrEnum):
    """What supports a cause. The parameters of each are those that its words name."""

    # A queue that went from one owner to another: client_id.
    OWNER_LEFT = "owner_left"
    OWNER_SILENT = "owner_silent"
    OWNER_STAYED = "owner_stayed"
    OWNER_UNKNOWN = "owner_unknown"
    # Of queues that nobody knows: members.
    MEMBERS_LOST = "members_lost"
    OWNER_RECONNECTED = "owner_reconnected"
    START_BEHIND_MEMORY = "start_behind_memory"
    NO_GAP_SEEN = "no_gap_seen"
    ALL_RESTARTED = "all_restarted"
    TWO_OWNERS_SEEN = "two_owners_seen"
    SHARED_CLIENT_ID = "shared_client_id"
    HELD_OUT_OF_ORDER = "held_out_of_order"
    HEAD_HELD = "head_held"
    # An offset that went back.
    OFFSET_FELL = "offset_fell"
    RESET_WRITTEN = "reset_written"
    BROKER_UNREAD = "broker_unread"
    READ_FROM_SLAVE = "read_from_slave"
    SLAVE_HELD = "slave_held"
    OFFSET_WAS_LOST = "offset_was_lost"
    FILE_MODIFIED = "file_modified"
    FILE_OLDER = "file_older"
    FILE_GONE = "file_gone"
    FILE_HELD = "file_held"
    RESUMED_BEHIND = "resumed_behind"
    MEMBER_RESTARTED = "member_restarted"
    NO_MEMBER = "no_member"
    SEVERAL_QUEUES = "several_queues"
    MEMBERS_UNKNOWN = "members_unknown"
    # Messages that were sent back.
    SENT_BACK = "sent_back"
    FAILURES_REPORTED = "failures_reported"
    BATCH_SIZE = "batch_size"
    MEMBERS_POP = "members_pop"
    # A line of a log: log (its LogCode), lines, at, client_id.
    LOG_LINE = "log_line"


class RepeatUnknown(StrEnum):
    """Why a bound, or the beginning, is null."""

    OWNER_NOT_SAMPLED = "owner_not_sampled"
    OVERLAP_NOT_COUNTED = "overlap_not_counted"
    MINUTE_UNKNOWN = "minute_unknown"
    NOT_READ_BEFORE = "not_read_before"


# The attempts of one message: what a stored copy is, what is known of its delivery, and why the rest is unknown.
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
