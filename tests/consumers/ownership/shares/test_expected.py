"""Who is to own each queue, and when that cannot be said."""

import re

import pytest

from consumers.models import Broker, ClientSubscription, Queue
from consumers.ownership.group_shares import expected_owners
from tests.consumers.ownership.shared_group import AVERAGELY, RING, a_member, a_shared_group, holds, some_queues
from tests.world import a_client, ago

pytestmark = pytest.mark.django_db


def told(group, queues, at=None) -> list[str]:
    """Of each queue its owners, or the reason why there are none."""
    expected = expected_owners(group, at)
    return [owner or f"? {reason}" for owner, reason in (expected.of_queue(queue.pk) for queue in queues)]


def the_reason(group, queues, at=None) -> str:
    """The one reason of all queues."""
    [reason] = {*told(group, queues, at)}
    assert reason.startswith("? ")
    return reason[2:]


def test_each_member_is_to_own_what_it_computes():
    group = a_shared_group()
    queues = some_queues(group)
    for client_id in ("c1", "c2", "c3"):
        a_member(group, client_id)
    assert told(group, queues) == ["c1", "c1", "c1", "c2", "c2", "c2", "c3", "c3"]


def test_retry_topics_are_shared_too():
    group = a_shared_group()
    queues = some_queues(group, "%RETRY%billing", each=1)
    for client_id in ("c1", "c2"):
        a_member(group, client_id, ("Orders", "%RETRY%billing"))
    assert told(group, queues) == ["c1", "c2"]


def test_queues_that_fall_to_a_member_without_the_subscription_are_nobodys():
    group = a_shared_group()
    queues = some_queues(group)
    a_member(group, "c1")
    a_member(group, "c2", ("Payments",))
    assert told(group, queues)[:4] == ["c1"] * 4
    assert told(group, queues)[4:] == ["? assigned to c2, which does not subscribe to Orders"] * 4


def test_two_processes_with_one_id_own_half_twice_and_leave_the_rest():
    group = a_shared_group()
    queues = some_queues(group)
    a_member(group, "c1", connections={broker: ["c1:1", "c1:2"] for broker in ("broker-a", "broker-b")})
    expected = expected_owners(group)
    assert [expected.owners.get(queue.pk) for queue in queues] == [("c1", "c1")] * 4 + [None] * 4
    assert told(group, queues)[4:] == ["? assigned to nobody: processes share the client id c1"] * 4


def test_what_a_broker_gives_a_member_is_its_own():
    group = a_shared_group()
    queues = some_queues(group, each=1)
    given = [{"topic": "Orders", "broker": "broker-b", "queue_id": 0, "mode": "PULL"}]
    a_member(group, "c1", settings={"clientRebalance": "false"}, broker_assigned=given)
    assert told(group, queues) == ["? assigned to nobody", "c1"]


def test_an_orderly_member_shares_by_itself_whatever_its_setting():
    group = a_shared_group()
    queues = some_queues(group, each=1)
    a_member(group, "c1", settings={"clientRebalance": "false"}, orderly=True)
    assert told(group, queues) == ["c1", "c1"]


def test_members_without_a_queue_are_no_trouble():
    group = a_shared_group()
    queues = some_queues(group, each=1)
    for client_id in ("c1", "c2", "c3"):
        a_member(group, client_id)
    assert told(group, queues) == ["c1", "c2"]


def spoils(**fields):
    """A second member that differs."""
    return lambda group: a_member(group, "c2", **fields)


def group_spoils(**fields):
    return lambda group: type(group).objects.filter(pk=group.pk).update(**fields)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (group_spoils(membership_error="broker-b: timed out"), "some members are unknown: broker-b: timed out"),
        (group_spoils(membership_at=None), "no broker has reported the group's members yet"),
        (group_spoils(message_model="BROADCASTING"), "broadcasting: every member owns every queue"),
        (group_spoils(consume_type="CONSUME_POP"), "pop"),
        (group_spoils(consume_type="CONSUME_ACTIVELY"), "pull"),
        (spoils(settings={"messageModel": "BROADCASTING"}), "some members broadcast"),
        (lambda group: a_client(group, "c2", running_info_error="no answer"), "c2 has not reported .*: no answer"),
        (spoils(strategy=None), "c2 does not report its strategy"),
        (spoils(strategy="com.acme.Sharing"), "com.acme.Sharing is not a strategy of RocketMQ's own"),
        (spoils(strategy="AllocateMessageQueueAveragelyByCircle"), f"different strategies: {AVERAGELY}, Allocate"),
        (spoils(connections={}), "the brokers that list c2 are not recorded"),
        (spoils(connections={"127.0.0.1:8080": ["c2:1"]}), "c2 is connected to a proxy"),
        (spoils(connections={"broker-a": ["c2:1"]}), "broker-a and broker-b list different members"),
        (spoils(settings={"clientRebalance": "false"}), "a broker assigns the queues of c2"),
    ],
)
def test_it_says_why_nobody_knows(spoil, why):
    group = a_shared_group()
    queues = some_queues(group)
    a_member(group, "c1")
    spoil(group)
    group.refresh_from_db()
    assert re.search(why, the_reason(group, queues))


