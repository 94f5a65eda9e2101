"""The answers of several brokers about one group, united."""

from consumers.polling.members.membership import unite
from consumers.rocketmq.client_values import ClientConnection, GroupConnections, Subscription
from consumers.rocketmq.errors import Unreachable

ORDERS = Subscription(topic="Orders", expression="*", expression_type="TAG", tags=(), sub_version=1)


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
    answer = unite("g", [("a:1", connections("c1", "c2")), ("b:1", connections("c2", "c3"))])
    assert [member.client_id for member in answer.members] == ["c1", "c2", "c3"]


def test_a_member_is_reached_through_a_broker_that_lists_it():
    answer = unite("g", [("a:1", connections("c1")), ("b:1", connections("c2"))])
    assert {m.client_id: m.broker_address for m in answer.members} == {"c1": "a:1", "c2": "b:1"}


def test_a_group_that_every_broker_calls_offline_has_no_member_and_is_complete():
    answer = unite("g", [("a:1", OFFLINE), ("b:1", OFFLINE)])
    assert answer.complete
    assert answer.members == ()


def test_what_the_group_is_comes_from_a_broker_that_lists_members():
    answer = unite("g", [("a:1", OFFLINE), ("b:1", connections("c1"))])
    assert (answer.message_model, answer.consume_type) == ("CLUSTERING", "CONSUME_PASSIVELY")


def test_one_silent_broker_makes_the_answer_incomplete():
    answer = unite("g", [("a:1", OFFLINE), ("b:1", Unreachable("refused", address="b:1"))])
    assert not answer.complete
    assert "refused" in answer.error


def test_a_broker_that_was_not_asked_makes_the_answer_incomplete():
    assert unite("g", [("a:1", connections("c1"))], "broker-b: silent").error == "broker-b: silent"


def test_no_broker_at_all_is_no_answer():
    assert not unite("g", []).complete
