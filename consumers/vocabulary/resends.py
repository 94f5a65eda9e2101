"""Why a dead-letter message was not resent, and why a resend ended early: stored as a code with its parameters."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any


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
    # Of a whole resend.
    ACCOUNT_GONE = "account_gone"  # user
    PERMISSION_LOST = "permission_lost"  # user, permission
    FAILURES_IN_A_ROW = "failures_in_a_row"  # messages
    NO_WORKER = "no_worker"


def stored_cause(cause: ResendCause, **values: Any) -> str:
    """`values` may hold a stored cause in turn."""
    return json.dumps({"cause": cause.value, **values})


def cause_of(stored: str | None) -> Mapping[str, Any] | None:
    """Null for what is no cause: the words of a broker, or of an earlier version."""
    try:
        found = json.loads(stored or "")
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.get("cause") in frozenset(ResendCause) else None
