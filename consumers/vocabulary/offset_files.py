"""What is wrong with an offset file, where a member starts, and why a number of redeliveries is unknown.

The part of a file's code before its dot is its name for programs.
"""

from enum import StrEnum


class FileCode(StrEnum):
    # Findings: the file was read.
    MORE_FINDINGS = "more"
    STALE = "stale"
    LEFT_BEHIND = "left_behind"
    NOT_BROADCASTING = "not_broadcasting"
    FROM_BACKUP = "from_backup"
    BESIDE_ROCKSDB = "beside_rocksdb"
    BYTE_ORDER_MARK = "byte_order_mark"
    BROKER_UNNAMED = "broker_unnamed"
    BROKER_NAMED_TWICE = "broker_named_twice"
    OWNER_UNNAMED = "owner_unnamed"
    BROKER_NOT_IN_CLUSTER = "unknown_broker.of_file"
    UNKNOWN_BROKER = "unknown_broker"
    UNKNOWN_GROUP = "unknown_group"
    UNKNOWN_TOPIC = "unknown_topic"
    QUEUE_TWICE = "stands_twice"
    KEY_TWICE = "stands_twice.key"
    BOTH_MODELS = "both_models"
    WRONG_VALUE = "wrong_value"
    QUEUE_ID_KIND = "wrong_queue_id"
    QUEUE_ID_RANGE = "wrong_queue_id.range"
    LEVEL_KIND = "wrong_queue_id.level"
    LEVEL_RANGE = "wrong_queue_id.level_range"
    LEVEL_ZERO = "wrong_queue_id.level_zero"
    OFFSET_KIND = "wrong_offset"
    OFFSET_TOO_LARGE = "wrong_offset.too_large"
    OFFSET_NEGATIVE = "wrong_offset.negative"
    KEY_FORM = "wrong_key"
    KEY_CHARACTERS = "wrong_key.characters"
    KEY_NO_QUEUE = "wrong_key.no_queue"
    KEY_LACKS = "wrong_key.lacks"
    KEY_WITHOUT_GROUP = "key_without_group"
    KEY_GROUP_INFERRED = "key_without_group.inferred"
    KEY_WITHOUT_TOPIC = "key_without_topic"
    ODD_KEY = "odd_key"
    WENT_BACK_BACKUP = "went_back.backup"
    WENT_BACK_EDITED = "went_back.edited"
    WENT_BACK_RESET = "went_back.reset"
    WENT_BACK = "went_back"
    BEHIND_MEMORY = "behind_memory"
    VANISHED = "vanished"
    VANISHED_EDITED = "vanished.edited"
    # Problems: nothing was read.
    UNREADABLE = "unreadable"
    MISSING = "missing"
    EMPTY = "empty"
    CUT_OFF = "cut_off"
    MALFORMED = "malformed"
    ZERO_BYTES = "malformed.zero_bytes"
    NOT_TEXT = "malformed.not_text"
    NOT_OFFSETS = "not_offsets"
    NO_TABLE = "not_offsets.no_table"
    MANY_TABLES = "not_offsets.many_tables"
    TABLE_KIND = "not_offsets.table_kind"
    CHANGED = "changed"
    NOT_PERMITTED = "not_permitted"
    OUTSIDE_FOLDERS = "not_allowed"
    OTHER_NAME = "not_allowed.name"
    LINK_TO_OTHER_NAME = "not_allowed.link"
    TOO_LARGE = "too_large"
    IN_ROCKSDB = "in_rocksdb"
    NO_FILE = "no_file"
    IS_FOLDER = "no_file.folder"
    GLOB = "glob"
    GLOB_OUTSIDE_FOLDERS = "glob.outside"
    GLOB_OTHER_NAMES = "glob.names"
    GLOB_NO_FILE = "glob.no_file"
    GLOB_ODD_PATHS = "glob.odd_paths"
    GLOB_TOO_MANY = "glob.too_many"
    # Problems of the site.
    NOT_STORED = "not_stored"
    NO_ANSWER = "no_answer"


class JsonKind(StrEnum):
    """What stands where something else belongs; its text is never shown: it may be anybody's secret."""

    NULL = "null"
    TEXT = "text"
    BOOLEAN = "boolean"
    NUMBER = "number"
    FRACTION = "fraction"
    LIST = "list"
    OBJECT = "object"


class StartRule(StrEnum):
    """By what rule a member starts on a queue without a committed offset."""

    NOBODY = "nobody_starts"
    EMPTY_QUEUE = "queue_empty"
    IN_MEMORY = "zero_in_memory"
    COMMITTED_MEANWHILE = "committed_meanwhile"
    FIRST = "first_offset"
    LAST_END = "last_offset"
    RETRY_BEGIN = "last_offset_retry"
    RETRY_END = "timestamp_retry"
    TIMESTAMP = "timestamp"
    FROM_TIME = "timestamp_from"  # at
    BY_SETTING = "consume_from_where"
    AS_BROKER_ANSWERS = "as_broker_answers"
    MOVED_TO_MIN = "moved_to_min"  # rule


class StartReason(StrEnum):
    """Why the offset at which a member starts is unknown."""

    OWN_DEAD_LETTERS = "start_in_own_dead_letters"
    MEMORY_NOT_ASKED = "start_memory_not_asked"
    NO_MEMBER = "start_no_member"
    UNKNOWN_SETTING = "start_setting_unknown"  # setting
    MIN_UNREAD = "start_min_unread"
    END_UNREAD = "start_end_unread"
    NO_TIMESTAMP = "start_no_timestamp"
    ZONE_UNKNOWN = "start_zone_unknown"  # timestamp
    TIME_NOT_ASKED = "start_time_not_asked"


class ExposureReason(StrEnum):
    """Why it is unknown how many messages a crash redelivers; and a note on several owners."""

    NOT_SAMPLED = "owner_not_sampled"
    REPORT_TOO_OLD = "owner_report_too_old"  # client, age_seconds, most_seconds
    HELD_UNSAID = "owner_held_unsaid"  # client
    HOLDS_NOTHING = "owner_holds_nothing"  # client
    OFFSET_UNREAD = "exposed_offset_unread"
    CLIENT_MOVED_ON = "client_moved_on"  # earlier_seconds
    COMMITTED_PAST_CLIENT = "committed_past_client"  # stored, client
    FILE_PAST_CLIENT = "file_past_client"  # stored, client
    MORE_HELD_THAN_OFFSETS = "more_held_than_offsets"
    SEVERAL_HOLDERS = "several_holders"  # clients


EXPOSURE_ANOMALIES = (
    ExposureReason.COMMITTED_PAST_CLIENT,
    ExposureReason.FILE_PAST_CLIENT,
    ExposureReason.MORE_HELD_THAN_OFFSETS,
)
