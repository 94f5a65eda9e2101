"""A reset whose wire is closed under it: it goes on through another one, or says what it cannot know."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

from consumers.jobs.hold import Hold, NoEnd, close_wires, connected, keep_alive
from consumers.models import Cluster, Reset, ResetOutcome, ResetStatus, ResetStep
from consumers.polling.registration import Wire, WireClosed
from consumers.resets.applying.run import MOST_WIRES, run, work
from consumers.rocketmq.wire.codes import RequestCode
from consumers.words.reasons import stored_words
from tests.consumers.resets.applying.conftest import Site, steps
from tests.consumers.resets.applying.fake_offsets import Act
from tests.fake_clock import FakeClock

RESET = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET


@pytest.fixture
def used(site: Site) -> Iterator[Wire]:
    """The worker's wire, apart from that of the brokers, which lives on."""
    wire = Wire()
    site.ports = replace(site.ports, wire=wire)
    yield wire
    wire.close()


def other_ports(site: Site, made: list[Wire]) -> Callable[[], Any]:
    def reconnect() -> Any:
        made.append(Wire())
        return replace(site.ports, wire=made[-1])

    return reconnect


def worked(site: Site, reset: Reset, clock: FakeClock, pause: Callable[[float], None]) -> int:
    """How many wires it took after the first."""
    made: list[Wire] = []
    work(reset.pk, site.ports, clock, pause, other_ports(site, made))
    for wire in made:
        wire.close()
    reset.refresh_from_db()
    return len(made)


def closing_once(clock: FakeClock, close: Callable[[], None]) -> Callable[[float], None]:
    acts = [close]

    def pause(seconds: float) -> None:
        clock.pause(seconds)
        if acts:
            acts.pop()()

    return pause


def test_one_in_read_back_goes_on_with_the_new_wire(site: Site, used: Wire, clock: FakeClock) -> None:
    reset = site.applying(300)
    assert worked(site, reset, clock, closing_once(clock, used.close)) == 1
    assert (steps(reset), reset.status) == (["CONFIRMED"] * 4, ResetStatus.APPLIED)
    assert [broker.writes for broker in site.brokers.values()] == [[(RESET, 0, 300), (RESET, 1, 300)]] * 2
    assert "Reconnected after its connections were closed." in [
        stored_words(event.sentence) for event in reset.events.all()
    ]


def test_a_write_under_way_is_read_back_and_the_rest_is_written_through_the_new_wire(
    site: Site, used: Wire, clock: FakeClock
) -> None:
    reset = site.applying(300)
    silent = site.brokers["broker-a"]
    silent.acts = [Act.DO_IN_SILENCE]
    site.ports = replace(site.ports, deadline_seconds=5.0)
    closer = threading.Thread(target=close_once_written, args=(used, silent))
    closer.start()
    assert worked(site, reset, clock, clock.pause) == 1
    closer.join()
    assert (steps(reset), reset.status) == (["CONFIRMED"] * 4, ResetStatus.APPLIED)
    assert [broker.writes for broker in site.brokers.values()] == [[(RESET, 0, 300), (RESET, 1, 300)]] * 2
    assert "possibly moved" in str(stored_words(reset.queues_of_it.get(broker="broker-a", queue_id=0).error))


def close_once_written(wire: Wire, broker: Any) -> None:
    written = threading.Event()
    while not broker.writes:
        written.wait(0.01)
    wire.close()


def test_one_whose_wire_closes_again_and_again_ends_unknown(
    site: Site, used: Wire, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    reset = site.applying(300)
    reset.queues_of_it.update(step=ResetStep.WRITTEN, before=500, written_at=clock())
    made: list[Wire] = []

    def closed() -> Any:
        ports = other_ports(site, made)()
        ports.wire.close()
        return ports

    used.close()
    work(reset.pk, site.ports, clock, clock.pause, closed)
    reset.refresh_from_db()
    assert len(made) == MOST_WIRES - 1
    assert (steps(reset), reset.status) == ([ResetOutcome.UNKNOWN] * 4, ResetStatus.PARTIAL)
    assert "connections were lost" in str(stored_words(reset.error))


def test_a_cluster_that_is_registered_with_other_name_servers_is_not_read_back(site: Site, clock: FakeClock) -> None:
    Cluster.objects.update(namesrv="127.0.0.1:1;127.0.0.1:2")
    reset = site.applying(300)

    def registered_elsewhere() -> None:
        Cluster.objects.update(namesrv="127.0.0.1:3")
        connected(Cluster.objects.get())

    try:
        run(reset.pk, clock, closing_once(clock, registered_elsewhere))
    finally:
        close_wires()
    reset.refresh_from_db()
    assert (steps(reset), reset.status) == ([ResetOutcome.UNKNOWN] * 4, ResetStatus.PARTIAL)
    assert "name servers of prod were changed" in str(stored_words(reset.error))


def test_one_whose_cluster_wants_another_key_by_now_goes_on(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)

    def another_proxy() -> None:
        Cluster.objects.update(proxy="127.0.0.1:1")
        connected(Cluster.objects.get())

    try:
        run(reset.pk, clock, closing_once(clock, another_proxy))
    finally:
        close_wires()
    reset.refresh_from_db()
    assert (steps(reset), reset.status) == (["CONFIRMED"] * 4, ResetStatus.APPLIED)


def test_a_worker_does_not_show_for_ever_that_it_lives(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    hold = Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock())
    never: Future[None] = Future()
    with pytest.raises(NoEnd, match=r"no result within 0\.05 s") as raised:
        keep_alive(hold, clock, lambda: never.result(5), beat_seconds=0.01, longest_seconds=0.05)
    assert isinstance(raised.value, WireClosed)
    never.set_result(None)
