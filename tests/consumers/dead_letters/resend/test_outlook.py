"""What speaks against sending to a group."""

from typing import Any

import pytest

from consumers.dead_letters.resend.preview import Outlook, outlook
from consumers.retries.checks.observed import (
    BrokerConditions,
    ClientConditions,
    GroupConfigured,
    Permission,
    RetryConditions,
)
from tests.world import NOW

OPEN = Permission(value=6, at=NOW)
CLOSED = Permission(value=4, at=NOW)


def configured(**fields: Any) -> GroupConfigured:
    values = {"configured": True, "since": NOW, "retry_queue_nums": 1, "retry_permission": 6} | fields
    return GroupConfigured(**values)


def a_broker(name: str = "broker-a", **fields: Any) -> BrokerConditions:
    values = {"address": "", "holds": True, "permission": OPEN, "routed": OPEN, "group": configured()} | fields
    return BrokerConditions(name=name, **values)


def facts(*brokers: BrokerConditions, **fields: Any) -> RetryConditions:
    values = {"online": True, "clients": [ClientConditions(client_id="a", orderly=False)]} | fields
    return RetryConditions(
        cluster="prod", group="billing", namesrv="", now=NOW, brokers=brokers or (a_broker(),), **values
    )


def test_nothing_speaks_against_a_plain_group() -> None:
    assert outlook(facts(), to_group=True) == Outlook([], [])


REFUSED = [
    (facts(clients=[ClientConditions(client_id="a", orderly=True)]), "queue locks"),
    (facts(pops=True), "pops"),
    (facts(consume_type="CONSUME_POP"), "pops"),
    (facts(message_model="BROADCASTING"), "broadcasting"),
    (facts(a_broker(permission=CLOSED)), "broker-a does not accept writes"),
    (facts(a_broker(routed=CLOSED)), "broker-a does not accept writes"),
    (facts(a_broker(group=configured(retry_queue_nums=0))), "retryQueueNums is 0 on broker-a"),
    (facts(a_broker(group=configured(retry_permission=None))), "broker-a has no such topic"),
    (facts(a_broker(group=configured(retry_permission=4))), "permission on broker-a is 4"),
    (facts(a_broker(group=configured(configured=False))), "broker-a does not know the group"),
    (facts(a_broker(permission=CLOSED), a_broker("broker-b", permission=CLOSED)), "broker-b does not accept writes"),
]


@pytest.mark.parametrize(("against", "words"), REFUSED)
def test_it_refuses(against: RetryConditions, words: str) -> None:
    assert words in " ".join(outlook(against, to_group=True).refusals)


@pytest.mark.parametrize(("against", "_words"), REFUSED)
def test_none_of_it_matters_for_the_topic_itself(against: RetryConditions, _words: str) -> None:
    assert outlook(against, to_group=False).refusals == []


def test_one_broker_that_takes_them_is_enough() -> None:
    assert outlook(facts(a_broker(permission=CLOSED), a_broker("broker-b")), to_group=True).refusals == []


WARNED = [
    (facts(online=False, clients=[]), "The group has no member"),
    (facts(online=None, membership_unknown="broker-a: silent"), "are unknown: broker-a: silent"),
    (facts(clients=[ClientConditions(client_id="a")]), "whether it is orderly"),
    (facts(a_broker(group=None, unread="it was never read")), "exists on broker-a"),
    (facts(a_broker(group=configured(consume_enable=False))), "not enabled on broker-a"),
]


@pytest.mark.parametrize(("against", "words"), WARNED)
def test_what_is_not_known_or_unusual_is_said_and_does_not_stop_it(against: RetryConditions, words: str) -> None:
    told = outlook(against, to_group=True)
    assert told.refusals == []
    assert words in " ".join(told.warnings)
