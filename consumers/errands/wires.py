"""The connections of a long-lived worker, one wire per cluster, kept between tasks."""

import threading

from django.conf import settings

from consumers.models import Cluster
from consumers.polling.pollers import registration
from consumers.polling.registration.access import access_of
from consumers.polling.wire import Wire
from consumers.rocketmq.admin import BrokerAdmin
from consumers.selectors.brokers import MASTER

_wires: dict[str, tuple[list[object], Wire]] = {}
_guard = threading.Lock()


def connected(cluster: Cluster) -> Wire:
    """The process's wire to a cluster, another one where it was registered otherwise since. Raises NoAccess."""
    access = access_of(cluster, settings.SECRET_KEY)
    with _guard:
        said, wire = _wires.get(cluster.name, ([], None))
        if wire is None or said != registration(cluster):
            if wire is not None:
                wire.close()
            wire = Wire()
            _wires[cluster.name] = (registration(cluster), wire)
        wire.use(access)
        return wire


def masters(cluster: Cluster, wire: Wire) -> dict[str, BrokerAdmin]:
    """By broker name, where the newest reading saw each: letters are read and sent at masters alone."""
    brokers = cluster.brokers.filter(broker_id=MASTER).exclude(address="").order_by("name")
    return {broker.name: BrokerAdmin(wire.pool, broker.address) for broker in brokers}


def close_wires() -> None:
    with _guard:
        while _wires:
            _wires.popitem()[1][1].close()
