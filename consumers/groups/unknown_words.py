"""Why a number of a group is not known, as one word of a short list: for labels, which hold no times or errors."""

from datetime import datetime
from enum import StrEnum

from consumers.groups.overlay import NO_BROKER, Overlay
from consumers.queries.brokers import BrokerAge
from consumers.queries.limits import Limits
from consumers.vocabulary.unknown import UnknownReason, code_of


# The sentences with broker, error and time are on pages and in REST.
class UnknownWord(StrEnum):
    NO_BROKER = "no_broker"
    BROKER_UNREACHABLE = "broker_unreachable"
    BROKER_NEVER_READ = "broker_never_read"
    BROKER_LATE = "broker_late"
    NOT_READ = "not_read"
    NO_OFFSETS = "no_offsets"
    RETIRED_ONLY = "retired_only"
    OUTSIDE_STORE = "outside_store"
    NEVER_COMMITTED = "never_committed"
    OFFSET_LOST = "offset_lost"
    TOPIC_GONE = "topic_gone"
    QUEUE_GONE = "queue_gone"
    CONSUMER_AHEAD = "consumer_ahead"
    NO_BROKER_OFFSET = "no_broker_offset"
    NOT_REPORTED = "not_reported"
    SLAVE_BEHIND = "slave_behind"
    QUEUE_UNKNOWN = "queue_unknown"
    NOT_JUDGED = "not_judged"
    JUDGEMENT_LATE = "judgement_late"
    TIME_LAG_UNTOLD = "time_lag_untold"
    RETRY_SHARE_UNTOLD = "retry_share_untold"
    DLQ_DAY_UNTOLD = "dlq_day_untold"
    RATES_UNTOLD = "rates_untold"
    VOLUMES_UNTOLD = "volumes_untold"
    DRAIN_UNTOLD = "drain_untold"
    EXPIRY_UNTOLD = "expiry_untold"
    DLQ_INFLOW_UNTOLD = "dlq_inflow_untold"
    UNSETTLED_UNTOLD = "unsettled_untold"
    OWNERS_UNTOLD = "owners_untold"
    HELD_MESSAGES_UNTOLD = "held_messages_untold"
    MEMBERS_NOT_ASKED = "members_not_asked"
    MEMBERS_UNREAD = "members_unread"
    DEAD_LETTERS_UNREAD = "dead_letters_unread"
    MIN_OFFSETS_UNREAD = "min_offsets_unread"
    CLUSTER_NAME_UNREAD = "cluster_name_unread"
    NAME_SERVER_NOT_ASKED = "name_server_not_asked"
    READINGS_NOT_KEPT = "readings_not_kept"


# Codes of both have the same names.
OF_TOTAL = frozenset(UnknownReason) & frozenset(UnknownWord)


def broker_word(broker: BrokerAge, now: datetime, limits: Limits) -> UnknownWord | None:
    """None while the broker's newest reading succeeded and is recent enough."""
    code = broker.unread_code(now, limits)
    return None if code is None else UnknownWord(code)


def unread_word(overlay: Overlay, unread_by: int | None) -> UnknownWord | None:
    """For a group's `unread_by`; None where everything of the group is read."""
    if unread_by is None:
        return None
    if unread_by == NO_BROKER:
        return UnknownWord.NO_BROKER
    return broker_word(overlay.brokers[unread_by], overlay.now, overlay.limits)


def lag_word(has_total: bool, unknown_reason: str | None, outside_store: str | None) -> UnknownWord:
    """Why a group that is read has no lag."""
    if not has_total:
        return UnknownWord.NOT_READ
    if outside_store is not None:
        return UnknownWord.OUTSIDE_STORE
    code = code_of(unknown_reason)
    return UnknownWord(code) if code in OF_TOTAL else UnknownWord.QUEUE_UNKNOWN
