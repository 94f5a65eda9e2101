"""What a job reaches of a cluster: its masters by broker name, and its name servers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from consumers.models import Cluster
from consumers.polling.wire import Wire
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.name_server import NameServer, Route
from consumers.rocketmq.offset_writes import OffsetWrites
from consumers.rocketmq.sends import BrokerSends
from consumers.rocketmq.wire.errors import NameServersFailed, Unreachable
from consumers.selectors.clusters.brokers import MASTER

TRIES, PAUSE_SECONDS = 3, 0.2

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Ports:
    wire: Wire
    addresses: Mapping[str, str]
    name_servers: list[str]
    deadline_seconds: float = 5.0
    proxies: tuple[str, ...] = ()

    @classmethod
    def of(cls, cluster: Cluster, wire: Wire, deadline_seconds: float = 5.0) -> "Ports":
        masters = cluster.brokers.filter(broker_id=MASTER).exclude(address="")
        addresses = dict(masters.values_list("name", "address"))
        return cls(wire, addresses, cluster.name_servers, deadline_seconds, tuple(cluster.proxies))

    def admin(self, broker: str) -> BrokerAdmin | None:
        """Null for one that no reading has seen."""
        address = self.addresses.get(broker)
        return None if address is None else BrokerAdmin(self.wire.pool, address)

    def known(self, broker: str) -> BrokerAdmin:
        return BrokerAdmin(self.wire.pool, self.addresses[broker])

    def sends(self, broker: str) -> BrokerSends:
        return BrokerSends(self.wire.pool, self.addresses[broker])

    def writes(self, broker: str) -> OffsetWrites:
        return OffsetWrites(self.wire.pool, self.addresses[broker])

    async def route(self, topic: str) -> Route:
        """Raises RocketMQError."""
        return await NameServer(self.wire.pool, self.name_servers).route(topic, deadline_seconds=self.deadline_seconds)


async def reading(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """Asks again where a connection broke: a look may be repeated, unlike a send. Raises RocketMQError."""
    for _ in range(TRIES - 1):
        try:
            return await ask()
        except (Unreachable, NameServersFailed):
            await asyncio.sleep(PAUSE_SECONDS)
    return await ask()
