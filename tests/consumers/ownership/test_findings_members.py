"""Members as brokers list them, members without a queue, and groups of which there is nothing to find."""

import pytest

from consumers.models import Queue
from consumers.ownership.findings import ownership_check
from consumers.ownership.group_shares import expected_owners
from consumers.vocabulary.findings import FindingCode, FindingSeverity
from tests.consumers.ownership.shared_group import (
    AVERAGELY,
    BROKERS,
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

TWICE = {broker: ["10.0.0.1:1", "10.0.0.2:1"] for broker in BROKERS}


@pytest.fixture
def group():
    return a_shared_group()


@pytest.fixture
def queues(group):
    return some_queues(group)


def test_two_processes_with_one_id_are_one_finding_with_what_they_lead_to(group, queues):
    a_member(group, "c1", connections=TWICE, duplicated_since=ago(300))
    own_all(group, queues)
    duplicate = found(group)[FindingCode.DUPLICATE_CLIENT_IDS]
    assert list(found(group)) == [FindingCode.DUPLICATE_CLIENT_IDS]
    assert duplicate.severity == FindingSeverity.CRITICAL
    assert numbers(duplicate.doubly_owned) == "a0 a1 a2 a3"
    assert numbers(duplicate.unowned) == "b0 b1 b2 b3"
    assert "c1 is connected to broker-a from 10.0.0.1:1, 10.0.0.2:1" in duplicate.sentence
    assert "reconnected" not in duplicate.sentence
    assert duplicate.since == ago(300)


def test_a_second_connection_may_be_what_is_left_of_the_first_for_two_minutes(group, queues):
    a_member(group, "c1", connections=TWICE, duplicated_since=ago(100))
    own_all(group, queues)
    assert "Or one reconnected" in found(group)[FindingCode.DUPLICATE_CLIENT_IDS].sentence


def test_a_second_connection_that_one_reading_saw_is_no_finding(group, queues):
    a_member(group, "c1", connections=TWICE, duplicated_since=ago(20), last_seen=ago(20))
    type(group).objects.update(members_changed_at=ago(20), settled_at=None)
    assert list(found(group)) == [FindingCode.SETTLING]


def one_sided(group, listed_since):
    a_member(group, "c1")
    a_member(group, "c2", connections={"broker-a": ["c2:1"]}, listed_since=listed_since)


def test_brokers_that_list_different_members_are_one_finding_with_what_they_lead_to(group, queues):
    one_sided(group, ago(300))
    holds(group, "c1", queues[:6])
    holds(group, "c2", queues[4:6])
    differ = found(group)[FindingCode.BROKERS_DIFFER]
    assert list(found(group)) == [FindingCode.BROKERS_DIFFER]
    assert differ.params == {"missing": {"broker-b": ["c2"]}, "topics": ["Orders"]}
    assert "broker-b lacks c2" in differ.sentence
    assert numbers(differ.doubly_owned) == "b0 b1"
    assert numbers(differ.unowned) == "b2 b3"
    assert differ.since == ago(300)
    assert differ.log.text == "[BUG] ConsumerGroup: billing The consumerId: "


def test_a_member_has_a_heartbeat_to_register_everywhere(group, queues):
    one_sided(group, ago(25))
    holds(group, "c1", queues)
    assert FindingCode.BROKERS_DIFFER not in found(group)


def test_members_have_the_time_to_learn_of_a_broker(group, queues):
    one_sided(group, ago(300))
    holds(group, "c1", queues)
    Queue.objects.filter(broker="broker-b").update(first_seen_at=ago(60))
    assert found(group) == {}


def test_brokers_without_a_queue_of_a_topic_do_not_count(group, queues):
    one_sided(group, ago(300))
    Queue.objects.filter(broker="broker-b").update(readable=False)
    own_all(group, queues)
    assert found(group) == {}


def test_a_member_that_does_not_answer_for_two_minutes_is_silent(group, queues):
    a_member(group, "c1")
    own_all(group, queues)
    group.clients.update(running_info_at=ago(150), running_info_error="timed out")
    assert (
        found(group)[FindingCode.SILENT_MEMBER].sentence == "c1 has not reported its queues for 2 min 30 s: timed out."
    )
    group.clients.update(running_info_at=ago(100))
    assert found(group) == {}


def test_members_beyond_the_number_of_queues_are_one_finding(group):
    queues = some_queues(group, each=1)
    for number in range(4):
        a_member(group, f"c{number}")
    own_all(group, queues)
    idle = found(group)[FindingCode.IDLE_MEMBERS]
    assert list(found(group)) == [FindingCode.IDLE_MEMBERS]
    assert idle.sentence == "Without a queue: c2, c3 (2 of 4 members). Orders has 2 queues."
    assert idle.severity == FindingSeverity.WARNING


def test_a_topic_with_too_few_queues_is_noted_where_everyone_owns_another(group, queues):
    few = some_queues(group, "Payments", each=1)
    for number in range(4):
        a_member(group, f"c{number}", ("Orders", "Payments"))
    own_all(group, queues + few)
    assert list(found(group)) == [FindingCode.TOO_FEW_QUEUES]
    assert found(group)[FindingCode.TOO_FEW_QUEUES].params == {"topic": "Payments", "queues": 2, "members": 4}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"message_model": "BROADCASTING"}, "broadcasting: every member owns every queue"),
        ({"consume_type": "CONSUME_POP"}, "members pop messages: no queue has an owner"),
        ({"consume_type": "CONSUME_ACTIVELY"}, "members pull messages"),
    ],
)
def test_groups_without_owners_have_nothing_to_find(group, queues, fields, why):
    for client_id in ("c1", "c2"):
        a_member(group, client_id)
        holds(group, client_id, queues)
    type(group).objects.update(**fields)
    assert found(group) == {}
    assert ownership_check(group, NOW).why_not_compared.startswith(why)


