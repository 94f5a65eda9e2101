"""What comes back from brokers and name servers and is no answer, or is another's."""

from collections.abc import Iterator
from contextlib import contextmanager

from dashboard.demo.children import free_ports
from dashboard.demo.cluster import RocketMQ
from tests.faults.fault import Fault, broker_unread
from tests.faults.stage import Stage
from tests.faults.story import VICTIM
from tests.faults.tunnel import Spoil


def _spoilt(spoil: Spoil, *, short: bool = False) -> Fault:
    @contextmanager
    def made(stage: Stage) -> Iterator[None]:
        tunnel = stage.tunnels[VICTIM]
        tunnel.turn(spoil)
        try:
            yield
        finally:
            tunnel.turn(Spoil.NOTHING)

    name = f"an answer of a broker {spoil.value}"
    return Fault(name, made, (broker_unread,), seconds=30.0, short_seconds=10.0 if short else None)


@contextmanager
def _wrong_route(stage: Stage) -> Iterator[None]:
    """Nobody listens there."""
    front, own = stage.tunnels["name server"], stage.rocketmq.brokers[VICTIM].address.encode()
    right = front.rewrites[own]
    front.rewrites[own] = f"127.0.0.1:{free_ports(0)}".encode()
    try:
        yield
    finally:
        front.rewrites[own] = right


@contextmanager
def _other_cluster(stage: Stage) -> Iterator[None]:
    """Another broker of the same name got the address: it answers well, and has nothing of ours."""
    config = {"brokerClusterName": "another"}
    with RocketMQ(stage.site.home.with_name("another"), stage.rocketmq.jars, config=config) as another:
        tunnel = stage.tunnels[VICTIM]
        tunnel.lead_to(another.brokers[VICTIM].port)
        try:
            yield
        finally:
            tunnel.lead_to(stage.rocketmq.brokers[VICTIM].port)


ANSWER_FAULTS = (
    *(_spoilt(spoil, short=spoil is Spoil.SILENT) for spoil in Spoil if spoil is not Spoil.NOTHING),
    Fault("a name server that tells a wrong address of a broker", _wrong_route, (broker_unread,), seconds=20.0),
    Fault("the address of a broker is another cluster's by now", _other_cluster, (broker_unread,), seconds=30.0),
)