def test_a_topic_that_is_popped_has_no_owner():
    group = a_shared_group()
    queues = some_queues(group)
    given = [{"topic": "Orders", "broker": "broker-a", "queue_id": -1, "mode": "POP"}]
    a_member(group, "c1", settings={"clientRebalance": "false"}, broker_assigned=given)
    assert the_reason(group, queues) == "messages of Orders are popped: none of its queues has an owner"


def test_brokers_without_a_queue_of_the_topic_may_list_whom_they_want():
    group = a_shared_group()
    queues = some_queues(group)
    Queue.objects.filter(broker="broker-b").update(readable=False)
    a_member(group, "c1")
    a_member(group, "c2", connections={"broker-a": ["c2:1"]})
    assert told(group, queues)[:4] == ["c1", "c1", "c2", "c2"]
    assert told(group, queues)[4:] == ["? clients do not read this queue"] * 4


def test_a_slave_in_its_masters_place_does_not_tell_whom_the_master_lists():
    group = a_shared_group()
    queues = some_queues(group)
    Broker.objects.filter(name="broker-b").update(read_from="127.0.0.1:10921")
    a_member(group, "c1")
    a_member(group, "c2", connections={"broker-a": ["c2:1"], "broker-b": []})
    assert told(group, queues) == ["c1"] * 4 + ["c2"] * 4
    Broker.objects.update(read_from="127.0.0.1:10921")
    assert the_reason(group, queues).startswith("slaves answer for all brokers of Orders")


def test_a_broker_that_is_not_read_leaves_its_queues_out():
    group = a_shared_group()
    queues = some_queues(group)
    Broker.objects.filter(name="broker-b").update(failing_since=ago(300))
    a_member(group, "c1")
    assert told(group, queues)[:4] == ["c1"] * 4
    assert told(group, queues)[4].startswith("? ")


def test_a_topic_whose_configuration_was_not_read_is_not_shared_on_a_guess():
    group = a_shared_group()
    queues = some_queues(group)
    Queue.objects.filter(pk=queues[7].pk).update(readable=None)
    a_member(group, "c1")
    assert the_reason(group, queues[:7]) == "the configuration of Orders on broker-b was not read"


def test_the_default_ring_is_believed_until_somebody_holds_another_queue():
    group = a_shared_group()
    queues = some_queues(group)
    for client_id in ("c1", "c2", "c3"):
        a_member(group, client_id, strategy=RING)
    # What RocketMQ 5.4.0's own class gives them of topic Orders.
    assert [owner in ("c1", "c2", "c3") for owner in told(group, queues)] == [True] * 8
    by_ring = told(group, queues)
    for queue, owner in zip(queues, by_ring, strict=True):
        holds(group, owner, [queue])
    assert told(group, queues) == by_ring

    holds(group, "c1" if by_ring[0] != "c1" else "c2", [queues[0]])
    assert "CONSISTENT_HASH" in the_reason(group, queues)


def test_at_a_past_time_those_count_who_were_there():
    group = a_shared_group()
    queues = some_queues(group)
    a_member(group, "c1", seen_since=ago(3600))
    a_member(group, "c0", seen_since=ago(3600), gone_by=ago(300))
    for client_id in ("c0", "c1"):
        ClientSubscription.objects.create(
            group=group, client_id=client_id, topic="Orders", expression="*", seen_since=ago(3600), last_seen=ago(20)
        )
    assert told(group, queues, ago(400)) == ["c0"] * 4 + ["c1"] * 4
    assert told(group, queues) == ["c1"] * 8


def test_at_a_past_time_queues_that_were_not_there_do_not_count():
    group = a_shared_group()
    queues = some_queues(group)
    Queue.objects.filter(pk__in=[queue.pk for queue in queues[4:]]).update(first_seen_at=ago(300))
    Queue.objects.filter(pk=queues[3].pk).update(readable_since=ago(200))
    a_member(group, "c1", seen_since=ago(3600))
    subscribed = {"topic": "Orders", "expression": "*", "seen_since": ago(3600), "last_seen": ago(20)}
    ClientSubscription.objects.create(group=group, client_id="c1", **subscribed)
    assert [owner == "c1" for owner in told(group, queues, ago(400))] == [True] * 3 + [False] * 5


def test_which_brokers_listed_a_member_in_the_past_is_not_guessed():
    group = a_shared_group()
    queues = some_queues(group)
    a_member(group, "c1", seen_since=ago(3600), listed_since=ago(100))
    subscribed = {"topic": "Orders", "expression": "*", "seen_since": ago(3600), "last_seen": ago(20)}
    ClientSubscription.objects.create(group=group, client_id="c1", **subscribed)
    assert "the brokers that listed c1" in the_reason(group, queues, ago(400))


def test_a_past_time_before_anybody_came_has_no_owner():
    group = a_shared_group()
    queues = some_queues(group)
    a_member(group, "c1", seen_since=ago(3600))
    assert the_reason(group, queues, ago(7200)).startswith("no member was seen at 2026")


def test_it_asks_few_questions_however_many_queues_there_are(django_assert_max_num_queries):
    group = a_shared_group()
    some_queues(group, each=20)
    for number in range(9):
        a_member(group, f"c{number}", strategy=RING)
    with django_assert_max_num_queries(8):
        assert len(expected_owners(group).owners) == 40
