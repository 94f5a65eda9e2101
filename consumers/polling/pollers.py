"""The pollers of a long-lived process, one per cluster: connections and memory outlive a reading."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from consumers.models import ClockChange, Cluster

from .locks import Locked
from .poll import ClusterPoller
from .settings import PollSettings

_pollers: dict[str, ClusterPoller] = {}
# The newest change of a clock when each was made: times that it remembers may have yet to come since.
_made_after: dict[str, int | None] = {}
_busy: dict[str, threading.Lock] = {}
_guard = threading.Lock()


# What tells two registrations of a name apart: a poller is made for one of them.
REGISTRATION = ("pk", "namesrv", "access_key", "sealed_secret", "tls", "offset_files", "proxy")


@contextmanager
def alone(name: str) -> Iterator[None]:
    """One poll of a cluster at a time in this process: what a poller remembers must be what its rows hold.

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
    """The process's poller of a cluster. One whose cluster was registered anew, or otherwise, is replaced, and so is
    one that remembers a broker which was forgotten, or times of before a clock was set, or whose wire was given up. A
    poll under way then ends with WireClosed.
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
    """Each reading makes rows of all the brokers that it remembers."""
    return not poller.memory.brokers.keys() <= set(poller.cluster.brokers.values_list("name", flat=True))


def registration(cluster: Cluster) -> list[object]:
    return [getattr(cluster, name) for name in REGISTRATION]
