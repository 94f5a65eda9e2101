"""States of queues and groups."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.states import (
    BlockedBy,
    Expiry,
    ExpiryForecast,
    Flag,
    OwnerUnknown,
    RuleCode,
    State,
    UnknownReason,
)

STATES: dict[State, str | Promise] = {
    State.LOSS: _("messages lost"),
    State.STOP: _("stopped"),
    State.STALL: _("stalled"),
    State.REWIND: _("went back"),
    State.WARN: _("lagging"),
    State.UNKNOWN: _("unknown"),
    State.RECREATED: _("recreated"),
    State.OK: _("OK"),
}
MEANINGS: dict[State, str | Promise] = {
    State.LOSS: _("Messages expired before the group consumed them, or its committed offset is gone from the broker."),
    State.STOP: _("The group has lag, commits nothing, and has no members."),
    State.STALL: _("The group has members and lag, but commits nothing: a queue is blocked or has no owner."),
    State.REWIND: _("The committed offset went back: messages are redelivered."),
    State.WARN: _("The lag grows, or does not drain."),
    State.UNKNOWN: _("There is not enough data to evaluate the group. The reason is shown with the state."),
    State.RECREATED: _("The topic or queue was recreated: its history starts over."),
    State.OK: _("Caught up, within its threshold, draining, or intentionally idle."),
}
REMEDIES: dict[State, str | Promise] = {
    State.LOSS: _("Speed up the consumers or retain messages longer. If an offset is lost, reset to a past position."),
    State.STOP: _("Start a consumer. If it is running, check its connection to the name servers and brokers."),
    State.STALL: _("Open the tab Retries & DLQ for blocked queues, and Ownership for queues without an owner."),
    State.REWIND: _("Check whether somebody reset the offsets. Consumers must tolerate repeated messages."),
    State.WARN: _("Add consumers, up to one per queue, or make the processing of a message faster."),
    State.UNKNOWN: _("Check the brokers on the page Clusters, then the pipeline below them."),
    State.RECREATED: _("Nothing, if this was intended. Otherwise compare the offsets of the group with the new topic."),
    State.OK: _("Nothing."),
}


RULES: dict[str, str | Promise] = {
    RuleCode.PROGRESS_OUTSIDE: _("progress is stored outside the brokers"),
    RuleCode.NOT_REPORTED: _("no member reports its offset to the broker"),
    RuleCode.NOT_READ: _("not read"),
    RuleCode.OFFSET_LOST: _("offset lost"),
    RuleCode.TOO_FEW_READINGS: _("too few scrapes to evaluate"),
    RuleCode.TOPIC_RECREATED: _("topic recreated"),
    RuleCode.NEVER_COMMITTED: _("never committed"),
    RuleCode.NO_SUCH_QUEUE: _("the broker has no such queue"),
    RuleCode.LAG_UNKNOWN: _("lag unknown"),
    RuleCode.INACTIVE: _("inactive"),
    RuleCode.OFFSET_WENT_BACK: _("offset went back"),
    RuleCode.MESSAGES_EXPIRED: _("unread messages expired"),
    RuleCode.MOVED_TO_OLDEST: _("moved to the oldest message"),
    RuleCode.POPPED_TO_END: _("popped to the end; acks are not in the offset"),
    RuleCode.CAUGHT_UP: _("caught up"),
    RuleCode.WITHIN_THRESHOLD: _("within threshold"),
    RuleCode.WITHIN_THRESHOLD_BEFORE: _("within threshold until recently"),
    RuleCode.PAUSED: _("paused by configuration"),
    RuleCode.OFFLINE_BY_HABIT: _("offline by habit"),
    RuleCode.NO_MEMBERS: _("no members"),
    RuleCode.NO_OWNER: _("no owner"),
    RuleCode.BLOCKED: _("blocked"),
    RuleCode.OWNER_UNKNOWN: _("no commit, owner unknown"),
    RuleCode.FALLING_BEHIND: _("falling behind"),
    RuleCode.NOT_DRAINING: _("not draining"),
    RuleCode.DRAINING: _("draining"),
    RuleCode.TIME_LAG_UNBOUNDED: _("lagging, time lag unknown"),
    RuleCode.LAGGING: _("lagging"),
    RuleCode.NO_OWN_QUEUE: _("no queue of its own topics was read"),
}

BLOCKED_BY: dict[str, str | Promise] = {
    BlockedBy.NOT_SAMPLED: _("not sampled"),
    BlockedBy.ORDERLY_MESSAGE: _("an unfinished orderly message"),
    BlockedBy.FLOW_CONTROL: _("flow control"),
    BlockedBy.MESSAGE: _("an unfinished message"),
    BlockedBy.MESSAGE_AT_LEAST: _(
        "an unfinished message; flow control unknown: the owner does not report its thresholds (default 1,000 messages)"
    ),
    BlockedBy.SUSPENDED: _("suspended by the application"),
    BlockedBy.NOT_PULLING: _("the owner does not pull"),
}

OWNERS: dict[str, str | Promise] = {
    OwnerUnknown.POPPING: _("none: it pops"),
    OwnerUnknown.UNLISTED: _("not listed by any broker"),
    OwnerUnknown.NOT_SAMPLED: _("not sampled"),
}

EXPIRY: dict[str, str | Promise] = {Expiry.UNKNOWN: _("unknown")}
FORECASTS: dict[str, str | Promise] = {
    ExpiryForecast.EXPECTED: _("expected"),
    ExpiryForecast.AT_MOST: _("expected, of the queues that are known"),
    ExpiryForecast.NONE: _("none expected"),
    ExpiryForecast.NO_RETENTION: _("unknown: no retention"),
    ExpiryForecast.NO_TIME_LAG: _("unknown: no time lag"),
    ExpiryForecast.NO_TREND: _("unknown: no trend"),
    ExpiryForecast.UNKNOWN: _("unknown"),
}

# By the names of a rule's evidence.
OF_EVIDENCE: dict[str, Mapping[str, str | Promise]] = {
    "blocked_by": BLOCKED_BY,
    "owner": OWNERS,
    "expiry": EXPIRY,
}


def rule_words(code: str) -> str:
    """A code that is not in the catalogue is said as it is: another version of the product may have stored it."""
    return str(RULES.get(code, code))


REASONS: dict[str, str | Promise] = {
    UnknownReason.NEVER_COMMITTED: _("never committed"),
    UnknownReason.TOPIC_GONE: _("the broker has no such topic"),
    UnknownReason.QUEUE_GONE: _("not among the topic's read queues"),
    UnknownReason.OFFSET_LOST: _("the committed offset is gone from the broker"),
    UnknownReason.NOT_REPORTED: _("no member reports its offset to the broker"),
    UnknownReason.CONSUMER_AHEAD: _("the consumer offset is ahead of the broker offset"),
    UnknownReason.SLAVE_BEHIND: _("the slave that answered lags behind its master"),
    UnknownReason.NO_BROKER_OFFSET: _("the broker did not give this queue's offset"),
    UnknownReason.OUTSIDE_STORE: _("progress is stored outside the brokers"),
    UnknownReason.CONSUMER_OFFSET_UNREAD: _("the consumer offset was not read"),
    UnknownReason.BROKER_OFFSET_UNREAD: _("the broker offset was not read"),
    UnknownReason.OWN_DEAD_LETTERS: _("a group does not consume its own dead-letter messages"),
    UnknownReason.NO_OFFSETS: _("no broker has an offset of this group"),
    UnknownReason.RETIRED_ONLY: _("no member subscribes to a topic that the group has offsets of"),
    UnknownReason.QUEUE_UNKNOWN: _("a queue is unknown"),
    UnknownReason.BROKER_UNREACHABLE: _("a broker could not be read"),
    UnknownReason.BROKER_NEVER_READ: _("a broker was never read"),
    UnknownReason.BROKER_LATE: _("a broker has not been read for too long"),
    UnknownReason.BROKER_NOT_LISTED: _("a broker is not listed in the cluster"),
    UnknownReason.DISPATCH_BEHIND: _("a broker is behind with its dispatch: lags are lower bounds"),
    UnknownReason.NO_BROKER: _("no broker is known yet"),
    UnknownReason.NOT_READ: _("not read"),
    UnknownReason.BROKER_UNREAD: _("a broker of this group was not read"),
    UnknownReason.TIME_LAG_AT_LEAST: _("time lag: older than the retained history"),
    UnknownReason.TIME_LAG_UNKNOWN: _("time lag: unknown for some queues"),
}

# Of those that are stored with a broker's name and error.
OF_BROKER: dict[str, str | Promise] = {
    UnknownReason.BROKER_UNREACHABLE.value: _("%(broker)s could not be read: %(error)s"),
    UnknownReason.BROKER_NEVER_READ.value: _("%(broker)s was never read: %(error)s"),
}
# Of those that are stored with values.
OF_VALUES: dict[str, str | Promise] = {
    UnknownReason.DISPATCH_BEHIND.value: _(
        "%(broker)s has stored %(behind_bytes)s that it has not dispatched: its lags are lower bounds"
    ),
}


# Kinds of groups.

FLAGS: dict[str, str | Promise] = {
    Flag.SYSTEM: _("system"),
    Flag.GHOST: _("inactive"),
    Flag.PAUSED: _("paused"),
    Flag.HABITUAL: _("offline by habit"),
    Flag.RETIRED_TOPICS: _("retired topics"),
    Flag.OUTSIDE_STORE: _("progress stored outside"),
    Flag.UNLISTED_MEMBERS: _("members not listed"),
    Flag.BROADCASTING: _("broadcasting"),
    Flag.POP: _("POP"),
    Flag.TAG_FILTERED: _("tag filter"),
}
