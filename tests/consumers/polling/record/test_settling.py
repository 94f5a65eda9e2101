"""When a group last changed, and since when it has settled."""

from dataclasses import replace

import pytest

from consumers.models import ConsumerGroup
from consumers.polling.members.collected import BEHIND_A_PROXY
from tests.readings import at, client, group_members, member, owned

pytestmark = pytest.mark.django_db

Q0, Q1 = owned("Orders", "broker-a", 0), owned("Orders", "broker-a", 1)
RETRY = owned("%RETRY%billing", "broker-a", 0)
ONE, TWO = group_members("billing", "c1"), group_members("billing", "c1", "c2")
PARTIAL = group_members("billing", "c1", error="broker-b: silent")


def said(*queues, client_id="c1", **more):
    return client("billing", client_id, *queues, **more)


def times():
    return ConsumerGroup.objects.values_list("members_changed_at", "settled_at").get(name="billing")


@pytest.fixture
def settled(observe):
    """A group of c1, settled at 0 and seen so at 15."""
    for seconds in (0, 15):
        words = {"strategy": "Averagely", "started_at": at(-60), "sub_version": at(-50), "subscriptions": ()}
        observe(seconds, [replace(ONE, sub_version=at(-50))], [said(Q0, **words)])
    assert times() == (at(0), at(0))
    return observe


def test_a_group_that_is_seen_first_has_just_changed(observe):
    observe(0, [ONE], [said(Q0)])
    assert times() == (at(0), None)


def test_a_group_of_which_nothing_was_learned_has_no_time(observe):
    observe(0, [group_members("billing", error="broker-a: silent", answered_by=())])
    assert times() == (None, None)


def test_two_whole_readings_in_a_row_that_agree_settle_it_at_the_first(observe):
    seen = []
    for seconds in (0, 15, 30):
        observe(seconds, [ONE], [said(Q0)])
        seen.append(times())
    assert seen == [(at(0), None), (at(0), at(0)), (at(0), at(0))]


def test_first_words_are_no_change(observe):
    observe(0, [TWO], [said(Q0)])
    observe(15, [TWO], [said(Q0), said(Q1, client_id="c2")])
    assert times() == (at(0), None)
    observe(30, [TWO], [said(Q0), said(Q1, client_id="c2")])
    assert times() == (at(0), at(15))


def test_a_group_without_members_settles_by_the_lists_alone(observe):
    for seconds in (0, 15):
        observe(seconds, [group_members("billing")])
    assert times() == (at(0), at(0))


@pytest.mark.parametrize(
    ("answer", "clients", "why"),
    [
        (PARTIAL, [said(Q0)], "a broker was silent"),
        (ONE, [said(error="timed out")], "a member was silent"),
        (ONE, [], "its member was not asked"),
    ],
)
def test_a_reading_that_is_not_whole_agrees_with_none(observe, answer, clients, why):
    observe(0, [ONE], [said(Q0)])
    observe(15, [answer], clients)
    assert times() == (at(0), None), why


def test_a_broker_that_was_silent_in_the_reading_before_lets_nothing_settle(observe):
    observe(0, [PARTIAL], [said(Q0)])
    observe(15, [ONE], [said(Q0)])
    assert times() == (at(0), None)
    observe(30, [ONE], [said(Q0)])
    assert times() == (at(0), at(15))


def test_a_broker_that_was_silent_in_the_first_of_two_makes_them_agree_on_nothing(observe):
    seen = []
    for seconds, answer in ((0, ONE), (15, PARTIAL), (30, ONE), (45, ONE)):
        observe(seconds, [answer], [said(Q0)])
        seen.append(times()[1])
    assert seen == [None, None, None, at(30)]


STRATEGY, START, STAMP = {"strategy": "ByCircle"}, {"started_at": at(20)}, {"sub_version": at(20)}
WORDS = ({"topic": "Orders", "expression": "*", "expression_type": "TAG"},)


