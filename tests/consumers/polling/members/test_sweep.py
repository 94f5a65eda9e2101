"""A sweep over the groups of a cluster: brokers and proxies that answer, are busy, or fell silent."""

import asyncio
import contextlib
import json

import pytest

from consumers.polling.members.collected import BEHIND_A_PROXY, Rotation, collect_members
from consumers.polling.members.membership import AT_ONCE, AskedBroker, Budget, Silences, Turn
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import encode
from tests.consumers.rocketmq.fake_server import answering, commands, reply, served, silence
from tests.readings import T0

GROUPS = [f"group-{number}" for number in range(40)]
OFFLINE = 206
BUDGET = Budget(1000, 10)


def listing(*client_ids):
    """A peer that lists these members of every group."""
    connections = [{"clientId": c, "clientAddr": "10.0.0.1:5", "language": "JAVA", "version": 493} for c in client_ids]
    body = {"connectionSet": connections, "subscriptionTable": {}, "messageModel": "CLUSTERING"}
    return answering(lambda request: reply(request, body=json.dumps(body).encode()))


def refusing(code):
    asked = []

    def answer(request):
        asked.append(request)
        return reply(request, code, remark="not now")

    return answering(answer), asked


def sweep(*brokers, **world):
    return list(reading_of(*brokers, **world).groups)


def reading_of(*brokers, proxies=(), groups=GROUPS, deadline_seconds=20.0, budget=BUDGET):
    async def main():
        async with contextlib.AsyncExitStack() as stack:
            pool = await stack.enter_async_context(ConnectionPool())
            at = [await stack.enter_async_context(served(peer)) for peer in (*brokers, *proxies)]
            asked = [AskedBroker(f"broker-{number}", address) for number, address in enumerate(at[: len(brokers)])]
            asked += map(AskedBroker.proxy, at[len(brokers) :])
            turn = Turn(pool, budget, T0, deadline_seconds)
            return await collect_members(turn, "prod", asked, None, Rotation(groups), Silences())

    return asyncio.run(main())


def test_a_member_that_only_a_proxy_lists_belongs_to_the_group():
    offline, _ = refusing(OFFLINE)
    (answer,) = sweep(offline, proxies=[listing("grpc-1")], groups=["g"])
    assert ([member.client_id for member in answer.members], answer.complete) == (["grpc-1"], True)


def test_members_behind_a_proxy_are_not_asked_of_themselves_and_leave_the_budget_to_others():
    (client,) = reading_of(refusing(OFFLINE)[0], proxies=[listing("grpc-1")], groups=["g"]).clients
    assert (client.group, client.client_id, client.error) == ("g", "grpc-1", BEHIND_A_PROXY)


def test_a_proxy_that_does_not_answer_leaves_every_list_incomplete_with_that_reason():
    answers = sweep(listing("c1"), proxies=[silence], deadline_seconds=1.0)
    assert {len(answer.members) for answer in answers} == {1}
    assert all("no answer to GET_CONSUMER_CONNECTION_LIST" in answer.error for answer in answers)


@pytest.mark.parametrize("code", [OFFLINE, 16])
def test_a_broker_that_answers_is_asked_of_every_group(code):
    broker, asked = refusing(code)
    sweep(broker)
    assert len(asked) == len(GROUPS)


def test_a_busy_broker_is_asked_no_more_in_this_sweep():
    broker, asked = refusing(2)
    answers = sweep(broker)
    assert len(asked) <= AT_ONCE
    assert all("SYSTEM_BUSY" in answer.error for answer in answers)


def test_a_silent_broker_costs_one_deadline_however_many_groups_there_are():
    asked = []

    async def silent(reader, writer):
        async for request in commands(reader):
            asked.append(request)

    answers = sweep(silent, deadline_seconds=1.0)
    assert (len(asked), len(answers)) == (AT_ONCE, len(GROUPS))
    assert not any(answer.complete for answer in answers)


def test_no_more_calls_are_under_way_to_one_broker_than_allowed():
    waiting, most = 0, 0

    async def slow(reader, writer):
        nonlocal waiting, most
        held = []
        async for request in commands(reader):
            held.append(request)
            waiting += 1
            most = max(most, waiting)
            if waiting == AT_ONCE or len(held) + answered == len(GROUPS):
                release(held, writer)

    answered = 0

    def release(held, writer):
        nonlocal waiting, answered
        for request in held:
            writer.write(encode(reply(request, OFFLINE)))
        answered += len(held)
        waiting -= len(held)
        held.clear()

    assert all(answer.complete for answer in sweep(slow))
    assert most == AT_ONCE


def test_groups_that_the_time_does_not_reach_are_left_for_the_next_reading():
    broker, asked = refusing(OFFLINE)
    assert (sweep(broker, budget=Budget(1000, 10, membership_seconds=0.0)), asked) == ([], [])
