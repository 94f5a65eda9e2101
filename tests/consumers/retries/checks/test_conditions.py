"""The truth table of retry conditions: a healthy group, and one thing that differs."""

from dataclasses import replace

import pytest

from consumers.retries.checks.condition_rows import ConditionName
from consumers.retries.checks.failing import conditions
from consumers.retries.checks.observed import HeldQueue
from consumers.vocabulary.findings import FindingSeverity
from tests.consumers.retries.condition_facts import a_broker, a_client, facts, said, silent_client, unread
from tests.world import ago

Name = ConditionName
CRITICAL, WARNING, INFO = FindingSeverity.CRITICAL, FindingSeverity.WARNING, FindingSeverity.INFO
HELD = HeldQueue(place="Orders/broker-a/0", client_id="c1", held_min=40, min_offset=10, head_since=ago(60))


def one(**more):
    """Facts of a group on one broker that says so of it."""
    return facts(a_broker(group=said(**more)))


def with_client(**settings):
    return facts(clients=[a_client(**settings)])


def held(**more):
    return facts(held=[replace(HELD, **more)])


def found(given, name):
    [condition] = [condition for condition in conditions(given) if condition.name == name]
    return condition


def test_all_conditions_hold_for_a_healthy_group():
    assert {condition.name: condition.ok for condition in conditions(facts())} == dict.fromkeys(
        set(Name) - {Name.ACKNOWLEDGED}, True
    )


FAILING = [
    ("retryQueueNums 0", one(retry_queue_nums=0), Name.KEPT, CRITICAL, "silently discarded on broker-a"),
    ("below 0", one(retry_queue_nums=-1), Name.KEPT, CRITICAL, "retryQueueNums is 0"),
    (
        "on one of two brokers",
        facts(a_broker(), a_broker("broker-b", group=said(retry_queue_nums=0))),
        Name.KEPT,
        CRITICAL,
        "on broker-b",
    ),
    ("unknown to a broker", one(configured=False), Name.GROUP_EXISTS, CRITICAL, "is not known on broker-a"),
    ("paused", one(consume_enable=False), Name.ENABLED, WARNING, "consumeEnable is false"),
    ("not to be written", one(retry_permission=4), Name.RETRY_WRITABLE, WARNING, "%RETRY%billing may not be written"),
    ("not to be read", one(retry_permission=2), Name.RETRY_READABLE, CRITICAL, "never comes back"),
    (
        "a POP topic not to be read",
        one(pop_permissions={"%RETRY%billing+Orders": 2}),
        Name.RETRY_READABLE,
        CRITICAL,
        "%RETRY%billing+Orders may not be read",
    ),
    ("fewer queues than retries", one(retry_queue_nums=4), Name.RETRY_QUEUES, CRITICAL, "1 read queue on broker-a"),
    ("no queue at all", one(read_queues=0), Name.RETRY_QUEUES, CRITICAL, "has 0 read queues"),
    (
        "dead letters made by an old broker",
        one(dlq_permission=2),
        Name.DLQ_READABLE,
        WARNING,
        "is not readable on broker-a",
    ),
    ("a closed broker", facts(a_broker(permission=4)), Name.TAKES_BACK, WARNING, "brokerPermission is 4"),
    (
        "a closed broker beside an open one",
        facts(a_broker(permission=4), a_broker("broker-b")),
        Name.TAKES_BACK,
        INFO,
        "retried through broker-b",
    ),
    (
        "a master that is down",
        facts(a_broker(has_master=False)),
        Name.TAKES_BACK,
        WARNING,
        "master of broker-a is down",
    ),
    ("a wiped broker", facts(a_broker(routed=4)), Name.ROUTED, INFO, "wipeWritePerm"),
    (
        "a wiped broker of orderly members",
        facts(a_broker(routed=4), clients=[a_client(orderly=True)]),
        Name.ROUTED,
        WARNING,
        "wipeWritePerm",
    ),
    ("messages that expired", held(held_min=5), Name.ORIGINALS, INFO, "held from 5 on, stored from 10 on"),
    ("a broadcasting group", facts(message_model="BROADCASTING"), Name.RETRIED, WARNING, "never retried"),
    ("a group that pulls", facts(consume_type="CONSUME_ACTIVELY"), Name.RETRIED, INFO, "sends it back"),
    ("a listener that runs too long", held(head_since=ago(16 * 60)), Name.TIMEOUT, WARNING, "its consumeTimeout of 15"),
    ("batches", with_client(consumeMessageBatchMaxSize="32"), Name.SINGLE, INFO, "Up to 32 messages at once"),
    ("orderly without limit", with_client(orderly=True), Name.IN_TURN, INFO, "without a retry limit"),
    ("orderly", with_client(orderly=True, maxReconsumeTimes="3"), Name.IN_TURN, INFO, "retried in place"),
    ("popping", facts(pops=True), Name.ACKNOWLEDGED, INFO, "before its outcome"),
    (
        "popping, discarded",
        replace(one(retry_queue_nums=0), pops=True),
        Name.KEPT,
        CRITICAL,
        "discards dead-letter messages of this",
    ),
]


@pytest.mark.parametrize(("sentence", "given", "name", "severity", "words"), FAILING, ids=[row[0] for row in FAILING])
def test_what_does_not_hold_says_so_and_names_a_cure(sentence, given, name, severity, words):
    condition = found(given, name)
    assert (condition.ok, condition.severity) == (False, severity)
    assert words in condition.detail
    assert (condition.cure != "", condition.unknown_reason) == (True, None)


