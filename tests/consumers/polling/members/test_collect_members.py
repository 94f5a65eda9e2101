"""A reading of members as a whole, on a real socket: what is planned, asked, left out, and what of it is told."""

import asyncio
import json

import pytest

from consumers.polling.members.collected import KnownGroup, KnownMember, Rotation, collect_members
from consumers.polling.members.membership import AskedBroker, Budget, Silences, Turn
from consumers.rocketmq.wire.codes import RequestCode
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.words.reasons import stored_words
from tests.consumers.rocketmq.fake_server import answering, reply, served
from tests.readings import T0, at

PROPERTIES = {
    "clientRebalance": "false",
    "messageModel": "CLUSTERING",
    "PROP_CONSUMEORDERLY": "false",
    "allocateMessageQueueStrategy": "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@1",
}
ORDERS = {"topic": "Orders", "subString": "*", "expressionType": "TAG", "tagsSet": [], "subVersion": 1000}
GIVEN = {
    "messageQueueAssignments": [{"messageQueue": {"topic": "Orders", "brokerName": "b", "queueId": 0}, "mode": "PULL"}]
}

AMPLE = Budget(100, 100)


class Broker:
    """Lists these members by group, and passes questions on to all but the silent, whom it calls timed out."""

    def __init__(self, groups, *, silent=(), properties=PROPERTIES):
        self.groups, self.silent, self.properties, self.asked = groups, silent, properties, []

    def __call__(self, request):
        fields = dict(request.ext_fields)
        if request.code == RequestCode.GET_CONSUMER_CONNECTION_LIST:
            listed = [
                {"clientId": c, "clientAddr": f"10.0.0.1:{c}", "language": "JAVA", "version": 493}
                for c in self.groups[fields["consumerGroup"]]
            ]
            body = {"connectionSet": listed, "subscriptionTable": {}, "messageModel": "CLUSTERING"}
            return reply(request, body=json.dumps(body).encode())
        if request.code == RequestCode.QUERY_ASSIGNMENT:
            return reply(request, body=json.dumps(GIVEN).encode())
        self.asked.append((fields["consumerGroup"], fields["clientId"]))
        if fields["clientId"] in self.silent:
            return reply(request, 207, remark="timeout")
        tables = {"mqTable": {}, "statusTable": {}, "subscriptionSet": [ORDERS], "properties": self.properties}
        return reply(request, body=json.dumps(tables).encode())


def settled(*client_ids):
    """What the rows know of a group that has not changed."""
    members = {c: KnownMember({"broker-a": [f"10.0.0.1:{c}"]}, at(-100)) for c in client_ids}
    return KnownGroup(settled_at=at(-50), members=members)


def readings(broker, *, known=None, budget=AMPLE, seconds=(0,)):
    """One reading at each of these seconds, with one memory."""

    async def main():
        async with served(answering(broker)) as address, ConnectionPool() as pool:
            rotation, silences = Rotation(list(broker.groups), known or {}), Silences()
            return [
                await collect_members(
                    Turn(pool, budget, at(second), 5.0),
                    "prod",
                    [AskedBroker("broker-a", address)],
                    None,
                    rotation,
                    silences,
                )
                for second in seconds
            ]

    return asyncio.run(main())


def test_a_group_that_changed_in_this_sweep_is_asked_whole_before_the_others():
    broker = Broker({"quiet": ["1"], "grew": ["1", "2"]})
    [reading] = readings(broker, known={"quiet": settled("1"), "grew": settled("1")}, budget=Budget(100, 2))
    assert broker.asked == [("grew", "1"), ("grew", "2")]
    assert (reading.groups_hurried, reading.clients_asked) == (1, 2)


def test_a_client_that_does_not_answer_is_left_alone_while_its_group_is_asked_and_the_reading_says_why():
    broker = Broker({"g": ["hung", "well"]}, silent={"hung"})
    *_, third, fourth = readings(broker, seconds=(0, 15, 30, 75))
    assert [client for _, client in broker.asked].count("hung") == 3
    errors = {client.client_id: client.error for client in third.clients}
    assert errors["well"] is None
    assert "207" in errors["hung"]
    asked, until = "2026-03-01 02:00:15 UTC", "2026-03-01 02:01:15 UTC"
    assert stored_words(errors["hung"]).endswith(f"asked at {asked} and again from {until} on")
    assert [client.client_id for client in fourth.clients] == ["well", "hung"]


def test_each_client_has_one_reading_though_it_fell_silent_in_it():
    first, second = readings(Broker({"g": ["hung"]}, silent={"hung"}), seconds=(0, 15))
    assert [len(reading.clients) for reading in (first, second)] == [1, 1]


def test_silent_clients_of_groups_that_were_not_asked_are_not_told_of():
    broker = Broker({"asked": ["1"], "waits": ["hung", "2"]}, silent={"hung"})
    known = {"asked": settled("1"), "waits": settled("hung", "2")}
    *_, last = readings(broker, known=known, seconds=(0, 15, 30, 45, 60), budget=Budget(100, 1))
    assert broker.asked.count(("waits", "hung")) == 2
    assert [(client.group, client.client_id) for client in last.clients] == [("asked", "1")]


def test_what_the_broker_gives_its_clients_is_told_with_what_they_say():
    [reading] = readings(Broker({"g": ["1"]}))
    assert reading.clients[0].broker_assigned == ({"topic": "Orders", "broker": "b", "queue_id": 0, "mode": "PULL"},)


def test_of_clients_that_share_queues_themselves_the_broker_is_not_asked():
    [reading] = readings(Broker({"g": ["1"]}, properties=PROPERTIES | {"clientRebalance": "true"}))
    assert (reading.clients[0].broker_assigned, reading.calls) == (None, 2)


def test_a_quarter_of_the_calls_is_left_for_what_brokers_give_where_clients_take_all():
    clients = [str(number) for number in range(8)]
    [reading] = readings(Broker({"g": clients}), budget=Budget(100, 8))
    assert sum(client.broker_assigned is not None for client in reading.clients) == 2


def test_a_reading_tells_what_it_cost():
    [reading] = readings(Broker({"g": ["1"], "h": []}))
    assert reading.taken_at == T0
    assert reading.bytes > 100
    assert reading.seconds == pytest.approx(reading.sweep_seconds + reading.running_info_seconds, abs=0.05)
    counts = {name: reading.summary[name] for name in ("groups_read", "clients_asked", "clients_read", "calls")}
    assert counts == {"groups_read": 2, "clients_asked": 1, "clients_read": 1, "calls": 4}
