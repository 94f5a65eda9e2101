"""Why the volume of a window, or of the last hour or day, is not known."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class VolumeReason(StrEnum):
    """Where a reading has no offset its own reason is the volume's, an UnknownReason; and several have "; " between."""

    NOT_RECORDED = "not_recorded"
    PART_MISSING = "part_missing"
    NO_READING_BEFORE = "no_reading_before"
    OFFSET_UNREAD = "offset_unread"
    CONSUMER_WENT_BACK = "consumer_went_back"
    SET_BY_RESET = "set_by_reset"
    BROKER_WENT_BACK = "broker_went_back"
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
