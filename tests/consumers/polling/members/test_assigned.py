"""What brokers give to clients that leave the sharing out of queues to them."""

import asyncio
import json

import pytest

from consumers.polling.members.client_round import topics_asked_for, with_assigned
from consumers.polling.reading import ClientReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.connection import ConnectionPool
from tests.consumers.rocketmq.fake_server import answering, reply, served

LEAVES_IT = {"clientRebalance": "false", "messageModel": "CLUSTERING"}
AVERAGELY = "AllocateMessageQueueAveragely"


def client(*topics, settings=LEAVES_IT, orderly=False, strategy=AVERAGELY):
    subscriptions = tuple(
        {"topic": t, "expression": "*", "expression_type": "TAG"} for t in (*topics, "%RETRY%g", "%RETRY%g_Orders")
    )
    return ClientReading("g", "c1", None, (), strategy, orderly, None, subscriptions, settings)


@pytest.mark.parametrize(
    ("reading", "topics"),
    [
        (client("Orders", "Bills"), ["Bills", "Orders"]),
        (client("Orders", settings={**LEAVES_IT, "clientRebalance": "true"}), []),
        (client("Orders", settings={**LEAVES_IT, "messageModel": "BROADCASTING"}), []),
        (client("Orders", orderly=True), []),
        (client("Orders", orderly=None), []),
        (client("Orders", strategy="AllocateMessageQueueConsistentHash"), []),
        (ClientReading("g", "c1", error="no answer"), []),
    ],
    ids=["leaves it", "shares itself", "broadcasting", "orderly", "not said", "a strategy of its own", "silent"],
)
def test_a_broker_is_asked_of_clients_that_leave_it_to_brokers_only(reading, topics):
    assert topics_asked_for(reading) == topics


def asked(reading, bodies):
    """`bodies`: the answer by topic, or the code of a refusal."""

    def answer(request):
        given = bodies[json.loads(request.body)["topic"]]
        return reply(request, given) if isinstance(given, int) else reply(request, body=json.dumps(given).encode())

    async def main():
        async with served(answering(answer)) as address, ConnectionPool() as pool:
            return await with_assigned(BrokerAdmin(pool, address), reading, 1.0)

    return asyncio.run(main())


def given(topic, *queue_ids, mode="PULL"):
    queues = [{"topic": topic, "brokerName": "broker-a", "queueId": queue_id} for queue_id in queue_ids]
    return {"messageQueueAssignments": [{"messageQueue": queue, "mode": mode} for queue in queues]}


def test_queues_of_all_topics_come_sorted_with_their_mode():
    reading = asked(
        client("Orders", "Bills"), {"Orders": given("Orders", 1, 0), "Bills": given("Bills", -1, mode="POP")}
    )
    assert [(q["topic"], q["broker"], q["queue_id"], q["mode"]) for q in reading.broker_assigned] == [
        ("Bills", "broker-a", -1, "POP"),
        ("Orders", "broker-a", 0, "PULL"),
        ("Orders", "broker-a", 1, "PULL"),
    ]


@pytest.mark.parametrize(("bodies", "why"), [({}, "gives Orders to nobody"), (3, "NOT_SUPPORTED")])
def test_a_part_of_the_topics_is_no_assignment_but_an_error(bodies, why):
    reading = asked(client("Orders", "Bills"), {"Bills": given("Bills", 0), "Orders": bodies})
    assert reading.broker_assigned is None
    assert why in reading.broker_assigned_error


def test_a_client_that_is_given_nothing_is_given_nothing():
    reading = asked(client("Orders"), {"Orders": given("Orders")})
    assert (reading.broker_assigned, reading.broker_assigned_error) == ((), None)
