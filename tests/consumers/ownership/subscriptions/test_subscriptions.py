"""Who subscribed to what since when, and when members differed: between two answers that agree, never within doubt."""

import pytest

from consumers.models import Client, ClientSubscription, ConsumerGroup
from consumers.ownership.subscriptions import subscription_history
from tests.ownership_rows import a_member, it_subscribed
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    group = a_group(a_cluster())
    for client_id in "ab":
        a_member(group, client_id, since=3600)
    return group


def history(group, since=3600.0):
    return subscription_history(group, since=ago(since), until=NOW)


def differences(group, **range_):
    """[(topic, seconds ago it began, seconds ago it ended, {expression: clients})]."""
    return [
        (
            one.topic,
            (NOW - one.since).total_seconds(),
            None if one.until is None else round((NOW - one.until).total_seconds(), 3),
            {wanted.expression: "".join(wanted.client_ids) for wanted in one.wanted},
        )
        for one in history(group, **range_).differences
    ]


def test_it_lists_the_intervals_that_touch_the_range_by_topic_and_client(group):
    it_subscribed(group, "b", since=9000, topic="Orders")
    it_subscribed(group, "a", since=9000, until=1015, gone_by=1000, topic="Orders")
    it_subscribed(group, "a", since=9000, until=4000, gone_by=3985, topic="Orders")
    it_subscribed(group, "a", since=9000, topic="Bills", expression="x||y")
    rows = history(group).subscriptions
    assert [(row.topic, row.client_id) for row in rows] == [("Bills", "a"), ("Orders", "a"), ("Orders", "b")]
    assert (rows[0].expression, rows[0].seen_since, rows[1].gone_by) == ("x||y", ago(9000), ago(1000))
    assert (rows[0].gone_by, rows[0].unknown) == (None, {"gone_by": "still reported when the member last answered"})


def test_members_that_agree_have_no_difference(group):
    for client_id in "ab":
        it_subscribed(group, client_id, since=9000)
    assert differences(group) == []


def test_the_same_tags_in_another_order_are_no_difference(group):
    it_subscribed(group, "a", since=9000, expression="x||y")
    it_subscribed(group, "b", since=9000, expression="y || x")
    assert differences(group) == []


def test_members_that_still_differ_have_a_difference_without_an_end(group):
    it_subscribed(group, "a", since=1800, expression="x")
    it_subscribed(group, "b", since=1200, expression="y")
    assert differences(group) == [("Orders", 1200, None, {"x": "a", "y": "b"})]
    assert history(group).differences[0].unknown == {"until": "still different at the end of the range"}


def test_a_deploy_that_changes_them_one_by_one_is_a_difference_for_that_time(group):
    it_subscribed(group, "a", since=9000, until=1015, gone_by=1000, expression="x")
    it_subscribed(group, "a", since=1000, expression="y")
    it_subscribed(group, "b", since=9000, until=715, gone_by=700, expression="x")
    it_subscribed(group, "b", since=700, expression="y")
    assert differences(group) == [("Orders", 1000, 715, {"x": "b", "y": "a"})]


def test_two_that_change_between_the_same_answers_never_differed(group):
    for client_id in "ab":
        it_subscribed(group, client_id, since=9000, until=1015, gone_by=1000, expression="x")
        it_subscribed(group, client_id, since=1000, expression="y")
    assert differences(group) == []


def test_a_member_that_does_not_subscribe_to_a_topic_differs_from_those_that_do(group):
    it_subscribed(group, "a", since=1800)
    it_subscribed(group, "a", since=1200, topic="Bills")
    it_subscribed(group, "b", since=1500)
    assert differences(group) == [("Bills", 1200, None, {"*": "a", None: "b"})]
    missing = history(group).differences[0].wanted[1]
    assert missing.unknown["expression"] == "not subscribed"


