"""A group whose members share the eight queues of Orders, four on each of two brokers."""

from collections.abc import Sequence
from typing import Any

from consumers.models import Assignment, Client, ConsumerGroup, Queue
from consumers.ownership.findings import findings
from consumers.ownership.group_shares import expected_owners
from consumers.queries.findings import DetectedFinding
from consumers.rocketmq.allocation import QueueKey
from consumers.vocabulary.findings import FindingCode
from tests.world import NOW, a_broker, a_client, a_cluster, a_group, a_queue, ago

AVERAGELY, RING = "AllocateMessageQueueAveragely", "AllocateMessageQueueConsistentHash"
BROKERS = ("broker-a", "broker-b")
CLUSTERING = {"messageModel": "CLUSTERING", "clientRebalance": "true"}


def a_shared_group(**fields: Any) -> ConsumerGroup:
    """Settled ten minutes ago; without members."""
    cluster = a_cluster()
    for broker in BROKERS:
        a_broker(cluster, broker)
    settled = {"members_changed_at": ago(600), "settled_at": ago(585)}
    return a_group(cluster, **(settled | fields))


def some_queues(group: ConsumerGroup, topic: str = "Orders", each: int = 4, **fields: Any) -> list[Queue]:
    """On each broker so many; in the order in which clients sort them."""
    queues = [a_queue(group.cluster, topic, number, broker=broker) for broker in BROKERS for number in range(each)]
    Queue.objects.filter(pk__in=[queue.pk for queue in queues]).update(**({"readable": True} | fields))
    return queues


def a_member(group: ConsumerGroup, client_id: str, topics: tuple[str, ...] = ("Orders",), **fields: Any) -> Client:
    """One process that has answered, listed by both brokers."""
    said = [{"topic": topic, "expression": "*", "expression_type": "TAG"} for topic in topics]
    values: dict[str, Any] = {
        "connections": {broker: [f"{client_id}:50001"] for broker in BROKERS},
        "strategy": AVERAGELY,
        "orderly": False,
        "subscriptions": said,
        "settings": CLUSTERING,
        "pop_queues": [],
        "running_info_at": ago(20),
        "listed_since": ago(3600),
    }
    return a_client(group, client_id, **(values | fields))


def holds(group: ConsumerGroup, client_id: str, queues: list[Queue], **fields: Any) -> None:
    """For ten minutes, by an answer of twenty seconds ago."""
    values: dict[str, Any] = {"seen_since": ago(600), "last_seen": ago(20)} | fields
    for queue in queues:
        Assignment.objects.create(group=group, queue=queue, client_id=client_id, **values)


def own_all(group: ConsumerGroup, queues: list[Queue], **fields: Any) -> None:
    """Each queue is held by whom it is to be held by."""
    expected = expected_owners(group)
    for queue in queues:
        for client_id in set(expected.owners.get(queue.pk, ())):
            holds(group, client_id, [queue], **fields)


def found(group: ConsumerGroup) -> dict[FindingCode, DetectedFinding]:
    """The findings by their code, of which there is one each."""
    group.refresh_from_db()
    everything = findings(group, NOW)
    by_code = {finding.code: finding for finding in everything}
    assert len(by_code) == len(everything)
    return by_code


def numbers(queues: Sequence[QueueKey]) -> str:
    """`a0 b3`: queue 0 on broker-a, 3 on broker-b."""
    return " ".join(f"{queue.broker[-1]}{queue.queue_id}" for queue in queues)
