"""Calls about single queues against a real broker: what they answer, and that they leave nothing behind."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.stored import PullOutcome
from consumers.rocketmq.wire.codes import BrokerRefused
from consumers.rocketmq.wire.connection import ConnectionPool
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live

TOPIC, GROUP = "wire_parcels", "wire_couriers"
Value = TypeVar("Value")
Ask = Callable[[Callable[[BrokerAdmin], Awaitable[Value]]], Value]


@pytest.fixture(scope="module")
def ask(rocketmq: RocketMQ, java_admin: JavaAdmin) -> Ask[object]:
    """Queue 0 of the topic holds six messages, two of each tag in turn; the group has committed 2 there."""
    java_admin.create_topic(TOPIC, 2)
    java_admin.create_group(GROUP)
    for tags in ("TagA", "TagB", "", "TagA", "TagB", ""):
        java_admin.send(TOPIC, "broker-a", 0, 1, tags=tags)
    java_admin.set_offset(GROUP, TOPIC, "broker-a", 0, 2)

    def run(use: Callable[[BrokerAdmin], Awaitable[object]]) -> object:
        async def main() -> object:
            async with ConnectionPool() as pool:
                return await use(BrokerAdmin(pool, rocketmq.brokers["broker-a"].address))

        return asyncio.run(main())

    return run


def test_a_pull_finds_the_message_at_its_offset(ask: Ask) -> None:
    pulled = ask(lambda broker: broker.pull(TOPIC, 0, 3, 2))
    assert [(message.queue_offset, message.topic) for message in pulled.messages] == [(3, TOPIC), (4, TOPIC)]
    first = pulled.messages[0]
    assert first.properties["TAGS"] == "TagA"
    assert 0 <= first.stored_ms - first.born_ms < 5000
    assert abs(time.time() * 1000 - first.stored_ms) < 600_000


@pytest.mark.parametrize(
    ("offset", "outcome", "next_offset"), [(6, PullOutcome.NO_MESSAGE_YET, 6), (9, PullOutcome.MOVED, 6)]
)
def test_a_pull_beyond_the_messages_says_so(ask: Ask, offset: int, outcome: PullOutcome, next_offset: int) -> None:
    pulled = ask(lambda broker: broker.pull(TOPIC, 0, offset))
    assert (pulled.outcome, pulled.next_offset, pulled.messages) == (outcome, next_offset, ())


def test_a_pull_of_an_unknown_topic_is_refused(ask: Ask) -> None:
    with pytest.raises(BrokerRefused, match="TOPIC_NOT_EXIST"):
        ask(lambda broker: broker.pull("wire_nowhere", 0, 0))


@pytest.mark.parametrize(("queue_id", "in_memory", "offset"), [(0, False, 2), (1, False, None), (1, True, None)])
def test_a_committed_offset_is_told_and_its_absence(
    ask: Ask, queue_id: int, in_memory: bool, offset: int | None
) -> None:
    assert ask(lambda b: b.consumer_offset(GROUP, TOPIC, queue_id, zero_if_in_memory=in_memory)) == offset


def test_a_starting_member_is_told_0_while_the_first_message_is_in_memory(ask: Ask) -> None:
    assert ask(lambda broker: broker.consumer_offset("wire_strangers", TOPIC, 0)) is None
    assert ask(lambda broker: broker.consumer_offset("wire_strangers", TOPIC, 0, zero_if_in_memory=True)) == 0


def test_an_offset_is_found_by_time(ask: Ask) -> None:
    async def use(broker: BrokerAdmin) -> tuple[int, int, int]:
        (message,) = (await broker.pull(TOPIC, 0, 3)).messages
        return (
            await broker.search_offset(TOPIC, 0, 0),
            await broker.search_offset(TOPIC, 0, message.stored_ms),
            await broker.search_offset(TOPIC, 0, message.stored_ms + 3_600_000),
        )

    earliest, at_third, later = ask(use)
    assert (earliest, later) == (0, 6)
    # Several messages may share a millisecond.
    assert at_third <= 3


def test_a_consume_queue_tells_the_tags(ask: Ask) -> None:
    found = ask(lambda broker: broker.consume_queue(TOPIC, 0, 2, 3))
    assert [entry.tags_code for entry in found.entries] == [0, 2598919, 2598920]
    assert (found.min_offset, found.max_offset) == (0, 6)


def test_nothing_of_it_leaves_a_trace(ask: Ask) -> None:
    async def state(broker: BrokerAdmin) -> tuple[object, ...]:
        groups, topics = await broker.groups(), await broker.topics()
        offsets = sorted(map(str, (await broker.consumer_offsets()).to_pylist()))
        return sorted(g.name for g in groups.groups), sorted(t.name for t in topics.topics), offsets

    async def use(broker: BrokerAdmin) -> tuple[tuple[object, ...], tuple[object, ...]]:
        before = await state(broker)
        await broker.pull(TOPIC, 0, 2)
        await broker.consumer_offset("wire_strangers", TOPIC, 0, zero_if_in_memory=True)
        await broker.search_offset(TOPIC, 1, 0)
        await broker.consume_queue(TOPIC, 0, 2, 64)
        return before, await state(broker)

    before, after = ask(use)
    assert before == after
    assert "wire_strangers" not in before[0]