def test_a_topic_given_up_is_a_difference_from_the_answer_that_said_so(group):
    for client_id in "ab":
        it_subscribed(group, client_id, since=1800, topic="Bills")
    it_subscribed(group, "a", since=1800)
    it_subscribed(group, "b", since=1800, until=1015, gone_by=1000)
    assert differences(group) == [("Orders", 1000, None, {"*": "a", None: "b"})]


def test_a_member_that_gives_up_another_topic_still_does_not_subscribe_to_this_one(group):
    it_subscribed(group, "b", since=1800, topic="Bills")
    it_subscribed(group, "b", since=1800, until=1015, gone_by=1000, topic="Cards")
    it_subscribed(group, "a", since=1500)
    assert [one for one in differences(group) if one[0] == "Orders"] == [("Orders", 1500, None, {"*": "a", None: "b"})]


def test_what_was_last_said_before_the_range_differs_from_nothing_in_it(group):
    it_subscribed(group, "a", since=9000, until=700, gone_by=500, expression="x")
    it_subscribed(group, "b", since=9000, expression="y")
    assert differences(group, since=600) == []
    assert [row.client_id for row in history(group, since=600).subscriptions] == ["a", "b"]


def test_a_member_that_was_not_there_yet_did_not_differ(group):
    it_subscribed(group, "a", since=1800, until=1215, gone_by=1200, expression="x")
    it_subscribed(group, "b", since=1200, expression="y")
    assert differences(group) == []


def test_what_most_members_want_stands_first(group):
    for client_id, expression in (("a", "x"), ("b", "y"), ("c", "y")):
        it_subscribed(group, client_id, since=1800, expression=expression)
    assert [wanted.expression for wanted in history(group).differences[0].wanted] == ["y", "x"]


def test_a_difference_from_before_the_range_begins_with_it(group):
    it_subscribed(group, "a", since=9000, expression="x")
    it_subscribed(group, "b", since=9000, expression="y")
    assert differences(group, since=600) == [("Orders", 600, None, {"x": "a", "y": "b"})]


def test_members_that_stopped_answering_are_not_said_to_differ_still(group):
    it_subscribed(group, "a", since=1800, until=900, expression="x")
    it_subscribed(group, "b", since=1800, until=900, expression="y")
    assert differences(group) == [("Orders", 1800, 780, {"x": "a", "y": "b"})]


def test_members_that_stopped_answering_are_not_said_to_agree_since(group):
    it_subscribed(group, "a", since=1800)
    it_subscribed(group, "b", since=1800)
    assert history(group).unknown == {}
    Client.objects.filter(client_id="b").update(running_info_at=ago(900))
    ConsumerGroup.objects.update(membership_at=ago(900))
    reason = "b has not reported its subscriptions since 2026-03-14 02:45:00 UTC"
    assert history(group).unknown == {"subscriptions": reason, "differences": reason}


def test_without_an_answer_nothing_is_known(group):
    reason = "no member has reported its subscriptions in this range"
    assert history(group).unknown == {"subscriptions": reason, "differences": reason}


def test_a_member_that_never_answered_leaves_it_open_whether_all_agree(group):
    it_subscribed(group, "a", since=1800)
    Client.objects.filter(client_id="b").update(running_info_at=None, running_info_error="timed out after 3 s")
    reason = "b has not reported its subscriptions: timed out after 3 s"
    assert history(group).unknown == {"subscriptions": reason, "differences": reason}


def test_a_client_that_names_no_type_filters_by_tags(group):
    it_subscribed(group, "a", since=1800, expression_type=None)
    it_subscribed(group, "b", since=1800)
    assert differences(group) == []
    assert history(group).subscriptions[0].unknown["expression_type"] == "not reported by the client"


def test_an_interval_of_another_range_is_left_out(group):
    it_subscribed(group, "a", since=9000, until=4000, gone_by=3985)
    assert list(history(group).subscriptions) == []
    assert ClientSubscription.objects.count() == 1
