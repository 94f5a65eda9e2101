"""The sorts of anomalies that one queue can have, worst first: what each looks at, says, and what to do.

Every number comes from offsets that were read; where one is null the sort does not hold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from consumers.models import State
from consumers.selectors.measures import count, messages
from consumers.selectors.queue_rows import QueueRow
from consumers.vocabulary.rules import RuleCode
from consumers.vocabulary.unknown import UnknownReason


@dataclass(frozen=True)
class Sort:
    """One sort of anomaly. `says` gets the rows of one topic and broker, and goes on where the place ends."""

    name: str
    holds: Callable[[QueueRow], bool]
    says: Callable[[Sequence[QueueRow]], str]
    cure: str | Promise
    begins_with_rule: RuleCode | None = None


def _expired(rows: Sequence[QueueRow]) -> str:
    total = messages(sum(row.expired_messages for row in rows if row.expired_messages is not None))
    return gettext("%s were deleted by the broker before the group consumed them") % total


def _beyond(row: QueueRow) -> int | None:
    """How far the consumer offset is ahead of the broker offset."""
    if row.consumer_offset is None or row.broker_offset is None:
        return None
    return row.consumer_offset - row.broker_offset


def _ahead(rows: Sequence[QueueRow]) -> str:
    known = [beyond for beyond in map(_beyond, rows) if beyond is not None]
    most = gettext(", by up to %s") % messages(max(known)) if known else ""
    return gettext("the consumer offset is ahead of the broker offset%s; there is no lag to tell") % most


def _overlap(row: QueueRow) -> int | None:
    """How far the min offset is above the broker offset."""
    if row.min_offset is None or row.broker_offset is None:
        return None
    return row.min_offset - row.broker_offset


def _min_above(rows: Sequence[QueueRow]) -> str:
    most = max(overlap for overlap in map(_overlap, rows) if overlap is not None)
    return gettext("the min offset is above the broker offset, by up to %s") % messages(most)


def _created_anew(rows: Sequence[QueueRow]) -> str:
    known = [row.broker_offset for row in rows if row.broker_offset is not None]
    least = gettext("; it is %s at most") % count(max(known)) if known else ""
    return gettext("the broker offset went back: the topic or its queues were created anew%s") % least


def _topic_gone(rows: Sequence[QueueRow]) -> str:
    return gettext("the group has offsets there, but the broker has no such topic")


def _queue_gone(rows: Sequence[QueueRow]) -> str:
    return gettext(
        "the group has offsets there, but the topic has fewer read queues; nobody consumes what is left there"
    )


def _is_min_above(row: QueueRow) -> bool:
    overlap = _overlap(row)
    return overlap is not None and overlap > 0


# A member that pulls beyond the end is moved to it, and what was stored since a topic was created anew is skipped
# (RocketMQ 5.4.0, DefaultMessageStore.getMessage; DefaultMQPushConsumerImpl.pullMessage, OFFSET_ILLEGAL).
SORTS = (
    Sort(
        "expired_unread",
        lambda row: bool(row.expired_messages),
        _expired,
        gettext_lazy(
            "Nothing brings them back: the group goes on at the oldest message that is kept. Consume faster, or keep "
            "messages for longer (fileReservedTime of the broker)."
        ),
        RuleCode.MESSAGES_EXPIRED,
    ),
    Sort(
        "consumer_ahead",
        lambda row: row.unknown_reason_code == UnknownReason.CONSUMER_AHEAD,
        _ahead,
        gettext_lazy(
            "Usual after a topic was created anew, or a broker lost its newest messages. A member that pulls is moved "
            "to the broker offset and skips what was stored until then. To consume that too, plan a reset to the "
            "oldest message that is kept before one joins."
        ),
        RuleCode.LAG_UNKNOWN,
    ),
    Sort(
        "min_above_broker_offset",
        _is_min_above,
        _min_above,
        gettext_lazy(
            "Usual for a moment after a topic was created anew: the min offset is read less often. If it stays, look "
            "for errors of this topic's consume queue in store.log of the broker."
        ),
    ),
    Sort(
        "topic_created_anew",
        lambda row: row.state == State.RECREATED,
        _created_anew,
        gettext_lazy(
            "Offsets that were committed before belong to messages that are gone. Compare the consumer offset with the "
            "min and broker offset, and plan a reset to the oldest message that is kept if it is ahead."
        ),
        RuleCode.TOPIC_RECREATED,
    ),
    Sort(
        "queue_gone",
        lambda row: row.unknown_reason_code == UnknownReason.QUEUE_GONE,
        _queue_gone,
        gettext_lazy(
            "Raise the topic's readQueueNums again until they are consumed (mqadmin updateTopic -r), then lower it. If "
            "nothing is left there, the offsets do no harm."
        ),
    ),
    Sort(
        "topic_gone",
        lambda row: row.unknown_reason_code == UnknownReason.TOPIC_GONE,
        _topic_gone,
        gettext_lazy(
            "If the topic belongs there, create it again (mqadmin updateTopic -b). If it was deleted for good, the "
            "offsets do no harm; they go with the group (mqadmin deleteSubGroup -r true)."
        ),
    ),
)
