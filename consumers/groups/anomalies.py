"""The anomalies of one group, from its shown queues and other stored rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from consumers.groups.queue_rows import QueueRow
from consumers.models import Broker, Client, ConsumerGroup, Queue, QueueSample, State
from consumers.vocabulary.states import BROADCASTING, MASTER, NO_LAG_REASONS, PULLING, WRITE, RuleCode, UnknownReason
from consumers.words.reasons import stored_words
from consumers.words.spans import count, messages, place

from .rows import Anomaly

# The kinds of queue anomalies, worst first: condition, sentence and advice of each.
# All numbers come from offsets that were read; a kind never applies where one of its offsets is null.


@dataclass(frozen=True)
class Sort:
    """One kind of anomaly. `says` gets the rows of one topic and broker, and continues the sentence after the place."""

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
    return gettext("the consumer offset is ahead of the broker offset%s; the lag is undefined") % most


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
    return gettext("the broker offset went back: the topic or its queues were recreated%s") % least


def _topic_gone(rows: Sequence[QueueRow]) -> str:
    return gettext("the group has offsets there, but the broker has no such topic")


def _queue_gone(rows: Sequence[QueueRow]) -> str:
    return gettext(
        "the group has offsets there, but the topic has fewer read queues, so the remaining messages are not consumed"
    )


def _is_min_above(row: QueueRow) -> bool:
    overlap = _overlap(row)
    return overlap is not None and overlap > 0


# A member that pulls beyond the end is moved to it, and messages stored since the topic was recreated are skipped
# (RocketMQ 5.4.0, DefaultMessageStore.getMessage; DefaultMQPushConsumerImpl.pullMessage, OFFSET_ILLEGAL).
SORTS = (
    Sort(
        "expired_unread",
        lambda row: bool(row.expired_messages),
        _expired,
        gettext_lazy(
            "These messages cannot be recovered: the group continues at the oldest retained message. "
            "Consume faster, or retain messages for longer (fileReservedTime of the broker)."
        ),
        RuleCode.MESSAGES_EXPIRED,
    ),
    Sort(
        "consumer_ahead",
        lambda row: row.unknown_reason_code == UnknownReason.CONSUMER_AHEAD,
        _ahead,
        gettext_lazy(
            "Usual after a topic was recreated, or a broker lost its newest messages. A member that "
            "pulls is moved to the broker offset and skips the messages stored until then. To consume "
            "them too, plan a reset to the oldest retained message before a member joins."
        ),
        RuleCode.LAG_UNKNOWN,
    ),
    Sort(
        "min_above_broker_offset",
        _is_min_above,
        _min_above,
        gettext_lazy(
            "Usual for a short time after a topic was recreated: the min offset is read less often. If "
            "it lasts, search store.log of the broker for errors of this topic's consume queue."
        ),
    ),
    Sort(
        "topic_created_anew",
        lambda row: row.state == State.RECREATED,
        _created_anew,
        gettext_lazy(
            "Offsets that were committed before belong to deleted messages. Compare the consumer offset "
            "with the min and broker offset. If it is ahead, plan a reset to the oldest retained message."
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


# Queues whose offsets cannot be right, or whose messages nobody will consume: reported as anomalies, never as a lag.
# Pure: shown rows in, anomalies out. A queue that is not read has none, because its offsets are unknown.

NOT_SEEN_TO_BEGIN = gettext_lazy("no evaluation saw it begin")
QueueKey = tuple[str, str, int]


@dataclass(frozen=True)
class Start:
    """Where a member starts on a queue without an offset, and by which rule; `offset` null: `error` says why."""

    offset: int | None
    rule: str | None
    error: str | None


NOT_ASKED = Start(None, None, None)


def queue_anomalies(rows: Iterable[QueueRow], starts: Mapping[QueueKey, Start]) -> list[Anomaly]:
    """In the order of SORTS, one for each topic and broker; never-committed queues last, by the rule of their start."""
    # The group's own DLQ and its retired topics have no state: nobody intends to consume them.
    own = [row for row in rows if row.state is not None]
    found: list[Anomaly] = []
    for sort in SORTS:
        places: dict[tuple[str, str], list[QueueRow]] = {}
        for row in own:
            if sort.holds(row):
                places.setdefault((row.topic, row.broker), []).append(row)
        found += [_anomaly(sort, of_place) for of_place in places.values()]
    return found + _never_committed(own, starts)


def _anomaly(sort: Sort, rows: Sequence[QueueRow]) -> Anomaly:
    begun = [row.since for row in rows if row.since is not None and row.rule_code == sort.begins_with_rule]
    return at_place(sort.name, rows, sort.says(rows), str(sort.cure), min(begun, default=None))


def at_place(name: str, rows: Sequence[QueueRow], says: str, cure: str, since: datetime | None = None) -> Anomaly:
    """`rows` are of one topic on one broker."""
    topic, broker, ids = rows[0].topic, rows[0].broker, tuple(row.queue_id for row in rows)
    sentence = gettext("%(place)s: %(says)s") % {"place": place(topic, broker, ids), "says": says}
    return Anomaly(name, topic, broker, ids, since, sentence, cure, {} if since else {"since": str(NOT_SEEN_TO_BEGIN)})


def _never_committed(rows: Iterable[QueueRow], starts: Mapping[QueueKey, Start]) -> list[Anomaly]:
    """A queue without any messages cannot lose one."""
    places: dict[tuple[str, str, str | None, str | None], list[QueueRow]] = {}
    for row in rows:
        if row.unknown_reason_code == UnknownReason.NEVER_COMMITTED and row.broker_offset != 0:
            start = starts.get((row.topic, row.broker, row.queue_id), NOT_ASKED)
            places.setdefault((row.topic, row.broker, start.rule, start.error), []).append(row)
    cure = gettext(
        "Usual while no member has consumed there yet. A committed offset always wins: where this start is not wanted, "
        "set one before a member starts."
    )
    found: list[Anomaly] = []
    for of_place in places.values():
        known = [starts.get((row.topic, row.broker, row.queue_id), NOT_ASKED) for row in of_place]
        words = gettext("the group has committed no offset; %s") % _start_words(known)
        found.append(at_place("never_committed", of_place, words, cure))
    return found


def _start_words(starts: Sequence[Start]) -> str:
    """`starts` share one rule and one error."""
    offsets = [start.offset for start in starts if start.offset is not None]
    if not offsets:
        return gettext("the start offset of a member is unknown: %s") % (
            stored_words(starts[0].error) or gettext("the broker was not asked yet")
        )
    ends = [count(min(offsets)), count(max(offsets))]
    at = ends[0] if ends[0] == ends[1] else gettext("%s to %s") % tuple(ends)
    return gettext("a member would start at %(at)s: %(rule)s") % {"at": at, "rule": stored_words(starts[0].rule)}


# For these groups another reason already says why no member is listed.
OFFLINE_FLAGS = frozenset({"ghost", "habitual", "unlisted_members"})


def group_anomalies(
    group: ConsumerGroup, queues: Sequence[QueueRow], *, online: bool | None, flags: Sequence[str]
) -> list[Anomaly]:
    """Anomalies of the whole group first, then by kind, topic and broker. `online` is the shown value.
    Three queries.
    """
    found = _members_gone(group, queues) if online is False and OFFLINE_FLAGS.isdisjoint(flags) else []
    return [*found, *queue_anomalies(queues, _starts(group)), *_one_way(group, queues)]


def _members_gone(group: ConsumerGroup, queues: Sequence[QueueRow]) -> list[Anomaly]:
    """A group with lag but without members: it crashed, or was stopped.

    Pulling clients are members only while they pull, and a broadcasting group's lag disappears with its members.
    """
    lags = [queue.lag_messages for queue in queues if _is_counted(queue)]
    known = sum(queue.lag_messages_at_least or 0 for queue in queues if _is_counted(queue))
    if known == 0 or group.consume_type == PULLING or group.message_model == BROADCASTING:
        return []
    last = Client.objects.filter(group=group, gone_by__isnull=False).order_by("-gone_by", "client_id").first()
    since = group.offline_since or (last.gone_by if last else None)
    waiting = messages(known) if None not in lags else gettext("at least %s") % messages(known)
    if last is None:
        says = gettext("no member was ever seen; lag %s") % waiting
    else:
        words = {"client": last.client_id, "messages": waiting}
        says = gettext("every member has left, the last was %(client)s; lag %(messages)s") % words
    cure = gettext("Start a member. If the group is not needed any more, delete it: mqadmin deleteSubGroup.")
    return [
        Anomaly("members_gone", None, None, (), since, says, cure, {} if since else {"since": str(NOT_SEEN_TO_BEGIN)})
    ]


def _is_counted(queue: QueueRow) -> bool:
    return queue.state is not None and queue.unknown_reason_code not in NO_LAG_REASONS


def _starts(group: ConsumerGroup) -> dict[QueueKey, Start]:
    samples = QueueSample.objects.filter(group=group, offset=None).values_list(
        "queue__topic__name", "queue__broker", "queue__queue_id", "start_offset", "start_rule", "start_error"
    )
    return {
        (topic, broker, queue_id): Start(offset, rule, error)
        for topic, broker, queue_id, offset, rule, error in samples
    }


# Queues that can only be written, or only be read: what is said of them, and what to do.
ONE_WAY = {
    "queue_unreadable": (
        gettext_lazy("can be written but not read: messages sent there are not consumed"),
        gettext_lazy(
            "Set the topic's readQueueNums to its writeQueueNums, or the other way round (mqadmin updateTopic -r -w), "
            "and its perm to 6 (-p)."
        ),
    ),
    "queue_unwritable": (
        gettext_lazy("can be read but not written: no message arrives there"),
        gettext_lazy(
            "If the topic is scaled in or the broker is drained, consume what is left before you remove the queues. "
            "Otherwise set writeQueueNums to readQueueNums and perm to 6 (mqadmin updateTopic -r -w -p), and give the "
            "broker its write permission back (mqadmin addWritePerm)."
        ),
    ),
}


def _one_way(group: ConsumerGroup, queues: Sequence[QueueRow]) -> list[Anomaly]:
    """Queues of the group's topics that can only be written or only be read, on brokers that are read. Two queries."""
    read = {queue.broker for queue in queues if queue.broker_offset is not None}
    topics = {queue.topic for queue in queues if queue.state is not None}
    rows = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=topics, broker__in=read)
    found = rows.order_by("topic__name", "broker", "queue_id").values_list(
        "topic__name", "broker", "queue_id", "readable", "writable"
    )
    closed = _closed_brokers(group)
    places: dict[str, dict[tuple[str, str], list[int]]] = {name: {} for name in ONE_WAY}
    for topic, broker, queue_id, readable, writable in found:
        name = _one_way_name(readable, False if broker in closed else writable, topic_writable=writable)
        if name is not None:
            places[name].setdefault((topic, broker), []).append(queue_id)
    return [
        Anomaly(
            name=name,
            topic=topic,
            broker=broker,
            queue_ids=tuple(ids),
            since=None,
            sentence=gettext("%(place)s: %(says)s") % {"place": place(topic, broker, ids), "says": ONE_WAY[name][0]},
            cure=str(ONE_WAY[name][1]),
            unknown={"since": str(NOT_SEEN_TO_BEGIN)},
        )
        for name, of_name in places.items()
        for (topic, broker), ids in of_name.items()
    ]


def _one_way_name(readable: bool | None, writable: bool | None, *, topic_writable: bool | None) -> str | None:
    """Null also where one of the two is not known."""
    if readable is False and topic_writable:
        return "queue_unreadable"
    return "queue_unwritable" if readable and writable is False else None


def _closed_brokers(group: ConsumerGroup) -> set[str]:
    """Brokers that take no messages, by their own configuration or by what name servers tell clients."""
    rows = Broker.objects.filter(cluster=group.cluster_id, broker_id=MASTER)
    return {
        name
        for name, *permissions in rows.values_list("name", "permission", "routed_permission")
        if any(one is not None and not one & WRITE for one in permissions)
    }
