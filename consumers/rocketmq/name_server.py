"""What name servers know: the brokers of a cluster and where a topic's queues are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from consumers.rocketmq.bodies.fastjson import loads
from consumers.rocketmq.bodies.fields import Fields
from consumers.rocketmq.message_calls import DEADLINE_SECONDS, call, parsed
from consumers.rocketmq.wire.codes import (
    BrokerRefused,
    LocalProtocolError,
    NameServersFailed,
    RequestCode,
    ResponseCode,
    RocketMQError,
)
from consumers.rocketmq.wire.connection import ConnectionPool

Value = TypeVar("Value")
MASTER_ID = 0


@dataclass(frozen=True)
class Broker:
    """One broker name. Its processes by broker id: 0 is the master, which is absent while it is down."""

    name: str
    cluster: str
    addresses: dict[int, str]

    @property
    def master(self) -> str | None:
        return self.addresses.get(MASTER_ID)


@dataclass(frozen=True)
class ClusterInfo:
    """`clusters`: the broker names of each cluster that registers here."""

    brokers: list[Broker]
    clusters: dict[str, list[str]]


@dataclass(frozen=True)
class QueueRoute:
    """`perm` is a sum of 4 (read), 2 (write) and 1 (inherit)."""

    broker: str
    read_queues: int
    write_queues: int
    perm: int


@dataclass(frozen=True)
class Route:
    topic: str
    brokers: list[Broker]
    queues: list[QueueRoute]
    order_topic_conf: str | None


class NameServer:
    """Asks the addresses in their order until one answers; raises NameServersFailed with every failure if none does.

    Each has an equal share of a call's deadline. `answered_by` is the one that answered last, None before the first.
    """

    def __init__(self, pool: ConnectionPool, addresses: Sequence[str]) -> None:
        if not addresses:
            raise LocalProtocolError("no address of a name server is given")
        self.addresses = tuple(addresses)
        self.answered_by: str | None = None
        self._pool = pool

    async def cluster(self, *, deadline_seconds: float = DEADLINE_SECONDS) -> ClusterInfo:
        return await self._ask(RequestCode.GET_BROKER_CLUSTER_INFO, {}, _cluster_info, deadline_seconds)

    async def route(self, topic: str, *, deadline_seconds: float = DEADLINE_SECONDS) -> Route:
        """Raises BrokerRefused with TOPIC_NOT_EXIST (17) at once: that is an answer."""
        return await self._ask(
            RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}, lambda body: _route(topic, body), deadline_seconds
        )

    async def _ask(
        self, code: int, ext_fields: Mapping[str, str], parse: Callable[[bytes], Value], deadline_seconds: float
    ) -> Value:
        failures: list[RocketMQError] = []
        share = deadline_seconds / len(self.addresses)
        for address in self.addresses:
            try:
                answer = await call(self._pool, address, code, ext_fields, deadline_seconds=share)
                value = await parsed(parse, answer.body, address)
            except RocketMQError as error:
                if isinstance(error, BrokerRefused) and error.code == ResponseCode.TOPIC_NOT_EXIST:
                    raise
                failures.append(error)
            else:
                self.answered_by = address
                return value
        raise NameServersFailed(failures)


def _cluster_info(body: bytes) -> ClusterInfo:
    answer = Fields(loads(body), RequestCode.GET_BROKER_CLUSTER_INFO)
    clusters = answer.inner("clusterAddrTable")
    return ClusterInfo(
        brokers=[_broker(fields) for _, fields in answer.entries("brokerAddrTable")],
        clusters={answer.as_text(name): clusters.texts(name) for name in clusters.names()},
    )


def _route(topic: str, body: bytes) -> Route:
    answer = Fields(loads(body), RequestCode.GET_ROUTEINFO_BY_TOPIC)
    return Route(
        topic=topic,
        brokers=[_broker(fields) for fields in answer.items("brokerDatas")],
        queues=[_queue_route(fields) for fields in answer.items("queueDatas")],
        order_topic_conf=answer.optional_text("orderTopicConf"),
    )


def _broker(fields: Fields) -> Broker:
    return Broker(fields.text("brokerName"), fields.text("cluster"), fields.numbered_texts("brokerAddrs"))


def _queue_route(fields: Fields) -> QueueRoute:
    return QueueRoute(
        broker=fields.text("brokerName"),
        read_queues=fields.small("readQueueNums"),
        write_queues=fields.small("writeQueueNums"),
        perm=fields.small("perm"),
    )
