"""Retries of a group in the timer wheels of brokers, and the policy by which POP's come again."""

import pytest

from consumers.models import Broker, GroupBroker
from consumers.retries.ladder import ladder_of
from tests.delay_rows import a_delaying_broker
from tests.world import NOW, a_client, a_cluster, a_group, a_queue, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    cluster = a_cluster()
    a_delaying_broker(cluster, wheel={"%RETRY%billing": 4, "%RETRY%billing+Orders": 3, "%RETRY%billing_Orders": 2})
    a_delaying_broker(cluster, "broker-b", wheel={"%RETRY%billing": 1, "%RETRY%bill": 50, "%RETRY%billing_eu": 9})
    a_queue(cluster, "Orders")
    return a_group(cluster, "billing")


def wheel():
    return ladder_of("prod", "billing", NOW).wheel


def test_the_messages_of_all_its_retry_topics_on_all_brokers_are_counted(group):
    assert (wheel().messages, wheel().counted_at) == (4 + 3 + 2 + 1, ago(5))


def test_empty_wheels_hold_none_of_its_messages(group):
    Broker.objects.update(wheel={})
    assert wheel().messages == 0


@pytest.mark.parametrize(
    ("broker", "reason"),
    [
        ({"wheel_error": "the timer message store is null"}, "broker-b gave no counts of its timer wheel: the timer"),
        ({"wheel": None, "wheel_at": None}, "the timer wheel of broker-b has not been scraped yet"),
        ({"wheel_at": ago(600)}, "the timer wheel of broker-b has not been read since 2026-03-14 02:50:00 UTC"),
        ({"failing_since": ago(60), "error": "refused"}, "broker-b could not be read: refused"),
        ({"wheel": {"%RETRY%billing": -1}}, "a broker counts fewer than 0 messages in its timer wheel"),
    ],
    ids=["off", "not asked", "long ago", "not read", "below zero"],
)
def test_a_wheel_that_is_not_known_makes_the_count_unknown(group, broker, reason):
    Broker.objects.filter(name="broker-b").update(**broker)
    found = wheel()
    assert (found.messages, found.counted_at) == (None, None)
    assert found.unknown["messages"].startswith(reason)


def a_config(group, broker, policy):
    values = {"configured": True, "retry_policy": policy, "changed_at": ago(600)}
    return GroupBroker.objects.create(group=group, broker=broker, **values)


def policy(kind, **values):
    return {"kind": kind, "delays_ms": None, "initial_ms": None, "max_ms": None, "multiplier": None} | values


def shown():
    found = ladder_of("prod", "billing", NOW)
    return found.policy, found.unknown.get("policy")


def test_the_default_policy_is_that_of_the_delay_levels(group):
    a_config(group, "broker-a", policy("CUSTOMIZED"))
    found, _ = shown()
    assert (found.kind, found.delays_seconds[0], found.delays_seconds[1], found.delays_seconds[-1]) == (
        "CUSTOMIZED",
        10,
        30,
        7200,
    )
    assert len(found.delays_seconds) == 16


def test_an_exponential_policy_grows_from_its_first_delay(group):
    a_config(group, "broker-a", policy("EXPONENTIAL", initial_ms=5000, max_ms=60_000, multiplier=2))
    found, _ = shown()
    assert list(found.delays_seconds[:5]) == [5, 10, 20, 40, 60]


def test_a_policy_that_gives_no_delay_says_so(group):
    a_config(group, "broker-a", policy("CUSTOMIZED", delays_ms=[]))
    found, _ = shown()
    assert (list(found.delays_seconds), "no delay" in found.unknown["delays_seconds"]) == ([], True)


@pytest.mark.parametrize(
    ("consume_type", "heeded"), [("CONSUME_POP", True), ("CONSUME_PASSIVELY", None)], ids=["pops", "not known"]
)
def test_it_is_heeded_where_members_pop(group, consume_type, heeded):
    group.consume_type = consume_type
    group.save()
    a_config(group, "broker-a", policy("CUSTOMIZED"))
    found, _ = shown()
    assert (found.is_heeded, "is_heeded" in found.unknown) == (heeded, heeded is None)


def test_members_that_pull_do_not_heed_it(group):
    a_client(group, pop_queues=[])
    a_config(group, "broker-a", policy("CUSTOMIZED"))
    assert shown()[0].is_heeded is False


def test_brokers_that_keep_different_policies_leave_it_unknown(group):
    a_config(group, "broker-a", policy("CUSTOMIZED"))
    a_config(group, "broker-b", policy("EXPONENTIAL", initial_ms=1))
    assert shown() == (None, "broker-a and broker-b have different retry policies of the group")


def test_without_a_configuration_no_policy_is_known(group):
    assert shown() == (None, "no broker has reported the group's retry policy")