UNKNOWN = [
    ("unread", facts(unread()), Name.KEPT, "broker-a could not be read"),
    ("unread", facts(unread()), Name.GROUP_EXISTS, "broker-a could not be read"),
    ("unread", facts(unread()), Name.ENABLED, "broker-a could not be read"),
    ("unread", facts(unread()), Name.RETRY_READABLE, "broker-a could not be read"),
    ("unread", facts(unread()), Name.DLQ_READABLE, "broker-a could not be read"),
    ("unread", facts(unread()), Name.TAKES_BACK, "broker-a has not been read"),
    ("no route", facts(a_broker(routed="no name server")), Name.ROUTED, "no name server"),
    ("not told", one(retry_queue_nums=None), Name.KEPT, "has reported how many retry queues"),
    ("not told", one(consume_enable=None), Name.ENABLED, "has reported whether the group may consume"),
    ("absent, offline", replace(one(configured=False), online=False), Name.GROUP_EXISTS, "autoCreateSubscriptionGroup"),
    ("just gone", one(configured=False, since=ago(30)), Name.GROUP_EXISTS, "autoCreateSubscriptionGroup"),
    ("queues not seen", one(read_queues=None), Name.RETRY_QUEUES, "No scrape has found the queues"),
    ("no member", facts(clients=[], online=False), Name.SINGLE, "The group has no member"),
    ("no member", facts(clients=[], online=False), Name.ORIGINALS, "The group has no member"),
    ("not asked", facts(clients=[], membership_unknown="refused"), Name.TIMEOUT, "refused"),
    ("members of long ago", facts(membership_unknown="not since 02:00"), Name.SINGLE, "not since 02:00"),
    ("members of long ago", facts(membership_unknown="not since 02:00"), Name.ORIGINALS, "not since 02:00"),
    ("a silent member", facts(clients=[a_client(), silent_client("c2")]), Name.SINGLE, "unknown of: c2"),
    ("a silent member", facts(clients=[silent_client("c2")]), Name.IN_TURN, "unknown of: c2"),
    ("a member of unknown kind", with_client(orderly=None), Name.TIMEOUT, "unknown of: c1"),
    ("a silent member", facts(clients=[silent_client("c2")]), Name.ORIGINALS, "Not reported yet: c2"),
    ("min offset not known", held(min_offset=None), Name.ORIGINALS, "min offset of Orders/broker-a/0"),
    ("never seen", facts(message_model=None, online=False, clients=[]), Name.RETRIED, "no member has been seen"),
    ("nothing held", facts(a_broker(holds=False)), Name.KEPT, "No known broker of prod has"),
]


@pytest.mark.parametrize(
    ("sentence", "given", "name", "words"), UNKNOWN, ids=[f"{row[2]}: {row[0]}" for row in UNKNOWN]
)
def test_what_is_not_known_says_why(sentence, given, name, words):
    condition = found(given, name)
    assert condition.ok is None
    assert words in (condition.unknown_reason or "")


HOLDING = [
    (
        "a broker that knows the group, though another is unread",
        facts(a_broker(), unread("broker-b", holds=False)),
        Name.KEPT,
    ),
    ("a closed broker, of which name servers tell the same", facts(a_broker(permission=4, routed=4)), Name.ROUTED),
    ("no dead letters yet", one(dlq_permission=None), Name.DLQ_READABLE),
    ("no retry topic yet", one(retry_permission=None), Name.RETRY_WRITABLE),
    (
        "a closed broker of other groups",
        facts(a_broker(), a_broker("broker-b", permission=4, holds=False)),
        Name.TAKES_BACK,
    ),
    ("more queues than retries are spread over", one(read_queues=4), Name.RETRY_QUEUES),
    ("a message held for long, but within the limit", held(head_since=ago(14 * 60)), Name.TIMEOUT),
    (
        "a message that an orderly member retries in place for longer than consumeTimeout",
        replace(held(head_since=ago(41 * 60)), clients=(a_client(orderly=True),)),
        Name.TIMEOUT,
    ),
    ("the oldest stored message is held", held(held_min=10), Name.ORIGINALS),
]


@pytest.mark.parametrize(("sentence", "given", "name"), HOLDING, ids=[row[0] for row in HOLDING])
def test_what_is_no_fault_holds(sentence, given, name):
    assert found(given, name).ok is True


@pytest.mark.parametrize(
    ("sentence", "given", "absent"),
    [
        ("a broadcasting group has no retries", facts(message_model="BROADCASTING"), Name.KEPT),
        ("a popping group sends nothing back", facts(pops=True), Name.ACCEPTED),
        ("a group that pushes does not pop", facts(), Name.ACKNOWLEDGED),
    ],
)
def test_what_means_nothing_for_a_group_is_left_out(sentence, given, absent):
    assert absent not in {condition.name for condition in conditions(given)}


def test_the_worst_stands_first_and_what_is_unknown_before_what_holds():
    given = facts(
        a_broker(group=said(retry_queue_nums=0, dlq_permission=2), routed="no name server"),
        clients=[a_client(consumeMessageBatchMaxSize="2")],
    )
    names = [condition.name for condition in conditions(given)]
    assert names[:4] == [Name.KEPT, Name.DLQ_READABLE, Name.SINGLE, Name.ROUTED]


def test_a_cure_names_the_broker_and_the_group():
    assert (
        "updateSubGroup -n '127.0.0.1:9876' -b broker-a:10911 -g billing -q 1" in found(FAILING[0][1], Name.KEPT).cure
    )
