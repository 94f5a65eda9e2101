"""Look-ups of single messages at one broker: by key through its index, and by the place in its commit log.

Neither changes anything on a broker, registers anybody, or names a group.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from consumers.rocketmq.messages.stored import StoredMessage, stored_messages
from consumers.rocketmq.wire.codes import BrokerRefused, RequestCode, ResponseCode, RocketMQError, refused
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command

# One admin call: a request whose answer must be success, and whose body must be what it should be.
DEADLINE_SECONDS = 5.0
# Larger bodies are parsed in a thread, so that one broker's body does not hold up the answers of the others.
PARSED_AT_ONCE = 1 << 20

Value = TypeVar("Value")


async def call(
    pool: ConnectionPool,
    address: str,
    code: int,
    ext_fields: Mapping[str, str] | None = None,
    body: bytes = b"",
    *,
    deadline_seconds: float = DEADLINE_SECONDS,
) -> Command:
    """The answer, if its code is success. Brokers set remarks on successes too: a remark says nothing by itself."""
    answer = await pool.request(address, code, ext_fields, body, deadline_seconds=deadline_seconds)
    if answer.code != ResponseCode.SUCCESS:
        raise refused(answer.code, answer.remark, code, address=address)
    return answer


async def parsed(parse: Callable[[bytes], Value], body: bytes, address: str) -> Value:
    with blaming(address):
        return parse(body) if len(body) < PARSED_AT_ONCE else await asyncio.to_thread(parse, body)


@contextlib.contextmanager
def blaming(address: str) -> Iterator[None]:
    """Gives errors of the block the address of the peer whose answer is being read."""
    try:
        yield
    except RocketMQError as error:
        error.address = address
        raise


# A broker gives no more at once (5.4.0, MessageStoreConfig.maxMsgsNumBatch, IndexService.queryOffset).
MOST_BY_KEY = 64
# What a broker says of an offset below or beyond its commit log (5.4.0, QueryMessageProcessor.viewMessageById).
NOT_THERE = "can not find message by the offset"


@dataclass(frozen=True)
class MessagesByKey:
    """`is_cut`: the broker returned as many as it may; it may have more."""

    messages: tuple[StoredMessage, ...]
    is_cut: bool


class MessageCalls:
    def __init__(self, pool: ConnectionPool, address: str) -> None:
        self.address = address
        self._pool = pool

    async def by_key(
        self, topic: str, key: str, begin_ms: int, end_ms: int, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> MessagesByKey:
        """Messages of `topic` with `key` as one of their keys or as UNIQ_KEY, stored in [begin_ms, end_ms]: the newest
        MOST_BY_KEY.

        The index knows hashes of keys, so that others come along and are dropped here (5.4.0, IndexFile). A message is
        in it some moments after it is stored. The flag `_UNIQUE_KEY_QUERY` is left out: brokers before 4.9.4 do not
        sign it, and it only changes how many are returned.
        """
        fields = {
            "topic": topic,
            "key": key,
            "maxNum": str(MOST_BY_KEY),
            "beginTimestamp": str(begin_ms),
            "endTimestamp": str(end_ms),
        }
        try:
            answer = await call(
                self._pool, self.address, RequestCode.QUERY_MESSAGE, fields, deadline_seconds=deadline_seconds
            )
        except BrokerRefused as refusal:
            if refusal.code == ResponseCode.QUERY_NOT_FOUND:
                return MessagesByKey((), False)
            raise
        found = await parsed(lambda body: list(stored_messages(body)), answer.body, self.address)
        wanted = [message for message in found if message.topic == topic and key in keys_of(message)]
        return MessagesByKey(tuple(wanted), len(found) >= MOST_BY_KEY)

    async def at(
        self, physical_offset: int, topic: str, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> StoredMessage | None:
        """The message at a place of the commit log; None where that is not, or no longer, in the log.

        A place inside of a message is refused with SYSTEM_ERROR, or gives another message: compare its `stored_id`.
        `topic` is what access control goes by.
        """
        fields = {"offset": str(physical_offset), "topic": topic}
        try:
            answer = await call(
                self._pool, self.address, RequestCode.VIEW_MESSAGE_BY_ID, fields, deadline_seconds=deadline_seconds
            )
        except BrokerRefused as refusal:
            if refusal.code == ResponseCode.SYSTEM_ERROR and NOT_THERE in (refusal.remark or ""):
                return None
            raise
        found = await parsed(lambda body: list(stored_messages(body)), answer.body, self.address)
        return found[0] if found else None


def keys_of(message: StoredMessage) -> set[str]:
    """What the index knows it by (5.4.0, IndexService.buildIndex)."""
    properties = message.properties
    unique = properties.get("UNIQ_KEY")
    return {key for key in properties.get("KEYS", "").split(" ") if key} | ({unique} if unique else set())
