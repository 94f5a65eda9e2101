"""A round over clients: none is asked twice at once, and those that hang do not take all of a broker's threads."""

import asyncio

from consumers.polling.members.client_round import HUNG, ClientRound
from consumers.polling.members.silences import Silences
from consumers.polling.members.sweep import AT_ONCE
from consumers.polling.members.turn import Budget, Turn
from consumers.polling.reading import Member
from consumers.rocketmq.frames import encode
from consumers.rocketmq.pool import ConnectionPool
from tests.consumers.rocketmq.fake_server import commands, reply, served
from tests.readings import T0

INFO = b'{"mqTable":{},"properties":{},"statusTable":{},"subscriptionSet":[]}'


class Broker:
    """Answers for each client after a moment, never for those in `hanging`; notes who is asked at once."""

    def __init__(self, hanging=()):
        self.hanging, self.asked, self.at_once, self.most_at_once = hanging, [], [], 0

    async def __call__(self, reader, writer):
        answers = set()
        async for request in commands(reader):
            answers.add(asyncio.create_task(self._answer(request, writer)))

    async def _answer(self, request, writer):
        client = request.ext_fields["clientId"]
        self.asked.append(client)
        self.at_once.append(client)
        self.most_at_once = max(self.most_at_once, self.at_once.count(client))
        await asyncio.sleep(3600 if client in self.hanging else 0.01)
        self.at_once.remove(client)
        writer.write(encode(reply(request, body=INFO)))


def read(broker, asked):
    async def main():
        async with ConnectionPool() as pool, served(broker) as address:
            turn = Turn(pool, Budget(100, 100), T0, deadline_seconds=0.2)
            members = [(group, Member(client, "10.0.0.1:5", "JAVA", None, address)) for group, client in asked]
            return await ClientRound(turn, Silences(), None).read(members)

    return asyncio.run(main())


def test_a_client_is_asked_about_one_of_its_groups_at_a_time():
    broker = Broker()
    answers = read(broker, [(f"group-{number}", "shop@1") for number in range(5)])
    assert [answer.error for answer in answers] == [None] * 5
    assert broker.most_at_once == 1


def test_clients_are_asked_beside_each_other():
    broker = Broker(hanging=["b"])
    answers = read(broker, [("g", "a"), ("g", "b"), ("g", "c")])
    assert [(answer.client_id, answer.error is None) for answer in answers] == [("a", True), ("b", False), ("c", True)]


def test_a_client_that_hung_is_not_asked_about_its_other_groups():
    broker = Broker(hanging=["shop@1"])
    answers = read(broker, [("group-1", "shop@1"), ("group-2", "shop@1")])
    assert [answer.group for answer in answers] == ["group-1"]
    assert broker.asked == ["shop@1"]


def test_a_broker_whose_clients_hang_is_asked_no_more_before_its_threads_are_taken():
    names = [f"shop@{number}" for number in range(40)]
    broker = Broker(hanging=names)
    answers = read(broker, [("g", name) for name in names])
    assert all(answer.error for answer in answers)
    assert AT_ONCE <= len(broker.asked) < AT_ONCE + HUNG
