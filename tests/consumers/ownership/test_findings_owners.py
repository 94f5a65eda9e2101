"""Queues of nobody, of two and of the wrong one, and locks that were lost."""

import pytest

from consumers.models import Assignment, Queue
from consumers.ownership.findings import ownership_check
from consumers.vocabulary.findings import FindingCode, FindingSeverity
from tests.consumers.ownership.shared_group import (
    RING,
    a_member,
    a_shared_group,
    found,
    holds,
    numbers,
    own_all,
    some_queues,
)
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    return a_shared_group()


@pytest.fixture
def queues(group):
    return some_queues(group)


def two_members(group, queues, **fields):
    for client_id in ("c1", "c2"):
        a_member(group, client_id, **fields)
    own_all(group, queues)


def let_go(queue, at):
    Assignment.objects.filter(queue=queue).update(gone_by=at)


def test_it_finds_nothing_where_everyone_owns_its_share(group, queues):
    two_members(group, queues)
    assert found(group) == {}


def test_a_queue_that_nobody_holds_is_named_with_whom_it_falls_to(group, queues):
    two_members(group, queues)
    let_go(queues[5], ago(200))
    unowned = found(group)[FindingCode.UNOWNED_NO_START]
    assert list(found(group)) == [FindingCode.UNOWNED_NO_START]
    assert unowned.severity == FindingSeverity.CRITICAL
    assert numbers(unowned.unowned) == "b1"
    assert unowned.sentence == (
        "Not consumed: queue 1 of Orders on broker-b. "
        "Assigned to c2, which does not own it. It may have failed to read its start offset."
    )
    assert unowned.params["expected"] == ["c2"]
    assert unowned.since == ago(200)
    assert unowned.log.text == "doRebalance, billing, add new mq failed"


def test_an_orderly_member_that_does_not_hold_its_queue_has_no_lock(group, queues):
    two_members(group, queues, orderly=True)
    let_go(queues[5], ago(200))
    assert "The broker may not have granted the lock" in found(group)[FindingCode.UNOWNED_NO_LOCK].sentence
    assert found(group)[FindingCode.UNOWNED_NO_LOCK].log.text == "doRebalance, billing, add a new mq failed"


@pytest.mark.parametrize(
    ("gone_seconds_ago", "code", "severity"),
    [
        (70, FindingCode.UNOWNED_LOCK_HELD, FindingSeverity.INFO),
        (130, FindingCode.UNOWNED_NO_LOCK, FindingSeverity.CRITICAL),
    ],
)
def test_locks_of_a_member_that_just_went_are_no_problem(group, queues, gone_seconds_ago, code, severity):
    two_members(group, queues, orderly=True)
    a_member(group, "c0", gone_by=ago(gone_seconds_ago))
    let_go(queues[5], ago(gone_seconds_ago))
    assert [(one, finding.severity) for one, finding in found(group).items()] == [(code, severity)]


def test_a_queue_of_machine_rooms_that_nobody_holds_may_be_in_none_of_them(group, queues):
    two_members(group, queues, strategy="AllocateMessageQueueByMachineRoom")
    for queue in queues[:7]:
        holds(group, "c1", [queue])
    assert (
        "of brokers in a room that no member names are assigned to nobody"
        in found(group)[FindingCode.UNOWNED_NO_ROOM].sentence
    )
    assert numbers(found(group)[FindingCode.UNOWNED_NO_ROOM].unowned) == "b3"


def test_without_knowing_to_whom_it_falls_a_queue_of_nobody_is_found_all_the_same(group, queues):
    two_members(group, queues, strategy="com.acme.Sharing")
    holds(group, "c1", queues[:7])
    unowned = found(group)[FindingCode.UNOWNED_UNKNOWN_OWNER]
    assert "com.acme.Sharing is not a strategy of RocketMQ's own" in unowned.sentence
    assert unowned.log.text == "[BUG] ConsumerGroup: billing The consumerId: "
    assert unowned.since == group.settled_at


@pytest.mark.parametrize(
    "fields",
    [
        {"first_seen_at": ago(60)},
        {"readable_since": ago(60)},
        {"readable": False},
        {"readable": None},
    ],
)
def test_a_queue_that_clients_need_not_know_is_not_unowned(group, queues, fields):
    two_members(group, queues)
    let_go(queues[5], ago(200))
    Queue.objects.filter(pk=queues[5].pk).update(**fields)
    assert FindingCode.UNOWNED_NO_START not in found(group)


def test_a_queue_is_not_unowned_while_a_member_is_silent(group, queues):
    two_members(group, queues)
    let_go(queues[5], ago(200))
    group.clients.filter(client_id="c2").update(running_info_error="timed out")
    assert found(group) == {}


