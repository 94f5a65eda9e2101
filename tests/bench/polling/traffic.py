"""Messages and commits on the bench's own brokers, as producers and consumers would make them, hundreds in flight."""

import asyncio
import struct
from collections.abc import Collection, Sequence

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command

# RocketMQ 5.4.0, RequestCode. The fields of its header have one letter each (SendMessageRequestHeaderV2).
SEND_BATCH_MESSAGE = 320
DEADLINE_SECONDS = 120.0
# More would wait in the broker's queue for longer than it lets them (waitTimeMillsInSendQueue, 200 ms).
AT_ONCE = 200

Call = tuple[int, dict[str, str]]  # code, fields
Commit = tuple[str, str, int, int]  # group, topic, queue id, offset


async def fill(address: str, topics: Sequence[str], queues: int, messages: int) -> None:
    """Puts so many messages into each queue of the topics; returns once the broker can tell their offsets."""
    async with ConnectionPool() as pool:
        calls = [(SEND_BATCH_MESSAGE, _batch_fields(topic, queue)) for topic in topics for queue in range(queues)]
        await _send(pool, address, calls, _batch(messages))
        admin = BrokerAdmin(pool, address)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while True:
                ends = await admin.broker_offsets(topics, deadline_seconds=DEADLINE_SECONDS)
                if sum(ends["broker_offset"].to_pylist()) == len(calls) * messages:
                    return
                await asyncio.sleep(0.2)


async def fill_with(address: str, topic: str, messages: int, at_once: int, body: bytes) -> None:
    """Puts messages with this body into queue 0 of a topic that there is; `at_once` of them go in one batch."""
    async with ConnectionPool() as pool:
        calls = [(SEND_BATCH_MESSAGE, _batch_fields(topic, 0))] * (messages // at_once)
        # One after the other: each is large.
        for call in calls:
            await _send(pool, address, [call], _batch(at_once, body))
        admin = BrokerAdmin(pool, address)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while await admin.max_offset(topic, 0) < messages:
                await asyncio.sleep(0.2)


async def commit(address: str, commits: Collection[Commit]) -> None:
    calls = [
        (
            RequestCode.UPDATE_CONSUMER_OFFSET,
            {"consumerGroup": group, "topic": topic, "queueId": str(queue), "commitOffset": str(offset)},
        )
        for group, topic, queue, offset in commits
    ]
    async with ConnectionPool() as pool:
        await _send(pool, address, calls)


async def _send(pool: ConnectionPool, address: str, calls: Sequence[Call], body: bytes = b"") -> None:
    left = list(calls)
    async with asyncio.timeout(DEADLINE_SECONDS):
        while left:
            now, left = left[:AT_ONCE], left[AT_ONCE:]
            answers = await asyncio.gather(
                *(pool.request(address, code, fields, body, deadline_seconds=DEADLINE_SECONDS) for code, fields in now)
            )
            left += _refused(address, now, answers)


def _refused(address: str, calls: Sequence[Call], answers: Sequence[Command]) -> list[Call]:
    """What a busy broker did not take, which is nothing of it: to be sent once more."""
    for answer in answers:
        if answer.code not in (ResponseCode.SUCCESS, ResponseCode.SYSTEM_BUSY):
            raise SystemExit(f"{address} refused a call: {answer.remark}")
    return [call for call, answer in zip(calls, answers, strict=True) if answer.code == ResponseCode.SYSTEM_BUSY]


def _batch_fields(topic: str, queue: int) -> dict[str, str]:
    fixed = {"a": "bench", "c": "TBW102", "d": "8", "f": "0", "g": "1", "h": "0", "i": "", "j": "0", "k": "false"}
    return {**fixed, "b": topic, "e": str(queue), "m": "true"}


def _batch(messages: int, body: bytes = b".") -> bytes:
    """MessageDecoder.encodeMessages: sizes, three words that the broker sets itself, the body, no properties."""
    one = struct.pack(">iiiii", 22 + len(body), 0, 0, 0, len(body)) + body + struct.pack(">h", 0)
    return one * messages
