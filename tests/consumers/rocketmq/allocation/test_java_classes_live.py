"""Thousands of random shares, compared with those of RocketMQ's own classes."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from consumers.rocketmq.allocation import (
    Averagely,
    AveragelyByCircle,
    ConsistentHash,
    NothingToShare,
    QueueKey,
    Strategy,
    allocate,
)
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live

# Letters whose order differs between code points and UTF-16, and some that take one to four bytes in UTF-8.
LETTERS = "aZ0-_é漢\uffee\U0001f600\U00020000"
BROKERS = ["broker-a", "idc1@a", "idc2@b", "idc1@", "@a", "idc1@a@b", "idc1@a@", "\uffee@x", "\U0001f600@y"]
INNER: dict[str, Callable[[], Strategy]] = {
    "AllocateMessageQueueAveragely": Averagely,
    "AllocateMessageQueueAveragelyByCircle": AveragelyByCircle,
    "AllocateMessageQueueConsistentHash": ConsistentHash,
}

Case = dict[str, Any]


def some_queues(chance: random.Random) -> list[QueueKey]:
    topic = "".join(chance.choices(LETTERS, k=4))
    all_queues = [QueueKey(topic, broker, number) for broker in chance.sample(BROKERS, 3) for number in range(7)]
    return chance.sample(all_queues, chance.randint(0 if chance.random() < 0.02 else 1, 18))


def some_clients(chance: random.Random) -> list[str]:
    """Often with an id twice."""
    named = [f"10.0.0.{chance.randint(1, 30)}@" + "".join(chance.choices(LETTERS, k=2)) for _ in range(7)]
    return chance.choices(named, k=chance.randint(1, 7)) if chance.random() < 0.5 else named


def plain(name: str) -> Callable[[random.Random, Case], Strategy]:
    return lambda chance, case: INNER[name]()


def ring(chance: random.Random, case: Case) -> Strategy:
    nodes = chance.choice([None, 0, 1, 3, 10, 40])
    case["argument"] = nodes
    return ConsistentHash() if nodes is None else ConsistentHash(nodes)


def printed(queues: tuple[QueueKey, ...]) -> str:
    """As Java prints a list of queues."""
    said = (f"MessageQueue [topic={q.topic}, brokerName={q.broker}, queueId={q.queue_id}]" for q in queues)
    return f"[{', '.join(said)}]"


def ours(strategy: Strategy, case: Case) -> list[str]:
    refused = "IllegalArgumentException"
    try:
        shares = allocate(strategy, [QueueKey(*queue) for queue in case["queues"]], case["clients"])
    except NothingToShare:
        return [refused] * len(case["clients"])
    return [printed(shares[client]) for client in case["clients"]]


@pytest.mark.parametrize(
    ("name", "make", "count"),
    [
        ("AllocateMessageQueueAveragely", plain("AllocateMessageQueueAveragely"), 1500),
        ("AllocateMessageQueueAveragelyByCircle", plain("AllocateMessageQueueAveragelyByCircle"), 1500),
        ("AllocateMessageQueueConsistentHash", ring, 1000),
    ],
)
def test_shares_are_those_of_rocketmqs_own_class(
    java_admin: JavaAdmin, name: str, make: Callable[[random.Random, Case], Strategy], count: int
) -> None:
    chance = random.Random(name)
    cases: list[Case] = []
    expected: list[list[str]] = []
    for _ in range(count):
        case: Case = {"strategy": name, "queues": some_queues(chance), "clients": some_clients(chance)}
        strategy = make(chance, case)
        cases.append(case)
        expected.append(ours(strategy, case))

    assert java_admin.allocate_many(cases) == expected
    assert sum(len(set(case["clients"])) < len(case["clients"]) for case in cases) > count / 10