@pytest.mark.parametrize("holders", [(), ("c1", "c2")])
def test_while_a_member_is_silent_a_queue_of_nobody_or_of_two_is_in_doubt(group, queues, holders):
    two_members(group, queues)
    Assignment.objects.filter(queue=queues[5]).delete()
    for client_id in holders:
        holds(group, client_id, [queues[5]])
    group.clients.filter(client_id="c2").update(running_info_error="timed out")
    doubt = ownership_check(group, NOW).unknown
    assert doubt is not None
    assert doubt.sentence == (
        "Ownership is not checked: a member has not answered, and a queue has no known owner or two."
    )


def test_a_member_that_did_not_answer_once_leaves_no_doubt_where_each_queue_has_its_owner(group, queues):
    two_members(group, queues)
    group.clients.filter(client_id="c2").update(running_info_error="timed out")
    assert ownership_check(group, NOW).unknown is None


def test_a_queue_is_not_unowned_while_its_group_changes(group, queues):
    two_members(group, queues)
    let_go(queues[5], ago(20))
    type(group).objects.update(members_changed_at=ago(20), settled_at=None)
    assert list(found(group)) == [FindingCode.SETTLING]
    assert found(group)[FindingCode.SETTLING].sentence.endswith("last changed 20 s ago.")


def test_two_readings_that_agree_too_soon_settle_nothing(group, queues):
    two_members(group, queues)
    let_go(queues[5], ago(20))
    type(group).objects.update(members_changed_at=ago(20), settled_at=ago(15))
    assert list(found(group)) == [FindingCode.SETTLING]


def test_a_queue_of_a_topic_that_nobody_subscribes_to_needs_no_owner(group, queues):
    two_members(group, queues)
    some_queues(group, "Payments")
    assert found(group) == {}


def test_retry_topics_are_left_out(group, queues):
    some_queues(group, "%RETRY%billing", each=1)
    for client_id in ("c1", "c2"):
        a_member(group, client_id, ("Orders", "%RETRY%billing"))
    own_all(group, queues)
    assert found(group) == {}


def test_a_queue_that_two_hold_is_found_with_both(group, queues):
    two_members(group, queues)
    holds(group, "c1", [queues[6]], seen_since=ago(300))
    doubly = found(group)[FindingCode.DOUBLY_OWNED]
    assert list(found(group)) == [FindingCode.DOUBLY_OWNED]
    assert numbers(doubly.doubly_owned) == "b2"
    assert doubly.params["owners"] == ["c1", "c2"]
    assert doubly.since == ago(300)


def test_a_silent_holder_does_not_make_two(group, queues):
    two_members(group, queues)
    holds(group, "c1", [queues[6]])
    group.clients.filter(client_id="c2").update(running_info_error="timed out")
    assert found(group) == {}


def test_a_queue_that_another_member_holds_is_found_with_whom_it_falls_to(group, queues):
    two_members(group, queues)
    Assignment.objects.filter(queue__in=queues[6:]).update(client_id="c1")
    wrong = found(group)[FindingCode.UNEXPECTED_OWNER]
    assert list(found(group)) == [FindingCode.UNEXPECTED_OWNER]
    assert wrong.sentence == "c1 owns queues that are assigned to c2: 2 queues of Orders on broker-b (2, 3)."


def test_other_owners_than_the_default_ring_gives_are_no_finding(group, queues):
    two_members(group, queues, strategy=RING)
    Assignment.objects.all().delete()
    holds(group, "c1", queues[:4])
    holds(group, "c2", queues[4:])
    assert found(group) == {}


@pytest.mark.parametrize(("renewed", "lost"), [(31, True), (29, False), (None, False)])
def test_a_lock_is_lost_thirty_seconds_after_it_was_renewed(group, queues, renewed, lost):
    a_member(group, "c1", orderly=True)
    # By the member's own clock, an hour ahead of ours.
    clock = ago(-3600)
    holds(group, "c1", queues, last_lock_at=clock, last_pull_at=clock)
    at = None if renewed is None else ago(-3600 + renewed)
    Assignment.objects.filter(queue=queues[2]).update(last_lock_at=at)
    assert (FindingCode.LOCK_LOST in found(group)) is lost
    if lost:
        assert numbers(found(group)[FindingCode.LOCK_LOST].queues) == "a2"
        assert "it renewed it 31 s before it answered" in found(group)[FindingCode.LOCK_LOST].sentence


def test_concurrent_members_lose_no_locks(group, queues):
    a_member(group, "c1")
    holds(group, "c1", queues, last_lock_at=ago(900), last_pull_at=ago(20))
    assert found(group) == {}
