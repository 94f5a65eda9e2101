"""Members that must agree and do not."""

import pytest

from consumers.models import ClientSubscription
from consumers.vocabulary.findings import FindingCode, FindingSeverity
from tests.consumers.ownership.shared_group import (
    AVERAGELY,
    CLUSTERING,
    RING,
    a_member,
    a_shared_group,
    found,
    holds,
    numbers,
    own_all,
    some_queues,
)
from tests.world import ago

pytestmark = pytest.mark.django_db

CIRCLE = "AllocateMessageQueueAveragelyByCircle"


@pytest.fixture
def group():
    return a_shared_group()


@pytest.fixture
def queues(group):
    return some_queues(group)


def subscribed(**expressions):
    return [{"topic": topic, "expression": text, "expression_type": "TAG"} for topic, text in expressions.items()]


def test_different_strategies_are_one_finding_with_what_they_lead_to(group, queues):
    a_member(group, "c1", seen_since=ago(900))
    a_member(group, "c2", strategy=CIRCLE, seen_since=ago(700))
    # What each computes by its own: 0 1 2 3 on broker-a, and every second one.
    holds(group, "c1", queues[:4])
    holds(group, "c2", queues[1::2])
    differ = found(group)[FindingCode.STRATEGIES_DIFFER]
    assert list(found(group)) == [FindingCode.STRATEGIES_DIFFER]
    assert differ.severity == FindingSeverity.CRITICAL
    assert numbers(differ.doubly_owned) == "a1 a3"
    assert numbers(differ.unowned) == "b0 b2"
    assert differ.params == {"strategies": {AVERAGELY: ["c1"], CIRCLE: ["c2"]}}
    assert differ.since == ago(700)
    assert "Not consumed: 2 queues of Orders on broker-b (0, 2)." in differ.sentence


def test_members_that_have_not_said_their_strategy_differ_from_nobody(group, queues):
    a_member(group, "c1")
    a_member(group, "c2", strategy=None)
    holds(group, "c1", queues)
    assert FindingCode.STRATEGIES_DIFFER not in found(group)


def test_a_member_that_a_broker_gives_its_queues_differs_from_one_that_shares(group, queues):
    a_member(group, "c1")
    a_member(group, "c2", settings={"clientRebalance": "false"}, broker_assigned=[])
    holds(group, "c1", queues)
    assert found(group)[FindingCode.STRATEGIES_DIFFER].params["strategies"]["by_broker"] == ["c2"]


def test_different_subscriptions_are_one_finding_with_the_difference(group, queues):
    some_queues(group, "Payments", each=0)
    a_member(group, "c1", seen_since=ago(900))
    a_member(group, "c2", ("Payments",), seen_since=ago(700))
    own_all(group, queues)
    differ = found(group)[FindingCode.SUBSCRIPTIONS_DIFFER]
    assert list(found(group)) == [FindingCode.SUBSCRIPTIONS_DIFFER]
    assert differ.params["topics"] == {"Orders": {"*": ["c1"], "": ["c2"]}, "Payments": {"*": ["c2"], "": ["c1"]}}
    assert "Orders: * by c1, not by c2; Payments: * by c2, not by c1" in differ.sentence
    assert numbers(differ.unowned) == "b0 b1 b2 b3"
    assert differ.since == ago(700)


def test_different_tags_differ_since_the_second_of_them_began(group, queues):
    a_member(group, "c1")
    a_member(group, "c2", subscriptions=subscribed(Orders="TagA"))
    began = {"topic": "Orders", "expression": "TagA", "seen_since": ago(333), "last_seen": ago(20)}
    ClientSubscription.objects.create(group=group, client_id="c2", **began)
    own_all(group, queues)
    differ = found(group)[FindingCode.SUBSCRIPTIONS_DIFFER]
    assert differ.params["topics"] == {"Orders": {"*": ["c1"], "TagA": ["c2"]}}
    assert differ.since == ago(333)


def test_a_broadcasting_group_shares_no_queues_that_different_subscriptions_could_skip(group, queues):
    type(group).objects.update(message_model="BROADCASTING")
    a_member(group, "c1")
    a_member(group, "c2", subscriptions=subscribed(Orders="TagA"))
    assert "Queues are shared" not in found(group)[FindingCode.SUBSCRIPTIONS_DIFFER].sentence


