"""One admin call: a request whose answer must be success, and whose body must be what it should be."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from consumers.rocketmq.wire.codes import ResponseCode, RocketMQError, refused
from consumers.rocketmq.wire.frames import Command
from consumers.rocketmq.wire.pool import ConnectionPool

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
