"""Where a failed message finds a place: back on its own broker, as a copy on another, or nowhere."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from consumers.retries.checks.brokers import accepted
from consumers.retries.checks.condition_rows import is_way_round, takes_back
from consumers.vocabulary.findings import FindingSeverity
from tests.consumers.retries.condition_facts import a_broker, a_client, facts, said, unread

A, B = a_broker(), a_broker("broker-b")
CLOSED, WIPED, DEAD = a_broker(permission=4, routed=4), a_broker(routed=4), a_broker(has_master=False)
STRANGE = a_broker(group=said(configured=False, retry_permission=None))
SHUT = a_broker(group=said(retry_permission=4))
UNREAD = unread()
ELSEWHERE = replace(B, holds=False)
CLOSED_B = a_broker("broker-b", permission=4, routed=4)
WITHOUT_TOPIC_B = a_broker("broker-b", group=said(retry_permission=None))
WITHOUT_QUEUES_B = a_broker("broker-b", group=said(read_queues=0))


@pytest.mark.parametrize(
    ("sentence", "brokers", "ok", "words"),
    [
        ("its own broker takes it back", [A], True, "taken back by broker-a"),
        ("both do", [A, B], True, "broker-a, broker-b"),
        ("a closed broker alone", [CLOSED], False, "brokerPermission is 4"),
        ("a closed one beside an open one", [CLOSED, B], True, "go to broker-b"),
        ("a closed one beside an open one that holds nothing of it", [CLOSED, ELSEWHERE], True, "go to broker-b"),
        ("two closed ones", [CLOSED, CLOSED_B], False, "broker-b takes no messages"),
        ("a closed one and one without its retry topic", [CLOSED, WITHOUT_TOPIC_B], False, "every 5 s"),
        ("a closed one and one whose retry topic has no queue", [CLOSED, WITHOUT_QUEUES_B], False, "every 5 s"),
        ("one whose master is down, alone", [DEAD], False, "master of broker-a is down"),
        ("one whose master is down, with another", [DEAD, B], True, "go to broker-b"),
        ("one that does not know the group", [STRANGE], False, "does not know the group"),
        ("one whose retry topic may not be written", [SHUT], False, "does not let the retry topic be written"),
        ("name servers route nothing to it: it takes back all the same", [WIPED], True, "taken back by broker-a"),
        ("an unread one alone", [UNREAD], None, "could not be read"),
        ("an unread one beside an open one", [UNREAD, B], True, "failed messages can go to broker-b"),
        ("a closed one beside an unread one", [CLOSED, unread("broker-b")], None, "broker-b could not be read"),
        ("nothing that holds its topics", [ELSEWHERE], None, "No known broker of prod has"),
    ],
)
def test_where_a_failed_message_goes(sentence, brokers, ok, words):
    found = accepted(facts(*brokers))
    assert (found.ok, found.severity) == (ok, FindingSeverity.CRITICAL)
    assert words in found.detail
    assert (found.unknown_reason is None) == (ok is not None)


@pytest.mark.parametrize(
    ("sentence", "brokers", "tries", "ok", "words"),
    [
        ("without limit nothing is ever sent", [CLOSED], "-1", True, "without limit"),
        ("past its tries a message is written", [A], "3", True, "goes to broker-a"),
        (
            "to a broker that is routed, whatever the own one takes back",
            [WIPED],
            "3",
            False,
            "queues are blocked",
        ),
        ("or to another", [WIPED, B], "3", True, "goes to broker-b"),
        ("a closed one is routed nothing", [CLOSED], "3", False, "queues are blocked"),
        ("an unread one may be", [UNREAD], "3", None, "could not be read"),
    ],
)
def test_what_orderly_members_have_tried_too_often(sentence, brokers, tries, ok, words):
    found = accepted(facts(*brokers, clients=[a_client(orderly=True, maxReconsumeTimes=tries)]))
    assert found.ok is ok
    assert words in found.detail


def test_it_names_the_brokers_that_refuse_and_the_command_that_opens_one():
    found = accepted(facts(CLOSED))
    assert found.brokers == ["broker-a"]
    assert "mqadmin updateBrokerConfig -b broker-a:10911 -k brokerPermission -v 6" in found.cure


PERMISSION = st.sampled_from([6, 4, 2, 0, "not read"])
SAID = st.builds(
    said,
    configured=st.booleans(),
    retry_permission=st.sampled_from([None, 6, 4, 2]),
    read_queues=st.sampled_from([None, 0, 1]),
)


def brokers(name):
    known = st.builds(
        a_broker, st.just(name), permission=PERMISSION, routed=PERMISSION, group=SAID, holds=st.booleans()
    )
    return st.one_of(known, st.just(unread(name)))


@given(st.tuples(brokers("a"), brokers("b"), brokers("c")))
def test_it_never_says_that_nothing_takes_retries_while_a_broker_may(parts):
    found = accepted(facts(*parts))
    may_round = any(is_way_round(broker) is not False for broker in parts)
    holders = [broker for broker in parts if broker.holds]
    if found.ok is False:
        assert not may_round
        assert any(takes_back(broker) is False for broker in holders)
    if found.ok is True:
        assert all(takes_back(broker) for broker in holders) or any(is_way_round(broker) for broker in parts)
