"""RocketMQ's own strategy classes, called for many cases at once in the JVM of this process."""

from collections.abc import Callable, Mapping
from typing import Any

from jpype import JClass

REBALANCE = "org.apache.rocketmq.client.consumer.rebalance."


def java_shares(case: Mapping[str, Any]) -> list[str]:
    """What each of `clients` is given, in their order, as Java prints a list of queues; or the class it threw.

    `strategy` is the name of a class, `argument` what it is constructed or set up with; `queues` and `clients` may be
    in any order: Java sorts them here, as RebalanceImpl does.
    """
    queues, clients = JClass("java.util.ArrayList")(), JClass("java.util.ArrayList")()
    message_queue = JClass("org.apache.rocketmq.common.message.MessageQueue")
    for topic, broker, queue_id in case["queues"]:
        queues.add(message_queue(topic, broker, queue_id))
    for client in case["clients"]:
        clients.add(client)
    collections = JClass("java.util.Collections")
    collections.sort(queues)
    collections.sort(clients)
    strategy = MAKERS[case["strategy"]](case.get("argument"))
    return [_printed(strategy, client, queues, clients) for client in case["clients"]]


def _printed(strategy: Any, client: str, queues: Any, clients: Any) -> str:
    try:
        return str(strategy.allocate("group", client, queues, clients).toString())
    except JClass("java.lang.IllegalArgumentException") as refused:
        return str(refused.getClass().getSimpleName())


def _plain(class_name: str) -> Callable[[Any], Any]:
    return lambda _: JClass(REBALANCE + class_name)()


def _ring(virtual_nodes: int | None) -> Any:
    ring = JClass(REBALANCE + "AllocateMessageQueueConsistentHash")
    return ring() if virtual_nodes is None else ring(virtual_nodes)


MAKERS: dict[str, Callable[[Any], Any]] = {
    "AllocateMessageQueueAveragely": _plain("AllocateMessageQueueAveragely"),
    "AllocateMessageQueueAveragelyByCircle": _plain("AllocateMessageQueueAveragelyByCircle"),
    "AllocateMessageQueueConsistentHash": _ring,
}
