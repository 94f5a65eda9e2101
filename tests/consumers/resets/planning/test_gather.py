"""What is made of the masters' answers."""

import pytest

from consumers.jobs.hold import Ports
from consumers.models import ConsumerGroup
from consumers.resets.planning.gather import Known, broker_setup, gather, known_of, united
from consumers.resets.planning.queue_plan import BrokerSetup, GroupSetup
from consumers.resets.target_values import QueueKey
from consumers.rocketmq.bodies.client_bodies import ClientConnection, GroupConnections
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode, Unreachable
from consumers.words.reasons import stored_words
from tests.reset_cluster import FakeCluster
from tests.world import NOW, a_client

ANN = ClientConnection("10.0.0.7@1", "10.0.0.7:50001", "JAVA", 493)
BOB = ClientConnection("10.0.0.8@2", "10.0.0.8:50001", "GO", 493)
SHARING = {"consume_type": "CONSUME_PASSIVELY", "message_model": "CLUSTERING"}
KEYS = [QueueKey("Orders", "broker-a", 0), QueueKey("Orders", "broker-b", 1)]


def facts_of(ports: Ports, group: ConsumerGroup, keys: list[QueueKey]) -> GroupSetup:
    known = known_of(group)
    return ports.wire.run(gather(ports, group.name, keys, known, NOW))


def test_members_are_united_over_all_who_were_asked() -> None:
    who = united(
        {
            "broker-a": GroupConnections(True, [ANN, BOB], **SHARING),
            "broker-b": GroupConnections(True, [BOB], **SHARING),
            "broker-c": GroupConnections(False),
        }
    )
    assert (who.members, stored_words(who.error), who.languages) == (("10.0.0.7@1", "10.0.0.8@2"), None, ("GO", "JAVA"))
    assert (who.message_model, who.consume_type) == ("CLUSTERING", "CONSUME_PASSIVELY")


def test_where_members_do_not_agree_the_word_that_stands_in_the_way_counts() -> None:
    other = {"consume_type": "CONSUME_ACTIVELY", "message_model": "BROADCASTING"}
    who = united(
        {"broker-a": GroupConnections(True, [ANN], **SHARING), "broker-b": GroupConnections(True, [BOB], **other)}
    )
    assert (who.message_model, who.consume_type) == ("BROADCASTING", "CONSUME_ACTIVELY")


def test_members_are_not_known_where_one_did_not_tell() -> None:
    who = united({"broker-a": GroupConnections(True, [ANN], **SHARING), "broker-b": Unreachable("refused")})
    assert (who.members, stored_words(who.error)) == (None, "broker-b: refused")


def test_members_are_not_known_where_nobody_could_be_asked() -> None:
    assert united({}).members is None


def test_a_group_without_members_is_offline_and_says_nothing_of_its_ways() -> None:
    who = united({"broker-a": GroupConnections(False)})
    assert (who.members, stored_words(who.error), who.message_model, who.consume_type) == ((), None, None, None)


@pytest.mark.parametrize(
    ("config", "facts"),
    [
        ({"useServerSideResetOffset": "true", "brokerPermission": "6"}, (True, 6, None)),
        ({"useServerSideResetOffset": "false", "brokerPermission": "4"}, (False, 4, None)),
        ({"brokerPermission": "6"}, (False, 6, None)),  # before 5.1 there was no such setting
        (
            {"useServerSideResetOffset": "yes", "brokerPermission": "6"},
            (None, None, "its useServerSideResetOffset is not a boolean: yes"),
        ),
        ({"useServerSideResetOffset": "true"}, (None, None, "is not set")),
    ],
)
def test_what_a_configuration_tells(config: dict[str, str], facts: tuple[bool | None, int | None, str | None]) -> None:
    said = broker_setup("broker-a", "V5_4_0", config)
    server_side, permission, error = facts
    assert (said.server_side, said.permission) == (server_side, permission)
    assert stored_words(said.error) == error or (error is not None and error in str(stored_words(said.error)))


def test_a_broker_without_a_master_is_told_so(group: ConsumerGroup, ports: Ports, fake: FakeCluster) -> None:
    facts = facts_of(ports, group, [QueueKey("Orders", "broker-c", 0)])
    assert stored_words(facts.brokers["broker-c"].error) is not None
    assert "its master is unknown" in stored_words(facts.brokers["broker-c"].error)
    assert stored_words(facts.queues[QueueKey("Orders", "broker-c", 0)].error) == stored_words(
        facts.brokers["broker-c"].error
    )


def test_facts_of_a_group(group: ConsumerGroup, ports: Ports, fake: FakeCluster) -> None:
    a_client(group, orderly=True, pop_queues=[{"topic": "Refunds"}])
    facts = facts_of(ports, group, KEYS)
    assert (facts.taken_at, facts.members, facts.orderly) == (NOW, (), True)
    assert facts.pop_topics == frozenset({"Refunds"})
    assert facts.brokers["broker-a"] == BrokerSetup(
        "broker-a", "V5_4_0", True, 6, address=fake.masters["broker-a"].address
    )
    assert {
        key: (q.min_offset, q.max_offset, q.now_offset, stored_words(q.error)) for key, q in facts.queues.items()
    } == dict.fromkeys(KEYS, (10, 100, 50, None))


def test_who_pops_is_not_known_where_a_broker_refuses_to_tell(
    group: ConsumerGroup, ports: Ports, fake: FakeCluster
) -> None:
    fake.masters["broker-a"].refuses = {RequestCode.GET_ALL_MESSAGE_REQUEST_MODE: ResponseCode.NO_PERMISSION}
    assert facts_of(ports, group, KEYS).pop_topics is None


def test_a_broker_that_does_not_know_the_question_lets_nobody_pop(
    group: ConsumerGroup, ports: Ports, fake: FakeCluster
) -> None:
    refused = {RequestCode.GET_ALL_MESSAGE_REQUEST_MODE: ResponseCode.REQUEST_CODE_NOT_SUPPORTED}
    fake.masters["broker-a"].refuses = refused
    assert facts_of(ports, group, KEYS).pop_topics == frozenset()


def test_ends_that_make_no_sense_are_not_believed(group: ConsumerGroup, ports: Ports, fake: FakeCluster) -> None:
    fake.masters["broker-a"].ends["Orders", 0] = (100, 10)
    queue = facts_of(ports, group, KEYS).queues[KEYS[0]]
    assert (queue.min_offset, queue.max_offset, queue.now_offset) == (None, None, None)
    assert stored_words(queue.error) == "its min offset 100 and max offset 10 are inconsistent"


@pytest.mark.parametrize(
    ("said", "orderly"), [([], None), ([None], None), ([False, None], False), ([False, True], True)]
)
def test_one_orderly_member_is_enough(group: ConsumerGroup, said: list[bool | None], orderly: bool | None) -> None:
    for number, one in enumerate(said):
        a_client(group, f"10.0.0.{number}@1", orderly=one)
    a_client(group, "10.0.0.9@1", orderly=True, pop_queues=[{"topic": "Orders"}], gone_by=NOW)
    assert known_of(group) == Known(orderly, frozenset())
