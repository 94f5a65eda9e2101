"""Findings: what checks find wrong, how bad it is, and which check found it."""

from enum import StrEnum


class FindingSeverity(StrEnum):
    """In the order of lists.

    CRITICAL: messages are lost, or a group stands still. UNKNOWN: it could not be checked. INFO: no fault.
    """

    CRITICAL = "critical"
    WARNING = "warning"
    UNKNOWN = "unknown"
    INFO = "info"


class FindingCheck(StrEnum):
    OWNERSHIP = "ownership"
    RETRIES = "retries"
    DELAY_LEVELS = "delay_levels"
    OFFSETS = "offsets"
    OFFSET_FILES = "offset_files"
    ALL = "all"


class FindingSubject(StrEnum):
    """What a finding is about. Queues and clients of a group are named in the finding's parameters."""

    GROUP = "group"
    BROKER = "broker"
    FILE = "file"
    CLUSTER = "cluster"


class FindingCode(StrEnum):
    """In the order in which findings of one severity stand."""

    DUPLICATE_CLIENT_IDS = "duplicate_client_ids"
    BROKERS_DIFFER = "brokers_differ"
    STRATEGIES_DIFFER = "strategies_differ"
    SUBSCRIPTIONS_DIFFER = "subscriptions_differ"
    ORDERLY_AND_CONCURRENT = "orderly_and_concurrent"
    SETTINGS_DIFFER = "settings_differ"
    UNOWNED_UNKNOWN_OWNER = "unowned_unknown_owner"
    UNOWNED_NO_ROOM = "unowned_no_room"
    UNOWNED_LOCK_HELD = "unowned_lock_held"
    UNOWNED_NO_LOCK = "unowned_no_lock"
    UNOWNED_NO_START = "unowned_no_start"
    DOUBLY_OWNED = "doubly_owned"
    UNEXPECTED_OWNER = "unexpected_owner"
    LOCK_LOST = "lock_lost"
    SILENT_MEMBER = "silent_member"
    IDLE_MEMBERS = "idle_members"
    TOO_FEW_QUEUES = "too_few_queues"
    SETTLING = "settling"
    OWNERSHIP_UNKNOWN = "ownership_unknown"
    RETRIES_DISCARDED = "retries_discarded"
    RETRIES_NOT_ACCEPTED = "retries_not_accepted"
    GROUP_MISSING = "group_missing"
    RETRY_QUEUES_UNREAD = "retry_queues_unread"
    RETRY_TOPIC_UNREADABLE = "retry_topic_unreadable"
    RETRY_TOPIC_UNWRITABLE = "retry_topic_unwritable"
    CONSUMPTION_DISABLED = "consumption_disabled"
    DLQ_UNREADABLE = "dlq_unreadable"
    BROKER_TAKES_NONE_BACK = "broker_takes_none_back"
    NOT_ROUTED = "not_routed"
    ORIGINALS_DELETED = "originals_deleted"
    NOT_RETRIED = "not_retried"
    CONSUME_TIMEOUT = "consume_timeout"
    BATCH_RETRIED = "batch_retried"
    RETRIED_IN_PLACE = "retried_in_place"
    ACKNOWLEDGED_EARLY = "acknowledged_early"
    RETRY_CHECKS_UNKNOWN = "retry_checks_unknown"
    LATE_DELAY_LEVELS = "late_delay_levels"
    DELAY_LEVELS_UNKNOWN = "delay_levels_unknown"
    LOST_OFFSETS = "lost_offsets"
    LOST_OFFSETS_UNKNOWN = "lost_offsets_unknown"
    OFFSET_FILE = "offset_file"
    OFFSET_FILE_UNREAD = "offset_file_unread"
    NOT_CHECKED = "not_checked"
