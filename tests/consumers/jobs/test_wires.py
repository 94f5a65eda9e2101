"""The wires of a worker: replaced with the registration, at the cost of nobody who uses them."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from consumers.jobs.hold import close_wires, connected
from consumers.models import Cluster
from consumers.polling.registration import WireClosed
from tests.world import a_cluster

pytestmark = pytest.mark.django_db

SOON_SECONDS = 5.0


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    yield a_cluster()
    close_wires()


def registered_again(cluster: Cluster) -> Cluster:
    Cluster.objects.filter(pk=cluster.pk).update(proxy="10.0.0.7:8081")
    return Cluster.objects.get(pk=cluster.pk)


def test_who_waits_on_a_wire_that_is_replaced_gets_an_error_at_once(cluster: Cluster) -> None:
    wire, started = connected(cluster), threading.Event()

    async def endless() -> None:
        started.set()
        await asyncio.Event().wait()

    threads = ThreadPoolExecutor()
    asked = threads.submit(lambda: wire.run(endless()))
    threads.shutdown(wait=False)
    assert started.wait(SOON_SECONDS)
    other = connected(registered_again(cluster))
    with pytest.raises(WireClosed):
        asked.result(SOON_SECONDS)
    assert (other is wire, other.usable) == (False, True)


def test_a_wire_that_was_given_up_is_replaced(cluster: Cluster) -> None:
    wire = connected(cluster)
    assert connected(cluster) is wire
    with pytest.raises(WireClosed):
        wire.run(asyncio.sleep(SOON_SECONDS), longest_seconds=0.05)
    assert connected(cluster) is not wire
