"""The round over the clients of a reading, on a real socket."""

import asyncio
import contextlib
import json
from dataclasses import replace
from itertools import chain, repeat

import pytest

from consumers.polling.members.client_round import HUNG, ClientRound
from consumers.polling.members.membership import AT_ONCE, Budget, Silences, Turn
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import encode
from tests.consumers.rocketmq.fake_server import answering, commands, reply, served
from tests.readings import T0, member

TABLES = {"mqTable": {}, "mqPopTable": {}, "statusTable": {}, "subscriptionSet": [], "properties": {}}
INFO = json.dumps(TABLES).encode()
CLIENTS = [f"c{number:02}" for number in range(40)]


def round_over(*peers, clients=CLIENTS, silences=None, deadline_seconds=60.0, seconds=600.0, clock=None):
    """Each peer is a broker that reaches every client; the readings, and the round itself."""

    async def main():
        async with contextlib.AsyncExitStack() as stack:
            pool = await stack.enter_async_context(ConnectionPool())
            at = [await stack.enter_async_context(served(peer)) for peer in peers]
            turn = Turn(pool, Budget(0, 100, running_info_seconds=seconds), T0, deadline_seconds)
            asking = ClientRound(turn, silences if silences is not None else Silences(), None, clock)
            asked = [("g", replace(member(client), broker_address=address)) for address in at for client in clients]
            return await asking.read(asked), asking

    return asyncio.run(main())


def speaking(hung=(), code=0):
    """Passes questions on; these clients never answer."""

    async def behave(reader, writer):
        async for request in commands(reader):
            if request.ext_fields["clientId"] not in hung:
                writer.write(encode(reply(request, code, body=INFO)))

    return behave


def test_every_client_that_is_reached_has_a_reading_in_order():
    readings, asking = round_over(speaking())
    assert [(reading.client_id, reading.error) for reading in readings] == [(client, None) for client in CLIENTS]
    assert asking.asked == len(CLIENTS)


def test_a_hung_client_is_an_error_and_remembered_and_holds_up_no_other():
    silences = Silences()
    readings, _ = round_over(speaking(hung={"c05"}), silences=silences, deadline_seconds=2.0)
    assert [r.client_id for r in readings if r.error] == ["c05"]
    assert "no answer to GET_CONSUMER_RUNNING_INFO" in readings[5].error
    assert silences.fell_silent(("g", "c05"))
    assert not silences.fell_silent(("g", "c04"))


def test_what_the_time_does_not_reach_is_not_asked_and_is_no_error():
    assert round_over(speaking(), seconds=0.0)[0] == []


def test_when_its_time_is_up_a_round_asks_no_further_clients():
    begin, time_is_up = 0.0, 600.0
    clock = chain([begin] * (1 + AT_ONCE), repeat(time_is_up)).__next__
    readings, asking = round_over(speaking(), seconds=time_is_up, clock=clock)
    assert (len(readings), asking.asked) == (AT_ONCE, AT_ONCE)


def test_hung_clients_end_the_round():
    """Each of the forty would hold a thread of its broker until the deadline."""
    _, asking = round_over(speaking(hung=set(CLIENTS)), deadline_seconds=0.2)
    assert HUNG <= asking.asked < AT_ONCE + HUNG


def test_no_more_clients_are_asked_at_once_through_one_broker_than_allowed():
    waiting = []

    async def slow(reader, writer):
        async for request in commands(reader):
            waiting.append(request)
            most.append(len(waiting))
            asyncio.get_running_loop().call_later(0.01, release, request, writer)

    def release(request, writer):
        waiting.remove(request)
        writer.write(encode(reply(request, body=INFO)))

    most = []
    assert len(round_over(slow)[0]) == len(CLIENTS)
    assert max(most) == AT_ONCE


@pytest.mark.parametrize("code", [2])
def test_a_busy_broker_is_asked_no_more_and_its_clients_are_not_called_silent(code):
    silences, asked = Silences(), []
    busy = answering(lambda request: asked.append(request) or reply(request, code))
    readings, _ = round_over(busy, silences=silences)
    assert len(asked) <= AT_ONCE
    assert len(readings) == len(asked)
    assert not silences.silent


def test_one_busy_broker_does_not_keep_another_from_answering():
    readings, _ = round_over(speaking(code=2), speaking())
    assert sum(reading.error is None for reading in readings) == len(CLIENTS)
