"""Pollers of many clusters in one process, each with connections of its own."""

import asyncio
import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings as site

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling import poll
from consumers.polling.brokers.broker_turn import collect_offsets
from consumers.polling.locks import Locked
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence, ClusterMemory
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.polling.registration import Access, Wire, set_secret
from consumers.rocketmq.wire.codes import Credentials, TlsOptions
from consumers.vocabulary.reasons import PollProblem
from tests.consumers.polling.fake_broker import FakeBroker
from tests.consumers.rocketmq.fake_server import served, silence
from tests.readings import T0, at

pytestmark = pytest.mark.django_db(transaction=True)


@contextlib.contextmanager
def listening(*behaviours):
    """Their addresses; they are served in a thread of their own."""
    loop = asyncio.new_event_loop()
    ready, stop, addresses = threading.Event(), asyncio.Event(), []

    async def serve():
        async with contextlib.AsyncExitStack() as stack:
            for behaviour in behaviours:
                addresses.append(await stack.enter_async_context(served(behaviour)))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield addresses
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@pytest.fixture
def poll_settings(tmp_path):
    return PollSettings(Cadence(0, 0), Budget(10, 10), 0.5, Lake.at(str(tmp_path)), 0)


@contextlib.contextmanager
def polling(cluster, poll_settings):
    poller = ClusterPoller(cluster, poll_settings)
    try:
        yield poller
    finally:
        poller.close()


def a_cluster(name, namesrv, **fields):
    return Cluster.objects.create(name=name, namesrv=namesrv, created_at=T0, **fields)


@pytest.fixture
def healthy():
    """The address of a name server whose one broker answers at the same address."""
    broker = FakeBroker()
    with listening(broker) as (address,):
        broker.lists = {0: address}
        yield address


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param({"namesrv": "127.0.0.1:1"}, id="nobody listens"),
        pytest.param({"tls": {"ca": "/nowhere.pem", "certificate": None, "key": None, "verify": True}}, id="no CA"),
        pytest.param({"access_key": "monitor", "sealed_secret": "gAAAAAB"}, id="another site key"),
    ],
)
def test_a_broken_cluster_is_unknown_with_its_reason_and_touches_no_other(broken, healthy, poll_settings):
    bad = a_cluster("bad", **{"namesrv": healthy} | broken)
    good = a_cluster("good", healthy)
    with polling(bad, poll_settings) as of_bad, polling(good, poll_settings) as of_good:
        first, second = of_bad.poll(T0), of_good.poll(T0)
    assert (first.row.complete, first.row.queues, second.row.complete, second.row.queues) == (False, 0, True, 1)
    assert first.row.error


def read(wire, name, name_server):
    work = collect_offsets(wire.pool, name, [name_server], ClusterMemory(), Cadence(0, 0), T0, 3.0)
    return wire.run(work), time.monotonic()


def test_a_silent_cluster_holds_up_no_other(healthy):
    slow, good = Wire(), Wire()
    with listening(silence) as (silent,), ThreadPoolExecutor() as threads:
        of_slow = threads.submit(read, slow, "slow", silent)
        reading, ended = read(good, "good", healthy)
        silent_reading, silent_ended = of_slow.result()
        slow.close()
        good.close()
    assert (reading.complete, silent_reading.complete, ended < silent_ended) == (True, False, True)


def test_connections_stay_until_there_is_another_access():
    wire = Wire()
    pools = [wire.pool]
    for access in (Access(), Access(Credentials("m", "s")), Access(Credentials("m", "s")), Access(tls=TlsOptions())):
        wire.use(access)
        pools.append(wire.pool)
    wire.close()
    assert [pools.index(pool) for pool in pools] == [0, 0, 2, 2, 4]


def test_a_changed_site_key_is_said_on_every_known_broker(healthy, poll_settings, settings):
    cluster = a_cluster("prod", healthy)
    set_secret(cluster, "monitor", "s3cret", site.SECRET_KEY)
    with polling(cluster, poll_settings) as poller:
        assert poller.poll(T0).row.complete
        settings.SECRET_KEY = "another"
        reading = poller.poll(at(15)).offsets
    assert PollProblem.SECRET_SEALED_OTHERWISE in reading.error
    assert [(part.name, part.error) for part in reading.brokers] == [("broker-a", reading.error)]


def test_a_poller_is_kept_until_the_registration_changes(healthy, settings, tmp_path):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    cluster = a_cluster("kept", healthy)
    try:
        first = poll.poller_of("kept")
        assert poll.poller_of("kept") is first
        for change in ({"proxy": "10.0.0.7:8080"}, {"access_key": "m"}, {"tls": {"verify": True}}, {"namesrv": "a:1"}):
            Cluster.objects.filter(pk=cluster.pk).update(**change)
            assert poll.poller_of("kept") is not first
            first = poll.poller_of("kept")
    finally:
        poll._pollers.pop("kept").close()


def test_a_poll_that_lost_its_lock_records_nothing(healthy, poll_settings):
    def lost():
        raise Locked("poll:prod took too long")

    cluster = a_cluster("prod", healthy)
    with polling(cluster, poll_settings) as poller, pytest.raises(Locked):
        poller.poll(T0, lost)
    assert not cluster.readings.exists()


def test_a_poller_whose_wire_was_given_up_is_replaced(healthy, settings, tmp_path):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    a_cluster("kept", healthy)
    try:
        first = poll.poller_of("kept")
        first.wire.close()
        assert poll.poller_of("kept") is not first
    finally:
        poll._pollers.pop("kept").close()
