"""Connections of a long-lived worker, one per cluster, and what a job may reach or write of it."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from django.conf import settings

from consumers.jobs.asking import AnswerFailed
from consumers.models import Cluster
from consumers.polling.poll import registration
from consumers.polling.registration import NoAccess, Wire, WireClosed, access_of
from consumers.queries.read_only import ALL, marked_by
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.name_server import NameServer, Route
from consumers.rocketmq.wire.codes import NameServersFailed, RocketMQError, Unreachable
from consumers.rocketmq.writes import BrokerSends, OffsetWrites
from consumers.vocabulary.reasons import AnswerProblem, ReasonCode, stored_reason
from consumers.vocabulary.states import MASTER
from consumers.words.reasons import stored_words

# The connections of a long-lived worker, one wire per cluster, kept between tasks.
CONNECT_TRIES = 3

_wires: dict[str, tuple[list[object], Wire]] = {}

_guard = threading.Lock()


def connected(cluster: Cluster) -> Wire:
    """The process's wire to a cluster. Raises NoAccess, WireClosed.

    A wire whose cluster was registered otherwise since is replaced, and so is one that was given up: whoever still
    waits for the old one gets WireClosed.
    """
    access = access_of(cluster, settings.SECRET_KEY)
    for tries_left in range(CONNECT_TRIES - 1, -1, -1):
        wire, replaced = _current(cluster)
        if replaced is not None:
            replaced.close()
        try:
            wire.use(access)
            break
        except WireClosed:
            # Another thread has replaced it in this very moment.
            if not tries_left:
                raise
    return wire


def _current(cluster: Cluster) -> tuple[Wire, Wire | None]:
    """With the wire that it replaces, to be closed: that takes a while, and other clusters' callers need not wait."""
    with _guard:
        said, known = _wires.get(cluster.name, ([], None))
        if known is not None and known.usable and said == registration(cluster):
            return known, None
        wire = Wire()
        _wires[cluster.name] = (registration(cluster), wire)
        return wire, known


def masters(cluster: Cluster, wire: Wire) -> dict[str, BrokerAdmin]:
    """By broker name, where the newest reading saw each: letters are read and sent at masters alone."""
    brokers = cluster.brokers.filter(broker_id=MASTER).exclude(address="").order_by("name")
    return {broker.name: BrokerAdmin(wire.pool, broker.address) for broker in brokers}


def close_wires() -> None:
    with _guard:
        wires = [wire for _, wire in _wires.values()]
        _wires.clear()
    for wire in wires:
        wire.close()


# What a job reaches of a cluster: its masters by broker name, and its name servers.
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
    for _attempt in range(TRIES - 1):
        try:
            return await ask()
        except (Unreachable, NameServersFailed):
            await asyncio.sleep(PAUSE_SECONDS)
    return await ask()


@contextmanager
def reaching(problem: AnswerProblem) -> Iterator[None]:
    """What cannot be reached in the block is why there is no answer: `problem`, with its `error`."""
    try:
        yield
    except (NoAccess, RocketMQError) as error:
        raise AnswerFailed(problem, error=str(error)) from None


# The answer to whoever wants to write to a cluster that is marked read-only.
def why_read_only(cluster_name: str) -> str | None:
    """A sentence for whoever wanted to write; null where it may be written to."""
    return stored_words(read_only_reason(cluster_name))


def read_only_reason(cluster_name: str) -> str | None:
    """As it is stored."""
    marked = marked_by(cluster_name)
    if marked is None:
        return None
    if marked not in (cluster_name, ALL):
        return stored_reason(ReasonCode.READ_ONLY_BY_OTHER, cluster=cluster_name, marked=marked)
    return stored_reason(ReasonCode.CLUSTER_READ_ONLY, cluster=cluster_name)
