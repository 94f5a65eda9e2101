"""The anomalies of one group, from its shown queues and what else was read of it."""

from collections.abc import Sequence

from django.utils.translation import gettext

from consumers.models import Client, ConsumerGroup, Queue, QueueSample
from consumers.selectors.measures import messages
from consumers.selectors.places import place
from consumers.selectors.queue_rows import QueueRow
from consumers.vocabulary.groups import BROADCASTING, PULLING
from consumers.vocabulary.unknown import NO_LAG_REASONS

from .queues import NOT_SEEN_TO_BEGIN, QueueKey, Start, queue_anomalies
from .rows import Anomaly

# Of these groups it is said already why no member is listed.
OFFLINE_FLAGS = frozenset({"ghost", "habitual", "unlisted_members"})


def group_anomalies(
    group: ConsumerGroup, queues: Sequence[QueueRow], *, online: bool | None, flags: Sequence[str]
) -> list[Anomaly]:
    """The whole group's first, then by sort, topic and broker. `online` is what is shown. Three queries."""
    found = _members_gone(group, queues) if online is False and OFFLINE_FLAGS.isdisjoint(flags) else []
    return [*found, *queue_anomalies(queues, _starts(group)), *_unreadable(group, queues)]


def _members_gone(group: ConsumerGroup, queues: Sequence[QueueRow]) -> list[Anomaly]:
    """A group without a member that has a lag: it crashed, or was stopped.

    Pulling clients are members only while they pull, and a broadcasting group's lag leaves with its members.
    """
    lags = [queue.lag_messages for queue in queues if _is_counted(queue)]
    known = sum(lag for lag in lags if lag is not None)
    if known == 0 or group.consume_type == PULLING or group.message_model == BROADCASTING:
        return []
    last = Client.objects.filter(group=group, gone_by__isnull=False).order_by("-gone_by", "client_id").first()
    since = group.offline_since or (last.gone_by if last else None)
    waiting = messages(known) if None not in lags else gettext("at least %s") % messages(known)
    if last is None:
        says = gettext("no member was ever seen, and %s wait") % waiting
    else:
        words = {"client": last.client_id, "messages": waiting}
        says = gettext("every member is gone, the last was %(client)s, and %(messages)s wait") % words
    cure = gettext("Start a member. If the group is not needed any more, delete it: mqadmin deleteSubGroup.")
    return [Anomaly("members_gone", None, None, (), since, says, cure, {} if since else {"since": NOT_SEEN_TO_BEGIN})]


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


def _unreadable(group: ConsumerGroup, queues: Sequence[QueueRow]) -> list[Anomaly]:
    """Queues of the group's topics that producers write to and no consumer can read; on brokers that are read."""
    read = {queue.broker for queue in queues if queue.broker_offset is not None}
    topics = {queue.topic for queue in queues if queue.state is not None}
    rows = Queue.objects.filter(
        topic__cluster=group.cluster_id, topic__name__in=topics, broker__in=read, readable=False, writable=True
    )
    places: dict[tuple[str, str], list[int]] = {}
    for topic, broker, queue_id in rows.order_by("topic__name", "broker", "queue_id").values_list(
        "topic__name", "broker", "queue_id"
    ):
        places.setdefault((topic, broker), []).append(queue_id)
    says = gettext("can be written to and not read: what is sent there is consumed by nobody")
    cure = gettext(
        "Set the topic's readQueueNums to its writeQueueNums, or the other way round (mqadmin updateTopic -r -w), and "
        "its perm to 6 (-p)."
    )
    return [
        Anomaly(
            name="queue_unreadable",
            topic=topic,
            broker=broker,
            queue_ids=tuple(ids),
            since=None,
            sentence=gettext("%(place)s: %(says)s") % {"place": place(topic, broker, ids), "says": says},
            cure=cure,
            unknown={"since": NOT_SEEN_TO_BEGIN},
        )
        for (topic, broker), ids in places.items()
    ]
