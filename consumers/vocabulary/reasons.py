"""Why a value is null, or why something was not done: stored as a code with its parameters, shown in words."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Self


class ReasonCode(StrEnum):
    # Of a window.
    NOT_AGGREGATED = "not_aggregated"
    NOT_POLLED = "not_polled"
    # Of a member in a window.
    NOT_A_MEMBER = "not_a_member"
    MEMBER_NOT_ASKED = "member_not_asked"
    MEMBER_RATES_EXPIRED = "member_rates_expired"  # days
    MEMBER_DOES_NOT_REPORT = "member_does_not_report"
    NO_MESSAGE_IN_WINDOW = "no_message_in_window"
    # Of a queue.
    NO_MEMBER = "no_member"
    NO_OWNER = "no_owner"
    # Of a group.
    MEMBERS_NOT_ASKED = "members_not_asked"
    NEVER_DRAINS = "never_drains"
    NO_EXPIRY_EXPECTED = "no_expiry_expected"
    EXPIRY_UNKNOWN = "expiry_unknown"
    EXPIRY_NO_RETENTION = "expiry_no_retention"
    EXPIRY_NO_TIME_LAG = "expiry_no_time_lag"
    EXPIRY_NO_TREND = "expiry_no_trend"
    NOT_READ_YET = "not_read_yet"
    NOT_EVALUATED_YET = "not_evaluated_yet"
    EVALUATION_LATE = "evaluation_late"
    CLUSTER_NOT_POLLED = "cluster_not_polled"
    LAG_IS_YOUNG = "lag_is_young"
    LOST_IN_QUEUES = "lost_in_queues"  # why, lost_queues
    BEHIND_SLAVES = "behind_slaves"  # why, slaves
    MEMBERS_UNREAD_SINCE = "members_unread_since"  # begin, end
    SELDOM_ASKED = "seldom_asked"  # times, changing_seconds
    QUEUES_UNREPORTED_SINCE = "queues_unreported_since"  # since
    RESET_BY = "reset_by"  # name, at, reason
    MAYBE_RESET_BY = "maybe_reset_by"  # name, at, reason
    MAYBE_FAILOVER = "maybe_failover"  # slave, at
    NOT_BY_SITE = "not_by_site"
    # Of a broker.
    BROKER_FAILS = "broker_fails"  # name, error
    NO_CAUSE = "no_cause"
    BROKER_NOT_SCRAPED = "broker_not_scraped"  # name
    BROKER_OVERDUE = "broker_overdue"  # name, late_seconds
    BROKER_IN_FUTURE = "broker_in_future"  # name
    BROKER_UNLISTED = "broker_unlisted"  # name
    NO_REBALANCE = "no_rebalance"
    # Of a cluster that nothing is written to.
    CLUSTER_READ_ONLY = "cluster_read_only"
    READ_ONLY_BY_OTHER = "read_only_by_other"


class StoredWords(str):
    """Words in the language of the request, with what they are made of."""

    _stored: str

    def __new__(cls, words: object, stored: str) -> Self:
        made = super().__new__(cls, words)
        made._stored = stored
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return "".join(self), self._stored

    @property
    def stored(self) -> str:
        """What the words are made of, as a row stores it."""
        return self._stored

    def __str__(self) -> str:
        return self


class CodedReason(StoredWords):
    """A reason with its code. Compare its `code`, never its words."""

    code: str
    values: Mapping[str, Any]

    def __new__(cls, code: str, words: object, values: Mapping[str, Any] | None = None, stored: str = "") -> Self:
        """`stored`: as it was read from a row; empty for a reason that is made now."""
        reason = super().__new__(cls, words, stored)
        reason.code, reason.values = code, values or {}
        return reason

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.code, "".join(self), self.values, self._stored

    @property
    def stored(self) -> str:
        return self._stored or stored_reason(self.code, **self.values)


def to_store(words: str) -> str:
    """What is stored of `words`: their codes; the words themselves where they are a broker's or a person's."""
    return words.stored if isinstance(words, StoredWords) else words


def reason_code(reason: str | None) -> str | None:
    """Null for a reason that has no code."""
    return reason.code if isinstance(reason, CodedReason) else None


def reason_codes(reasons: Mapping[str, Any]) -> dict[str, str]:
    """By the names of `reasons`, of those that have a code."""
    return {name: reason.code for name, reason in reasons.items() if isinstance(reason, CodedReason)}


def stored_reason(code: str, **values: Any) -> str:
    """`values` may hold stored reasons in turn. The codes of all enums with words in the catalogue differ."""
    return json.dumps({"code": str(code), **{name: _stored(value) for name, value in values.items()}})


def _stored(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _stored(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_stored(one) for one in value]
    return to_store(value) if isinstance(value, str) else value


def stored_reasons(reasons: Sequence[str]) -> str:
    """Several stored reasons, one sentence after the other; the first is the one to go by."""
    return reasons[0] if len(reasons) == 1 else json.dumps(list(reasons))


def reasons_in(stored: str) -> list[Mapping[str, Any] | str]:
    """Each with its `code` and values, or as the words of a broker or of an earlier version."""
    try:
        found = json.loads(stored)
    except ValueError:
        return [stored]
    if isinstance(found, list) and all(isinstance(one, str) for one in found):
        return [reason for one in found for reason in reasons_in(one)]
    return [found] if isinstance(found, dict) and "code" in found else [stored]


class FlagReason(StrEnum):
    """Why a group has a flag, or why that is not known."""

    SYSTEM = "own_of_rocketmq"
    PAUSED = "consume_disabled"
    RETIRED_TOPICS = "topics_not_subscribed"  # topics
    OUTSIDE_STORE = "stored_by_class"  # store
    UNLISTED_MEMBERS = "no_member_listed"
    BROADCASTING = "each_member_all_queues"
    POP = "advances_when_popped"
    TAG_FILTERED = "consumes_tags"  # tags
    TAGS_OF_TOPIC = "tags_of_topic"  # tags, topic
    INACTIVE = "inactive_for"  # days
    OFFLINE_BY_HABIT = "without_member_for"  # percent, days
    # Not known.
    CONFIGURATION_UNREAD = "configuration_unread"
    CONSUME_TYPE_UNKNOWN = "consume_type_unreported"
    MEMBERS_NOT_REPORTED = "members_not_reported"
    WATCHED_TOO_SHORT = "watched_too_short"  # days, needed
    MEMBERS_NOT_WATCHED = "members_not_watched"  # days


class PollProblem(StrEnum):
    """Why something was not read. What a broker, a client or the system answered is its `error`, in their words."""

    REDIS_DOWN = "redis_down"  # error
    # Of a cluster.
    NO_BROKER_KNOWN = "no_broker_known"
    TLS_UNUSABLE = "tls_unusable"  # error
    NO_SECRET_KEY = "no_secret_key"  # cluster, access_key
    SECRET_SEALED_OTHERWISE = "secret_sealed_otherwise"  # cluster
    CONNECTIONS_CLOSED = "connections_closed"
    WORK_TOO_LONG = "work_too_long"  # limit_seconds
    # Of a broker.
    NO_MASTER_LISTED = "no_master_listed"  # broker
    NO_ROUTE = "no_route_to_broker"  # topic
    OF_BROKER = "of_broker"  # broker, error
    NOT_ASKED_UNTIL = "not_asked_until"  # error, until
    NOT_ASKED_AFTER_FAILURES = "not_asked_after_failures"  # error, failures, until
    NO_DISPATCH_BACKLOG = "no_dispatch_backlog"
    # Of members.
    NO_BROKER_ASKED = "no_broker_asked"
    BEHIND_PROXY = "behind_proxy"
    CLIENT_PAUSED = "client_paused"  # error, asked, until
    # Of a message.
    MESSAGE_EXPIRED = "message_expired"  # offset, oldest
    MESSAGE_NOT_YET = "message_not_yet"  # offset
    MESSAGE_SKIPPED = "message_skipped"  # offset, next
    WITHOUT_TIME = "message_without_time"  # offset
    # Of a delay level.
    LEVEL_NOT_ASKED = "level_not_asked"
    NO_NEXT_MESSAGE = "no_next_message"  # offset
    NO_DUE_TIME = "no_due_time"  # offset, code
    FROM_SLAVE = "delays_from_slave"
    NO_SCHEDULE_TOPIC = "no_schedule_topic"
    # Of a dead-letter queue.
    DLQ_ONLY_WRITABLE = "dlq_only_writable"  # broker, topic
    BROKER_ONLY_WRITABLE = "broker_only_writable"  # broker
    KEY_NOT_ALLOWED = "key_not_allowed"  # error, topic
    NOTHING_THERE = "nothing_there"  # offset
    UNREADABLE_FOR_NOW = "unreadable_for_now"  # offset


class RebalanceCause(StrEnum):
    """`Rebalance.cause` is one of these, or several with ", " between; first the one to be named first."""

    JOINED = "joined"
    LEFT = "left"
    GONE = "gone"
    SILENT = "silent"
    RECONNECTED = "reconnected"
    RESTARTED = "restarted"
    QUEUE_COUNT = "queue_count"
    SUBSCRIPTION = "subscription"
    STRATEGY = "strategy"
    BROKER = "broker"
    PULL_STUCK = "pull_stuck"
    UNKNOWN = "unknown"


class RebalanceReason(StrEnum):
    """Why a number of a rebalance, or of its topics and queues, is null."""

    # Of the rebalance.
    NO_READING_BEFORE = "no_poll_before"
    NOT_SETTLED = "not_settled"
    NOT_DATED = "not_dated"
    MEMBERS_BEFORE = "members_before_not_sampled"
    MEMBERS_AFTER = "members_after_not_sampled"
    # Of a topic or queue.
    NOT_REPORTED = "not_reported_around"
    NO_TOPIC = "no_topic"
    NO_QUEUE = "no_queue"
    EVERY_MEMBER = "every_member"
    OWN_OFFSETS = "own_offsets"
    LAG_BEFORE = "lag_before_unknown"
    LAG_WITHIN = "lag_within_unknown"
    OWNERS_BEFORE = "owners_before_not_sampled"
    OWNERS_AFTER = "owners_after_not_sampled"
    NO_OLD_OWNER = "no_old_owner"
    NO_START = "no_start"
    NO_END = "no_end"


class VolumeReason(StrEnum):
    """Where a reading has no offset its own reason is the volume's, an UnknownReason; and several have "; " between."""

    NOT_RECORDED = "not_recorded"
    PART_MISSING = "part_missing"
    NO_READING_BEFORE = "no_reading_before"
    OFFSET_UNREAD = "offset_unread"
    CONSUMER_WENT_BACK = "consumer_went_back"
    SET_BY_RESET = "set_by_reset"
    BROKER_WENT_BACK = "broker_went_back"
    TOPIC_RECREATED = "topic_recreated"
    FIRST_COMMIT = "first_commit"
    NO_OWN_QUEUE = "no_own_queue"
    TOPICS_UNREAD = "topics_unread"
    RETRY_UNREAD = "retry_unread"
    DEAD_LETTERS_UNREAD = "dead_letters_unread"
    NOTHING_CONSUMED = "nothing_consumed"
    NO_WINDOW = "no_window"
    # Of a part of the hour or day, with `at_least`: what is known of it. Stored as an object with these names.
    KNOWN_SINCE = "known_since"  # since
    KNOWN_OF_MINUTES = "known_of_minutes"  # minutes, of
    NO_KNOWN_WINDOW = "no_known_window"


