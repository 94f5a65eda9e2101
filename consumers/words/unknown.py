"""Why something is not known."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.unknown import UnknownReason

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


def reason_words(stored: str) -> str:
    """What is no code is said as it is: another version of the product may have stored it."""
    code, _colon, text = stored.partition(":")
    if text and code in OF_BROKER:
        broker, _colon, error = text.partition(": ")
        return str(OF_BROKER[code]) % {"broker": broker, "error": error}
    return str(REASONS.get(stored, stored))
