"""RocketMQ's own strategy classes, called for many cases at once in the JVM of this process."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jpype import JClass, JImplements, JOverride

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


def _machine_room(rooms: Sequence[str]) -> Any:
    strategy = JClass(REBALANCE + "AllocateMessageQueueByMachineRoom")()
    named = JClass("java.util.HashSet")()
    for room in rooms:
        named.add(room)
    strategy.setConsumeridcs(named)
    return strategy


def _nearby(argument: Mapping[str, Any]) -> Any:
    """`rooms` by broker and client, and the class of the `inner` strategy."""
    rooms = argument["rooms"]

    @JImplements(REBALANCE + "AllocateMachineRoomNearby$MachineRoomResolver")
    class Resolver:
        @JOverride
        def brokerDeployIn(self, queue: Any) -> str | None:
            return rooms.get(str(queue.getBrokerName()))

        @JOverride
        def consumerDeployIn(self, client_id: Any) -> str | None:
            return rooms.get(str(client_id))

    return JClass(REBALANCE + "AllocateMachineRoomNearby")(MAKERS[argument["inner"]](None), Resolver())


MAKERS: dict[str, Callable[[Any], Any]] = {
    "AllocateMessageQueueAveragely": _plain("AllocateMessageQueueAveragely"),
    "AllocateMessageQueueAveragelyByCircle": _plain("AllocateMessageQueueAveragelyByCircle"),
    "AllocateMessageQueueConsistentHash": _ring,
    "AllocateMessageQueueByMachineRoom": _machine_room,
    "AllocateMachineRoomNearby": _nearby,
}
