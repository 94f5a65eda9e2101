"""The connections of a long-lived worker, one wire per cluster, kept between tasks."""

import threading

from django.conf import settings

from consumers.models import Cluster
from consumers.polling.pollers import registration
from consumers.polling.registration.access import access_of
from consumers.polling.wire import Wire, WireClosed
from consumers.rocketmq.admin import BrokerAdmin
from consumers.selectors.clusters.brokers import MASTER

TRIES = 3

_wires: dict[str, tuple[list[object], Wire]] = {}
_guard = threading.Lock()


def connected(cluster: Cluster) -> Wire:
    """The process's wire to a cluster. Raises NoAccess, WireClosed.

    A wire whose cluster was registered otherwise since is replaced, and so is one that was given up: whoever still
    waits for the old one gets WireClosed.
    """
    access = access_of(cluster, settings.SECRET_KEY)
    for tries_left in range(TRIES - 1, -1, -1):
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
