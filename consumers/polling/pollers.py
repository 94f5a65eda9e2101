"""The pollers of a long-lived process, one per cluster: connections and memory outlive a reading."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from consumers.models import ClockChange, Cluster

from .locks import Locked
from .poll import ClusterPoller
from .settings import PollSettings

_pollers: dict[str, ClusterPoller] = {}
# The newest clock change known when each poller was made. A poller may remember times that are in the future after a
# later change.
_made_after: dict[str, int | None] = {}
_busy: dict[str, threading.Lock] = {}
_guard = threading.Lock()


# What distinguishes two registrations of the same name: a poller is made for one registration.
REGISTRATION = ("pk", "namesrv", "access_key", "sealed_secret", "tls", "offset_files", "proxy")


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Allows one poll of a cluster at a time in this process: a poller's memory must match its rows.

    Raises Locked.
    """
    with _guard:
        busy = _busy.setdefault(name, threading.Lock())
    if not busy.acquire(blocking=False):
        raise Locked(f"{name} is being read by this process.")
    try:
        yield
    finally:
        busy.release()


def poller_of(name: str) -> ClusterPoller:
    """The process's poller of a cluster. A poller is replaced if its cluster was registered again or changed, if it
    remembers a forgotten broker or times before a clock change, or if its wire was abandoned. A poll under way then
    ends with WireClosed.
    """
    cluster, change = Cluster.objects.get(name=name), newest_clock_change()
    with _guard:
        known = _pollers.get(name)
        if known is not None and _made_after.get(name) == change and _still_fits(known, cluster):
            return known
        _pollers[name] = poller = ClusterPoller(cluster, PollSettings.of_site())
        _made_after[name] = change
    if known is not None:
        known.close()
    return poller


def newest_clock_change() -> int | None:
    return ClockChange.objects.order_by("-pk").values_list("pk", flat=True).first()


def _still_fits(poller: ClusterPoller, cluster: Cluster) -> bool:
    return poller.wire.usable and registration(poller.cluster) == registration(cluster) and not _is_behind(poller)


def _is_behind(poller: ClusterPoller) -> bool:
    """Whether the poller remembers a broker that was forgotten. Each reading makes rows of all remembered brokers."""
    return not poller.memory.brokers.keys() <= set(poller.cluster.brokers.values_list("name", flat=True))


def registration(cluster: Cluster) -> list[object]:
    return [getattr(cluster, name) for name in REGISTRATION]
