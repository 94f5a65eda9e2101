"""The samples of whole readings: planned, asked and remembered together, at a peer that answers for single queues."""

import asyncio
import json
from dataclasses import replace

import pytest

from consumers.models import Cluster
from consumers.polling.samples.planner import SamplePlanner, ask_samples
from consumers.polling.samples.reading import FirstStored, SampleBudget, SampleMemory, evicted
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import encode
from consumers.vocabulary.states import UnknownReason
from tests.consumers.polling.peer import found, stored
from tests.consumers.rocketmq.fake_server import commands, reply, served
from tests.readings import T0, at, broker, row

pytestmark = pytest.mark.django_db

BEHIND, STARTING = ("billing", "Orders", "broker-a", 0), ("billing", "Orders", "broker-a", 1)
ENTRY = {"physicOffset": 1, "physicSize": 2, "tagsCode": 2598919}
ENTRIES = json.dumps({"minQueueIndex": 0, "maxQueueIndex": 9, "queueData": [ENTRY]}).encode()


def ms(seconds):
    return round(at(seconds).timestamp() * 1000)


def rows(consumer_offset=4, end=9):
    return [
        row("billing", "Orders", 0, consumer_offset, end),
        row("billing", "Orders", 1, None, 9, unknown_reason=UnknownReason.NEVER_COMMITTED),
    ]


class Peer:
    """Each message was stored at the second of its offset by a clock that is `ahead` of this host's."""

    def __init__(self, ahead=0):
        self.ahead = ahead
        self.asked = []

    async def __call__(self, reader, writer):
        async for command in commands(reader):
            self.asked.append(command.code)
            fields = command.ext_fields
            answers = {
                31: lambda: {"ext_fields": {"offset": "0"}},
                14: lambda: {"ext_fields": {"offset": "0"}},
                321: lambda: {"body": ENTRIES},
                11: lambda fields=fields: found(
                    stored(int(fields["queueOffset"]), ms(int(fields["queueOffset"]) + self.ahead))
                ),
            }
            writer.write(encode(reply(command, **answers[command.code]())))


def sampled(peer, readings, budget=None):
    """The samples of each reading, given as (seconds, rows), and what is remembered after the last."""
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    planner = SamplePlanner(cluster)
    memory = SampleMemory(filters={"billing": {"Orders": "TagA"}})

    async def ask(part, plan, seconds):
        async with served(peer) as address, ConnectionPool() as pool:
            placed = [replace(part, address=address)]
            return await ask_samples(pool, placed, memory, plan, at(seconds), at(seconds + 1), 1.0)

    answers = []
    for seconds, wanted in readings:
        part = broker("broker-a", *wanted)
        plan = planner.plan(memory, [part], budget or SampleBudget(), at(seconds))
        answers.append(asyncio.run(ask(part, plan, seconds)))
    return answers, memory


def test_all_kinds_are_asked_at_once_and_counted():
    peer = Peer()
    [answer], memory = sampled(peer, [(20, rows())])
    assert answer.first == {BEHIND: FirstStored(4, at(4), None, at(20))} == answer.holding == memory.first
    assert answer.starts[STARTING].offset == 0
    assert answer.tags["billing", "Orders"].matching == 1
    assert sorted(peer.asked) == [11, 14, 31, 321]
    assert answer.calls == 4


def test_what_holds_costs_nothing_more():
    peer = Peer()
    [_, second], _ = sampled(peer, [(20, rows()), (35, rows())])
    assert (second.calls, second.first, list(second.holding)) == (0, {}, [BEHIND])


def test_what_moved_is_asked_anew_and_what_ended_goes():
    [_, moved, ended], _ = sampled(Peer(), [(20, rows()), (35, rows(5)), (50, rows(9))])
    assert (moved.first[BEHIND].offset, moved.gone_queues) == (5, frozenset())
    assert (ended.first, ended.gone_queues, ended.gone_topics) == ({}, {BEHIND}, {("billing", "Orders")})


@pytest.mark.parametrize(
    ("budget", "asked"),
    [
        (SampleBudget(0, 0, 0), []),
        (SampleBudget(2, 0, 0), [11, 31]),
        (SampleBudget(0, 2, 0), [14]),
        (SampleBudget(0, 0, 1), [321]),
    ],
)
def test_each_kind_has_a_budget_of_its_own(budget, asked):
    peer = Peer()
    sampled(peer, [(20, rows())], budget)
    assert sorted(peer.asked) == asked


def test_a_clock_that_is_far_ahead_takes_the_exactness_away():
    """Messages 9 to 12 come between 5 s and 11 s, and bear store times an hour later."""
    [first, second], memory = sampled(Peer(ahead=3600), [(5, rows(8, 9)), (11, rows(8, 13))], SampleBudget(2, 0, 0))
    assert first.holding[BEHIND].error is not None
    assert second.clocks["broker-a"].low > 3590
    assert memory.first[BEHIND].stored_at is None
    assert "ahead of this host's" in memory.first[BEHIND].error


def test_a_clock_that_is_right_is_bounded_from_both_sides():
    [_, second], memory = sampled(Peer(), [(5, rows(4, 6)), (11, rows(4, 11))], SampleBudget(2, 0, 0))
    low, high = second.clocks["broker-a"].as_list()
    assert low == pytest.approx(-2, abs=0.01)
    assert high == pytest.approx(2, abs=0.01)
    assert memory.first[BEHIND].stored_at == at(4)


def test_without_a_budget_for_exact_time_lags_no_message_is_pulled():
    peer = Peer()
    sampled(peer, [(5, rows(4, 6)), (11, rows(4, 11))], SampleBudget(0, 20, 10))
    assert 11 not in peer.asked


def test_the_longest_unasked_go_where_too_many_are_kept():
    answers = {("g", "T", "b", number): FirstStored(1, T0, None, at(number)) for number in range(5)}
    assert evicted(answers, most=3) == {("g", "T", "b", 0), ("g", "T", "b", 1)}
    assert len(answers) == 3
