"""The answers of several brokers about one group, united."""

from datetime import UTC, datetime

import pytest

from consumers.polling.members.membership import AskedBroker, unite
from consumers.rocketmq.bodies.client_bodies import ClientConnection, GroupConnections, Subscription
from consumers.rocketmq.wire.codes import Unreachable

ORDERS = Subscription(topic="Orders", expression="*", expression_type="TAG", tags=(), sub_version=1)

A, B = AskedBroker("broker-a", "a:1"), AskedBroker("broker-b", "b:1")


def connections(*client_ids, online=True):
    return GroupConnections(
        online=online,
        clients=[ClientConnection(client_id=c, address="10.0.0.1:5", language="JAVA", version=493) for c in client_ids],
        consume_type="CONSUME_PASSIVELY" if online else None,
        message_model="CLUSTERING" if online else None,
        consume_from_where="CONSUME_FROM_LAST_OFFSET" if online else None,
        subscriptions=[ORDERS] if online else [],
    )


OFFLINE = connections(online=False)


def test_it_unites_members_over_brokers():
    answer = unite("g", [(A, connections("c1", "c2")), (B, connections("c2", "c3"))])
    assert [member.client_id for member in answer.members] == ["c1", "c2", "c3"]


def test_a_member_is_reached_through_a_broker_that_lists_it():
    answer = unite("g", [(A, connections("c1")), (B, connections("c2"))])
    assert {m.client_id: m.broker_address for m in answer.members} == {"c1": "a:1", "c2": "b:1"}


def test_a_group_that_every_broker_calls_offline_has_no_member_and_is_complete():
    answer = unite("g", [(A, OFFLINE), (B, OFFLINE)])
    assert answer.complete
    assert answer.members == ()


def test_what_the_group_is_comes_from_a_broker_that_lists_members():
    answer = unite("g", [(A, OFFLINE), (B, connections("c1"))])
    assert (answer.message_model, answer.consume_type) == ("CLUSTERING", "CONSUME_PASSIVELY")


def test_one_silent_broker_makes_the_answer_incomplete():
    answer = unite("g", [(A, OFFLINE), (B, Unreachable("refused", address="b:1"))])
    assert not answer.complete
    assert "refused" in answer.error


def test_a_broker_that_was_not_asked_makes_the_answer_incomplete():
    assert unite("g", [(A, connections("c1"))], "broker-b: silent").error == "broker-b: silent"


def test_no_broker_at_all_is_no_answer():
    assert not unite("g", []).complete


def listed(*addresses, client_id="c1"):
    clients = [ClientConnection(client_id=client_id, address=a, language="JAVA", version=493) for a in addresses]
    return GroupConnections(online=True, clients=clients)


def test_a_members_connections_are_told_by_broker_all_that_one_lists_among_them():
    (member,) = unite("g", [(A, listed("10.0.0.1:7", "10.0.0.1:5")), (B, listed("10.0.0.1:6"))]).members
    assert member.connections == {"broker-a": ("10.0.0.1:5", "10.0.0.1:7"), "broker-b": ("10.0.0.1:6",)}


@pytest.mark.parametrize("order", [("10.0.0.1:5", "10.0.0.1:7"), ("10.0.0.1:7", "10.0.0.1:5")])
def test_one_of_two_processes_under_one_id_stands_for_it_in_every_reading(order):
    (member,) = unite("g", [(A, listed(*order))]).members
    assert member.address == "10.0.0.1:5"


def test_brokers_that_answered_are_named_those_without_members_among_them():
    answers = [(A, OFFLINE), (B, Unreachable("refused", address="b:1")), (AskedBroker.proxy("p:1"), connections("c1"))]
    assert unite("g", answers).answered_by == ("broker-a", "p:1")


TOPICS = {"Orders", "%RETRY%g", "%RETRY%g+Orders"}


def subscribed(versions):
    subscriptions = [Subscription(topic, "*", "TAG", (), ms) for topic, ms in versions.items()]
    return GroupConnections(online=True, clients=[], subscriptions=subscriptions)


def test_the_newest_change_that_a_broker_told_counts():
    answer = unite("g", [(A, subscribed({"Orders": 3000, "Bills": 1000})), (B, subscribed({"Bills": 2000}))])
    assert answer.sub_version == datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "versions",
    [{"%RETRY%g": 3000}, {"%RETRY%g+Orders": 3000}, {"Gone": 3000}, {"Orders": None}, {"Orders": 2**62}, {}],
    ids=str,
)
def test_what_tells_no_change_does_not_count(versions):
    """The group's own retry topics, a topic that no broker has, a time that was not said, one that no calendar has."""
    assert unite("g", [(A, subscribed(versions))], topics=TOPICS).sub_version is None