_CODES = {reason.value: reason for reason in VolumeReason}


def volume_code(stored: str | Mapping[str, Any]) -> VolumeReason | None:
    """Null for a reason of a reading, for several, and for what another version has stored."""
    return _CODES.get(stored if isinstance(stored, str) else stored["code"])


# Why a dead-letter message was not resent, and why a resend ended early.


class ResendCause(StrEnum):
    # Of a message, before it is sent.
    ADDRESS_UNKNOWN = "address_unknown"  # broker
    MESSAGE_UNREAD = "message_unread"  # error
    MESSAGE_GONE = "message_gone"
    MESSAGE_REPLACED = "message_replaced"
    NO_ORIGIN = "no_origin"
    TOPIC_NEVER_READ = "topic_never_read"  # topic
    ROUTE_UNREAD = "route_unread"  # topic, error
    NO_TARGET = "no_target"  # topic
    TARGET_UNREAD = "target_unread"  # error
    RESENT_BEFORE = "resent_before"  # at, by
    MAYBE_RESENT_BEFORE = "maybe_resent_before"  # at, by
    # Of a message that was, or may have been, sent.
    NO_ANSWER = "no_answer"  # error
    NOT_READ_BACK = "not_read_back"  # error
    NOT_READABLE_YET = "not_readable_yet"
    DIVERTED = "diverted"
    MAYBE_SENT = "maybe_sent"  # why
    QUEUE_RECREATED = "queue_recreated"  # end, floor
    TOO_MANY_SINCE = "too_many_since"  # messages, searched
    OFFSETS_UNREADABLE = "offsets_unreadable"  # from, to
    SEARCH_WITHOUT_END = "search_without_end"  # error
    # Of a whole resend.
    ACCOUNT_GONE = "account_gone"  # user
    PERMISSION_LOST = "permission_lost"  # user, permission, cluster
    FAILURES_IN_A_ROW = "failures_in_a_row"  # messages
    NO_WORKER = "no_worker"