@pytest.mark.parametrize(
    ("answer", "clients", "why"),
    [
        (TWO, [said(Q0)], "a member came"),
        (replace(PARTIAL, members=TWO.members), [], "one broker is enough to see a member come"),
        (group_members("billing"), [], "the member left"),
        (replace(ONE, members=(member("c1", "10.0.0.1:6000"),)), [], "it reconnected"),
        (replace(ONE, members=(member("c1", broker_a=("10.0.0.1:5000", "10.0.0.1:6000")),)), [], "its id came twice"),
        (ONE, [said()], "it lost a queue"),
        (ONE, [said(Q0, Q1)], "it got a queue"),
        (ONE, [said(Q0, **STRATEGY)], "another strategy"),
        (ONE, [said(Q0, **START)], "it started anew"),
        (ONE, [said(Q0, subscriptions=WORDS)], "it subscribed"),
        (ONE, [said(Q0, **STAMP)], "by its own stamp something changed and changed back"),
        (replace(ONE, sub_version=at(20)), [], "a broker told of a change"),
    ],
)
def test_a_change_unsettles_it(settled, answer, clients, why):
    settled(30, [answer], clients)
    assert times() == (at(30), None), why


RETRIES = ({"topic": "%RETRY%billing", "expression": "*", "expression_type": "TAG"},)


@pytest.mark.parametrize(
    ("answer", "clients", "why"),
    [
        (replace(PARTIAL, members=()), [], "a list that is not whole lacks the member"),
        (ONE, [said(error="timed out")], "it was silent"),
        (ONE, [said(replace(Q0, commit_offset=99))], "it consumed"),
        (ONE, [said(Q0, RETRY, subscriptions=RETRIES)], "it got a queue of the group's own retry topic"),
        (replace(ONE, sub_version=at(-70)), [], "a broker told of an older change"),
        (ONE, [said(Q0, sub_version=at(-70))], "its own stamp was of another topic too"),
        (ONE, [said(Q0)], "it did not say what it is"),
    ],
)
def test_what_is_no_change_leaves_it_settled(settled, answer, clients, why):
    settled(30, [answer], clients)
    assert times() == (at(0), at(0)), why


def test_a_change_is_followed_by_two_readings_that_agree(settled):
    seen = []
    for seconds in (30, 45, 60):
        settled(seconds, [TWO], [said(Q0), said(Q1, client_id="c2")])
        seen.append(times())
    # The first words of c2 come with itself, so that the reading which changed is the first of the two.
    assert seen == [(at(30), None), (at(30), at(30)), (at(30), at(30))]


def test_what_was_said_before_a_change_agrees_with_nothing_after_it(settled):
    told = replace(ONE, sub_version=at(20))
    seen = []
    for seconds, clients in ((30, []), (45, [said(Q0)]), (60, [said(Q0)])):
        settled(seconds, [told], clients)
        seen.append(times())
    assert seen == [(at(30), None), (at(30), None), (at(30), at(45))]


def test_one_reading_between_two_that_differ_settles_nothing(settled):
    seen = []
    for seconds, queues in ((30, [Q1]), (45, [Q0]), (60, [Q1])):
        settled(seconds, [ONE], [said(*queues)])
        seen.append(times())
    assert seen == [(at(30), None), (at(45), None), (at(60), None)]


def sub_version():
    return ConsumerGroup.objects.values_list("sub_version", flat=True).get(name="billing")


def test_members_that_subscribe_differently_do_not_change_with_every_heartbeat(observe):
    # A broker keeps the subscription of who registered last: the newest stamp comes and goes.
    for seconds, stamp in ((0, -50), (15, -90), (30, -50), (45, -90)):
        observe(seconds, [replace(ONE, sub_version=at(stamp))], [said(Q0)])
    assert (sub_version(), times()) == (at(-50), (at(0), at(0)))


def test_the_stamp_of_members_that_are_gone_hides_no_change_of_the_others(settled):
    settled(30, [replace(TWO, sub_version=at(9000))])
    settled(45, [replace(ONE, sub_version=at(-50))])
    settled(60, [replace(ONE, sub_version=at(50))])
    assert (sub_version(), times()) == (at(50), (at(60), None))


def test_members_behind_a_proxy_settle_without_their_words(observe):
    silent = [said(error=BEHIND_A_PROXY)]
    for seconds in (0, 15, 120, 135):
        observe(seconds, [ONE], silent)
    assert times() == (at(0), at(15))


def test_one_member_that_hangs_does_not_keep_the_others_from_settling(observe):
    clients = [said(Q0), said(client_id="c2", error="timed out")]
    seen = []
    for seconds in (0, 105, 120):
        observe(seconds, [TWO], clients)
        seen.append(times()[1])
    assert seen == [None, None, at(105)]


def test_a_member_that_waits_for_its_turn_is_waited_for(observe):
    for seconds in (0, 150, 165):
        observe(seconds, [TWO], [said(Q0)])
    assert times() == (at(0), None)