def test_in_broadcasting_two_processes_with_one_id_are_a_warning(group, queues):
    a_member(group, "c1", connections=TWICE, duplicated_since=ago(300))
    type(group).objects.update(message_model="BROADCASTING")
    assert found(group)[FindingCode.DUPLICATE_CLIENT_IDS].severity == FindingSeverity.WARNING
    assert "the same file of offsets" in found(group)[FindingCode.DUPLICATE_CLIENT_IDS].sentence


def test_a_group_without_members_has_nothing_to_find(group, queues):
    type(group).objects.update(online=False)
    assert found(group) == {}


def test_what_nobody_looked_after_for_long_is_not_judged(group, queues):
    a_member(group, "c1", strategy="com.acme.A")
    a_member(group, "c2")
    type(group).objects.update(membership_at=ago(1000))
    assert found(group) == {}
    assert ownership_check(group, NOW).why_not_compared.startswith("not every broker has reported")


def test_the_check_says_what_it_was_made_against(group, queues):
    a_member(group, "c1", running_info_at=ago(6))
    a_member(group, "c2", running_info_at=ago(12))
    own_all(group, queues)
    check = ownership_check(group, NOW)
    assert (check.members, check.strategies, check.answered_at) == (2, [AVERAGELY], ago(12))
    assert (check.compared_queues, check.as_expected, check.why_not_compared) == (8, 8, None)
    assert check.expected == expected_owners(group)


def test_the_check_does_not_say_when_all_answered_while_one_never_did(group, queues):
    a_member(group, "c1")
    a_member(group, "c2", running_info_at=None)
    assert ownership_check(group, NOW).answered_at is None


def test_the_check_counts_the_queues_that_are_not_as_expected(group, queues):
    a_member(group, "c1")
    a_member(group, "c2")
    own_all(group, queues[:7])
    holds(group, "c2", queues[:1])
    check = ownership_check(group, NOW)
    assert (check.compared_queues, check.as_expected) == (8, 6)


def test_the_worst_comes_first(group, queues):
    a_member(group, "c1", strategy="com.acme.A", settings={"maxReconsumeTimes": "3"})
    a_member(group, "c2", orderly=True, settings={"maxReconsumeTimes": "16"})
    assert list(found(group)) == [
        FindingCode.STRATEGIES_DIFFER,
        FindingCode.ORDERLY_AND_CONCURRENT,
        FindingCode.SETTINGS_DIFFER,
    ]


def test_it_asks_few_questions_however_much_is_wrong(group, django_assert_max_num_queries):
    some_queues(group, each=30)
    for number in range(9):
        a_member(group, f"c{number}", ("Orders",) if number else ("Payments",))
    with django_assert_max_num_queries(11):
        assert found(group)
