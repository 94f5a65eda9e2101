"""Groups whose queues changed hands, as polling would have recorded it. Times: seconds before `tests.world.NOW`."""

from collections.abc import Sequence

from consumers.models import (
    Assignment,
    Client,
    ClientSubscription,
    Cluster,
    ConsumerGroup,
    Queue,
    QueueSnapshot,
    Reading,
)
from tests.rebalance_rows import a_move, a_moved_topic, a_rebalance
from tests.world import a_group, a_judged_group, a_queue, a_total, ago

STRATEGY = "AllocateMessageQueueAveragely"
POLL, HOUR = 15, 3600
Stay = tuple[str, int, int, int | None]


def read_for_an_hour(cluster: Cluster) -> None:
    """The readings that are not there yet."""
    there = set(cluster.readings.values_list("taken_at", flat=True))
    read = [{"name": "broker-a", "read": True, "error": None}]
    values = {"complete": True, "brokers": read, "queues": 4, "calls": 4, "bytes": 1900, "seconds": 0.41}
    moments = (ago(seconds) for seconds in range(5, HOUR + 200, POLL))
    Reading.objects.bulk_create(Reading(cluster=cluster, taken_at=at, **values) for at in moments if at not in there)


def a_fleet(
    cluster: Cluster, name: str, topic: str, brokers: Sequence[str], queues: int, members: int
) -> ConsumerGroup:
    """Half an hour ago its last member joined, and the queues were shared anew."""
    group = a_group(cluster, name, members=members, membership_at=ago(5), settled_at=ago(1770))
    group.subscriptions = [{"topic": topic, "expression": "*", "expression_type": "TAG"}]
    group.members_changed_at = ago(1785)
    group.save()
    a_total(group, 0, queues=queues)
    a_judged_group(group, last_rebalance_at=ago(1800))
    ids = [client_id(number) for number in range(members)]
    for number, one in enumerate(ids):
        a_member(group, one, topic, brokers, since=1800 if number == members - 1 and members > 1 else 9000)
    own = [a_queue(cluster, topic, n // len(brokers), broker=brokers[n % len(brokers)]) for n in range(queues)]
    own.sort(key=lambda queue: (queue.broker, queue.queue_id))
    Queue.objects.filter(topic__name=topic).update(readable=True, writable=True)
    QueueSnapshot.objects.bulk_create(
        QueueSnapshot(group=group, queue=queue, consumer_offset=900, broker_offset=900, min_offset=0, changed_at=ago(5))
        for queue in own
    )
    before, after = shares(queues, ids[:-1] or ids), shares(queues, ids)
    rows = [stay for queue, *ends in zip(own, before, after, strict=True) for stay in _moved(group, queue, *ends)]
    Assignment.objects.bulk_create(rows)
    event = a_rebalance(group, ago(1800), members_before=members - 1, members_after=members)
    a_moved_topic(event, topic, queues=queues, moves=[a_move(0, ids[0], ids[-1])])
    return group


def client_id(number: int) -> str:
    """In the order of their numbers as texts too, which is the order in which clients share queues."""
    return f"10.0.1.{number + 100}@{3300 + number}"


def shares(queues: int, ids: Sequence[str]) -> list[str]:
    """In a row, the first members one more where it does not go into equal parts."""
    size, more = divmod(queues, len(ids))
    return [one for number, one in enumerate(ids) for _queue in range(size + (number < more))]


def a_member(
    group: ConsumerGroup, one: str, topic: str, brokers: Sequence[str], *, since: int, **fields: object
) -> None:
    address = f"{one.split('@')[0]}:5{one.split('@')[1]}"
    values: dict[str, object] = {
        "address": address, "language": "JAVA", "version": "V5_4_0", "strategy": STRATEGY, "orderly": False,
        "started_at": ago(since), "settings": {"messageModel": "CLUSTERING", "clientRebalance": "true"},
        "connections": {broker: [address] for broker in brokers}, "listed_since": ago(since),
        "subscriptions": group.subscriptions, "seen_since": ago(since), "last_seen": ago(5), "pop_queues": [],
        "running_info_at": ago(5), "sub_version": ago(1790),
    }  # fmt: skip
    Client.objects.create(group=group, client_id=one, **(values | fields))
    ClientSubscription.objects.create(
        group=group, client_id=one, topic=topic, expression="*", expression_type="TAG", seen_since=ago(since),
        last_seen=ago(5),
    )  # fmt: skip


def _moved(group: ConsumerGroup, queue: Queue, before: str, after: str) -> list[Assignment]:
    if before == after:
        return [a_stay(group, queue, (before, 9000, 5, None))]
    return [a_stay(group, queue, (before, 9000, 1815, 1800)), a_stay(group, queue, (after, 1800, 5, None))]


def a_stay(group: ConsumerGroup, queue: Queue, stay: Stay) -> Assignment:
    """Not saved yet. Its owner, when it was first told, when last, and when it was denied."""
    owner, since, told, gone = stay
    return Assignment(
        group=group, queue=queue, client_id=owner, seen_since=ago(since), last_seen=ago(told),
        gone_by=None if gone is None else ago(gone), locked=False, dropped=False,
    )  # fmt: skip


def trouble(group: ConsumerGroup) -> None:
    """Two minutes ago the last queue lost its owner; for five minutes the first has had two."""
    stays = Assignment.objects.filter(group=group, gone_by=None).order_by("queue__broker", "queue__queue_id")
    first, last = stays.first(), stays.last()
    assert first is not None
    assert last is not None
    a_stay(group, first.queue, (last.client_id, 300, 5, None)).save()
    Assignment.objects.filter(pk=last.pk).update(last_seen=ago(140), gone_by=ago(125))
    group.members_changed_at, group.settled_at = ago(125), ago(110)
    group.save()