@pytest.mark.parametrize(
    ("one", "other"),
    [("A || B", "B||A"), ("*", ""), (" A ", "A"), ("A||A", "A")],
)
def test_the_same_tags_in_other_words_are_the_same(group, queues, one, other):
    a_member(group, "c1", subscriptions=subscribed(Orders=one))
    a_member(group, "c2", subscriptions=subscribed(Orders=other))
    own_all(group, queues)
    assert found(group) == {}


def test_the_order_of_subscriptions_does_not_matter(group, queues):
    other = some_queues(group, "Payments")
    a_member(group, "c1", ("Orders", "Payments"))
    a_member(group, "c2", ("Payments", "Orders"))
    own_all(group, queues + other)
    assert found(group) == {}


def test_a_retry_topic_that_only_some_subscribe_to_is_no_difference(group, queues):
    a_member(group, "c1", ("Orders", "%RETRY%billing"))
    a_member(group, "c2")
    own_all(group, queues)
    assert found(group) == {}


def test_orderly_among_concurrent_members_lose_their_order(group, queues):
    a_member(group, "c1", orderly=True)
    a_member(group, "c2")
    own_all(group, queues)
    assert list(found(group)) == [FindingCode.ORDERLY_AND_CONCURRENT]
    assert "concurrent (c2); orderly (c1)" in found(group)[FindingCode.ORDERLY_AND_CONCURRENT].sentence


@pytest.mark.parametrize(
    ("name", "one", "other", "level"),
    [
        ("PROP_CONSUME_TYPE", "CONSUME_PASSIVELY", "CONSUME_ACTIVELY", FindingSeverity.CRITICAL),
        ("consumeFromWhere", "CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_FIRST_OFFSET", FindingSeverity.WARNING),
        ("maxReconsumeTimes", "16", "3", FindingSeverity.WARNING),
        ("consumeMessageBatchMaxSize", "1", "32", FindingSeverity.INFO),
    ],
)
def test_different_settings_are_found_by_how_much_they_hurt(group, queues, name, one, other, level):
    a_member(group, "c1", settings=CLUSTERING | {name: one})
    a_member(group, "c2", settings=CLUSTERING | {name: other})
    own_all(group, queues)
    differ = found(group)[FindingCode.SETTINGS_DIFFER]
    assert list(found(group)) == [FindingCode.SETTINGS_DIFFER]
    assert (differ.severity, differ.params) == (
        level,
        {"setting": name, "values": {one: ["c1"], other: ["c2"]}, "notes": [name]},
    )


def test_a_member_that_broadcasts_among_others_makes_two_owners(group, queues):
    a_member(group, "c1")
    a_member(group, "c2", settings={"messageModel": "BROADCASTING"})
    holds(group, "c1", queues[:4])
    holds(group, "c2", queues)
    differ = found(group)[FindingCode.SETTINGS_DIFFER]
    assert list(found(group)) == [FindingCode.SETTINGS_DIFFER]
    assert differ.severity == FindingSeverity.CRITICAL
    assert numbers(differ.doubly_owned) == "a0 a1 a2 a3"


def test_settings_that_may_differ_are_no_finding(group, queues):
    a_member(group, "c1", settings=CLUSTERING | {"consumeThreadMax": "20"})
    a_member(group, "c2", settings=CLUSTERING | {"consumeThreadMax": "64"})
    own_all(group, queues)
    assert found(group) == {}


def test_many_members_that_differ_are_named_by_a_few(group, queues):
    for number in range(9):
        a_member(group, f"c{number}", strategy=RING if number == 4 else AVERAGELY)
    said = found(group)[FindingCode.STRATEGIES_DIFFER].sentence
    assert f"{AVERAGELY} (c0, c1, c2 and 5 more); {RING} (c4)" in said


def test_what_members_of_a_changing_group_differ_in_is_no_finding_yet(group, queues):
    a_member(group, "c1")
    a_member(group, "c2", strategy=CIRCLE, seen_since=ago(15))
    type(group).objects.update(members_changed_at=ago(15), settled_at=None)
    assert list(found(group)) == [FindingCode.SETTLING]
