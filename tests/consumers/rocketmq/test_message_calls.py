"""Look-ups of single messages: what is asked for, and what becomes of the answers."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from consumers.rocketmq.message_calls import MOST_BY_KEY, MessageCalls
from consumers.rocketmq.wire.codes import BrokerRefused, RemoteProtocolError
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command
from tests.consumers.messages.made_copies import stored_message
from tests.consumers.rocketmq.fake_server import answering, reply, served

AT = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)


def ask(use: Callable[[MessageCalls], Awaitable[Any]], code: int = 0, seen: Any = None, **answer: Any) -> Any:
    def answered(request: Command) -> Command:
        if seen is not None:
            seen.append((request.code, dict(request.ext_fields)))
        return reply(request, code, **answer)

    async def main() -> Any:
        async with served(answering(answered)) as address, ConnectionPool() as pool:
            return await use(MessageCalls(pool, address))

    return asyncio.run(main())


def an_order(offset: int = 0, topic: str = "Orders", **properties: str) -> bytes:
    return stored_message(topic, offset, 100 * offset, AT, properties=properties)


def by_key(calls: MessageCalls) -> Awaitable[Any]:
    return calls.by_key("Orders", "order-7", 1000, 2000)


def test_it_asks_the_index_for_a_key_of_a_topic_in_a_range() -> None:
    seen: list[Any] = []
    ask(by_key, seen=seen, body=an_order(KEYS="order-7"))
    fields = {"topic": "Orders", "key": "order-7", "maxNum": "64", "beginTimestamp": "1000", "endTimestamp": "2000"}
    assert seen == [(12, fields)]


@pytest.mark.parametrize(
    ("properties", "is_found"),
    [
        ({"KEYS": "order-7"}, True),
        ({"KEYS": "a order-7 b"}, True),
        ({"UNIQ_KEY": "order-7"}, True),
        ({"KEYS": "order-77"}, False),
        ({"TAGS": "order-7"}, False),
    ],
)
def test_what_only_has_the_hash_of_the_key_is_dropped(properties: dict[str, str], is_found: bool) -> None:
    assert bool(ask(by_key, body=an_order(**properties)).messages) is is_found


def test_a_message_of_another_topic_is_dropped() -> None:
    assert ask(by_key, body=an_order(topic="Bills", KEYS="order-7")).messages == ()


def test_a_key_that_the_index_does_not_have_is_no_error() -> None:
    assert ask(by_key, code=22, remark="can not find message, maybe time range not correct").messages == ()


def test_an_answer_as_long_as_it_may_be_need_not_be_whole() -> None:
    assert ask(by_key, body=b"".join(an_order(n, KEYS="order-7") for n in range(MOST_BY_KEY))).is_cut
    assert not ask(by_key, body=b"".join(an_order(n, KEYS="order-7") for n in range(MOST_BY_KEY - 1))).is_cut


@pytest.mark.parametrize("code", [1, 16])
def test_a_refusal_of_the_index_is_raised(code: int) -> None:
    with pytest.raises(BrokerRefused):
        ask(by_key, code=code, remark="no")


def test_it_asks_for_the_message_at_a_place_of_the_commit_log() -> None:
    seen: list[Any] = []
    message = ask(lambda calls: calls.at(700, "Orders"), seen=seen, body=an_order(7))
    assert seen == [(33, {"offset": "700", "topic": "Orders"})]
    assert message.stored_id == "7F00000100002A9F00000000000002BC"


def test_a_place_that_is_no_longer_in_the_log_has_no_message() -> None:
    said = "can not find message by the offset, 700"
    assert ask(lambda calls: calls.at(700, "Orders"), code=1, remark=said) is None


def test_another_failure_at_a_place_is_not_taken_for_an_absent_message() -> None:
    with pytest.raises(BrokerRefused, match="newLimit"):
        ask(lambda calls: calls.at(700, "Orders"), code=1, remark="newLimit < 0: (-1 < 0)")


def test_an_answer_that_is_no_message_is_raised() -> None:
    with pytest.raises(RemoteProtocolError):
        ask(lambda calls: calls.at(700, "Orders"), body=b"\x00\x00\x00\x08abcd")