# Why the general worker has nothing to answer a page or REST with.
class AnswerProblem(StrEnum):
    WORKER_FAILED = "answer_worker_failed"
    WORKER_SILENT = "answer_worker_silent"  # n: seconds
    BODIES_NOT_PERMITTED = "bodies_not_permitted"  # permission, cluster
    DUMPS_NOT_PERMITTED = "dumps_not_permitted"  # permission, cluster
    CHECKS_NOT_PERMITTED = "checks_not_permitted"  # permission, cluster
    CLUSTER_GONE = "answer_cluster_gone"  # cluster
    CONNECTION_UNTESTED = "connection_untested"  # error
    GROUP_GONE = "answer_group_gone"  # cluster, group
    NO_BROKER = "answer_no_broker"
    NO_MASTER = "answer_no_master"  # broker
    BROKERS_UNREACHABLE = "brokers_unreachable"  # error
    # Of a message.
    NO_OFFSET_IN_TOPIC = "no_offset_in_topic"  # topic
    MESSAGE_NOT_FETCHED = "message_not_fetched"  # broker, error
    QUEUE_EMPTY = "answer_queue_empty"  # offset
    OUTSIDE_QUEUE = "answer_outside_queue"  # offset, first, last
    NOT_RETURNED = "message_not_returned"  # offset, outcome
    # Of a thread dump.
    CLIENT_GONE = "client_gone"
    THREADS_UNREAD = "threads_unread"  # error
    NO_THREADS = "no_threads"
    DUMP_RUNNING = "dump_running"


class ConnectionCure(StrEnum):
    """What to check first where a call of a connection test fails."""

    ADDRESS = "check_address"
    ANNOUNCED_ADDRESS = "check_announced_address"
    FIREWALL = "check_firewall"
    TLS = "check_tls"
    CERTIFICATE = "check_certificate"
    KEYS = "check_keys"
    PERMISSION = "check_permission"
    VERSION = "check_version"
    NOT_ROCKETMQ = "check_port"
