"""What name servers tell clients that each broker allows: they can take writing away without the broker's knowing.

They keep a permission for every topic of every broker, and `wipeWritePerm` takes writing from all of a broker's at
once (RocketMQ 5.4.0, RouteInfoManager.operateWritePermOfBroker). SELF_TEST_TOPIC is on every broker with 6 and cannot
be configured (TopicConfigManager): its route says what became of that, by one call whatever the number of brokers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from consumers.rocketmq.name_server import NameServer
from consumers.rocketmq.wire.errors import RocketMQError
from consumers.rocketmq.wire.pool import ConnectionPool

ON_EVERY_BROKER = "SELF_TEST_TOPIC"
READ_OR_WRITE = 6  # PermName; 1, inherit, says nothing here


@dataclass(frozen=True)
class RoutedPermission:
    """`permission` is a sum of 4 (read) and 2 (write). Where `error` is set nothing else of it counts."""

    broker: str
    permission: int | None = None
    error: str | None = None


async def read_routed_permissions(
    pool: ConnectionPool, name_servers: Sequence[str], brokers: Iterable[str], deadline_seconds: float
) -> list[RoutedPermission]:
    """One for each of `brokers`."""
    try:
        route = await NameServer(pool, name_servers).route(ON_EVERY_BROKER, deadline_seconds=deadline_seconds)
    except RocketMQError as error:
        return [RoutedPermission(broker, error=str(error)) for broker in brokers]
    permissions = {queues.broker: queues.perm & READ_OR_WRITE for queues in route.queues}
    absent = f"The name server has no route of {ON_EVERY_BROKER} to it."
    return [
        RoutedPermission(broker, permissions[broker])
        if broker in permissions
        else RoutedPermission(broker, error=absent)
        for broker in brokers
    ]
