"""What callers of a wire get when it is closed, or stuck, under them: an error, and soon."""

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from consumers.polling.registration import Access, Wire, WireClosed
from consumers.rocketmq.wire.codes import Credentials
from consumers.vocabulary.reasons import PollProblem

SOON_SECONDS = 5.0


@pytest.fixture
def wire() -> Iterator[Wire]:
    wire = Wire()
    yield wire
    wire.close()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor()
    yield pool
    pool.shutdown(wait=False, cancel_futures=True)


def begun(wire: Wire, threads: ThreadPoolExecutor) -> "Future[None]":
    """A call that would go on for ever, once it has begun."""
    started = threading.Event()

    async def endless() -> None:
        started.set()
        await asyncio.Event().wait()

    asked = threads.submit(lambda: wire.run(endless()))
    assert started.wait(SOON_SECONDS)
    return asked


def test_a_call_under_way_fails_when_the_wire_is_closed(wire: Wire, threads: ThreadPoolExecutor) -> None:
    asked = [begun(wire, threads) for _ in range(3)]
    wire.close()
    for one in asked:
        with pytest.raises(WireClosed, match=PollProblem.CONNECTIONS_CLOSED) as raised:
            one.result(SOON_SECONDS)
        assert not raised.value.never_sent


def test_a_call_after_the_wire_was_closed_is_not_begun(wire: Wire) -> None:
    wire.close()
    began = []

    async def note() -> None:
        began.append(1)

    with pytest.raises(WireClosed) as raised:
        wire.run(note())
    assert (raised.value.never_sent, began, wire.usable) == (True, [], False)


def test_a_wire_may_be_closed_twice_and_by_many_at_once(wire: Wire, threads: ThreadPoolExecutor) -> None:
    for closing in [threads.submit(wire.close) for _ in range(4)]:
        closing.result(SOON_SECONDS)
    wire.close()


def test_another_access_to_a_closed_wire_is_refused_with_the_same_error(wire: Wire) -> None:
    wire.close()
    with pytest.raises(WireClosed):
        wire.use(Access(Credentials("m", "s")))


def test_a_call_that_does_not_end_gives_the_wire_up(wire: Wire, threads: ThreadPoolExecutor) -> None:
    other = begun(wire, threads)

    async def endless() -> None:
        await asyncio.Event().wait()

    began = time.monotonic()
    with pytest.raises(WireClosed, match=PollProblem.WORK_TOO_LONG):
        wire.run(endless(), longest_seconds=0.2)
    assert time.monotonic() - began < SOON_SECONDS
    assert not wire.usable
    wire.close()
    with pytest.raises(WireClosed):
        other.result(SOON_SECONDS)


def test_a_loop_that_is_stuck_holds_up_neither_its_callers_nor_who_closes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consumers.polling.registration.CLOSE_SECONDS", 0.2)
    wire, over = Wire(), threading.Event()

    async def stuck() -> None:
        over.wait(SOON_SECONDS)

    try:
        with pytest.raises(WireClosed, match=PollProblem.WORK_TOO_LONG):
            wire.run(stuck(), longest_seconds=0.2)
        began = time.monotonic()
        wire.close()
        assert time.monotonic() - began < SOON_SECONDS / 2
    finally:
        over.set()


def test_what_the_work_raises_is_raised_and_the_wire_stays(wire: Wire) -> None:
    async def too_slow() -> None:
        raise TimeoutError("of its own")

    async def well() -> int:
        return 7

    with pytest.raises(TimeoutError, match="of its own"):
        wire.run(too_slow())
    assert (wire.run(well()), wire.usable) == (7, True)
