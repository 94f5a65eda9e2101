"""What members said that they subscribe to, as intervals."""

import pytest

from consumers.models import ClientSubscription
from tests.readings import at, client, group_members

pytestmark = pytest.mark.django_db


def subscribed(client_id="c1", expression_type="TAG", **expressions):
    words = [
        {"topic": topic, "expression": expression, "expression_type": expression_type}
        for topic, expression in expressions.items()
    ]
    return client("billing", client_id, subscriptions=tuple(words))


def intervals():
    rows = ClientSubscription.objects.order_by("client_id", "seen_since", "topic")
    return list(rows.values_list("client_id", "topic", "expression", "seen_since", "last_seen", "gone_by"))


@pytest.fixture
def say(observe):
    def say(seconds, *clients, members=("c1",), error=None):
        observe(seconds, [group_members("billing", *members, error=error)], clients)

    return say


def test_the_same_words_are_one_interval(say):
    for seconds in (0, 15):
        say(seconds, subscribed(Orders="paid", Refunds="*"))
    assert intervals() == [
        ("c1", "Orders", "paid", at(0), at(15), None),
        ("c1", "Refunds", "*", at(0), at(15), None),
    ]


def test_another_expression_is_another_interval(say):
    say(0, subscribed(Orders="paid"))
    say(15, subscribed(Orders="paid || open"))
    assert intervals() == [
        ("c1", "Orders", "paid", at(0), at(0), at(15)),
        ("c1", "Orders", "paid || open", at(15), at(15), None),
    ]


def test_another_kind_of_the_same_expression_is_another_interval(say):
    say(0, subscribed(Orders="a"))
    say(15, subscribed(Orders="a", expression_type="SQL92"))
    assert [(since, gone) for *_, since, _, gone in intervals()] == [(at(0), at(15)), (at(15), None)]


def test_a_topic_that_is_named_no_more_ends(say):
    say(0, subscribed(Orders="*", Refunds="*"))
    say(15, subscribed(Orders="*"))
    assert intervals() == [("c1", "Orders", "*", at(0), at(15), None), ("c1", "Refunds", "*", at(0), at(0), at(15))]


def test_the_group_s_own_retry_topic_is_left_out_and_another_group_s_is_not(say):
    say(0, subscribed(**{"%RETRY%billing": "*", "%RETRY%audit": "*"}))
    assert [topic for _, topic, *_ in intervals()] == ["%RETRY%audit"]


@pytest.mark.parametrize("silent", [client("billing", "c1", error="timed out"), client("billing", "c1")])
def test_a_client_that_did_not_say_keeps_its_own(say, silent):
    say(0, subscribed(Orders="*"))
    say(15, silent)
    assert intervals() == [("c1", "Orders", "*", at(0), at(0), None)]


def test_members_that_differ_have_their_own_intervals(say):
    say(0, subscribed("c1", Orders="a"), subscribed("c2", Orders="b"), members=("c1", "c2"))
    assert [interval[:3] for interval in intervals()] == [("c1", "Orders", "a"), ("c2", "Orders", "b")]


def test_what_a_member_that_left_subscribed_to_ends(say):
    say(0, subscribed(Orders="*"))
    say(15, members=(), error="broker-b: silent")
    assert intervals()[0][-1] is None
    say(30, members=())
    assert intervals() == [("c1", "Orders", "*", at(0), at(0), at(30))]


def test_an_interval_does_not_reach_over_an_hour_in_which_nobody_asked(say):
    say(0, subscribed(Orders="*"))
    say(3600, subscribed(Orders="*"))
    assert [(since, gone) for *_, since, _, gone in intervals()] == [(at(0), at(3600)), (at(3600), None)]
