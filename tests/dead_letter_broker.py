"""A broker of dead letters on a real socket, in a thread of its own: it answers where a queue begins and ends, and
pulls."""

import struct
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command
from tests.consumers.rocketmq.fake_server import answering, reply, served
from tests.serving import beside

STORED_MS = 1_773_450_000_000
PULLED_AT_ONCE = 32


def stored_letter(
    offset: int,
    body: bytes = b'{"order": 41}',
    *,
    sys_flag: int = 0,
    properties: Mapping[str, str] | None = None,
    topic: str = "%DLQ%billing",
    reconsume_times: int = 4,
    stored_ms: int = STORED_MS,
    born_ms: int = STORED_MS - 60_000,
) -> bytes:
    """A stored message as a pull gives it."""
    said = {"UNIQ_KEY": f"UNIQ-{offset}", "KEYS": f"order-{offset}", "RETRY_TOPIC": "Orders"} | dict(properties or {})
    raw = "".join(f"{name}\x01{value}\x02" for name, value in said.items()).encode()
    name = topic.encode()
    content = b"".join(
        [
            struct.pack(">IIiiqqiq", 0xDAA320A7, 0, 0, 0, offset, 1000 * offset, sys_flag, born_ms),
            bytes([127, 0, 0, 1, 0, 0, 0, 1]),
            struct.pack(">q", stored_ms + offset),
            bytes([127, 0, 0, 1, 0, 0, 0x2A, 0x9F]),
            struct.pack(">iqi", reconsume_times, 0, len(body)),
            body,
            bytes([len(name)]) + name,
            struct.pack(">h", len(raw)) + raw,
        ]
    )
    return struct.pack(">i", len(content) + 4) + content


@dataclass
class DeadLetterBroker:
    """Letters by topic and offset, of queue 0 each. `refuses`: {code: answer code}; `asked`: what it was asked.

    `lost` letters are in their queue, and no pull finds them. `answers_after`: so many seconds, once.
    """

    letters: dict[str, dict[int, bytes]] = field(default_factory=dict)
    refuses: dict[int, int] = field(default_factory=dict)
    remark: str = "not now"
    lost: set[int] = field(default_factory=set)
    asked: list[Command] = field(default_factory=list)
    answers_after: float = 0.0
    address: str = ""

    def answer(self, request: Command) -> Command:
        self.asked.append(request)
        threading.Event().wait(self.answers_after)
        self.answers_after = 0.0
        if request.code in self.refuses:
            return reply(request, self.refuses[request.code], remark=self.remark)
        letters = self.letters.get(request.ext_fields["topic"], {})
        least, end = min(letters, default=0), max(letters, default=-1) + 1
        if request.code == RequestCode.GET_MIN_OFFSET:
            return reply(request, ext_fields={"offset": str(least)})
        if request.code == RequestCode.GET_MAX_OFFSET:
            return reply(request, ext_fields={"offset": str(end)})
        if request.code == RequestCode.GET_TOPIC_STATS_INFO:
            return self._stats(request, least, end)
        assert request.code == RequestCode.PULL_MESSAGE, f"a look asks nothing else than {request.code}"
        return self._pulled(request, letters, least, end)

    def _stats(self, request: Command, least: int, end: int) -> Command:
        topic = request.ext_fields["topic"]
        if topic not in self.letters:
            return reply(request, ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{topic}] not exist")
        queue = f'{{"brokerName":"broker-a","queueId":0,"topic":"{topic}"}}'
        ends = f'{{"lastUpdateTimestamp":{STORED_MS},"maxOffset":{end},"minOffset":{least}}}'
        return reply(request, body=f'{{"offsetTable":{{{queue}:{ends}}}}}'.encode())

    def _pulled(self, request: Command, letters: dict[int, bytes], least: int, end: int) -> Command:
        start, most = int(request.ext_fields["queueOffset"]), int(request.ext_fields["maxMsgNums"])
        wanted = range(start, min(end, start + min(most, PULLED_AT_ONCE)))
        found = [letters[offset] for offset in wanted if offset in letters and offset not in self.lost]
        fields = {"nextBeginOffset": str(wanted.stop), "minOffset": str(least), "maxOffset": str(end)}
        return reply(request, 0 if found else 19, ext_fields=fields, body=b"".join(found))


@contextmanager
def a_dead_letter_broker(letters: dict[int, bytes], group: str = "billing") -> Iterator[DeadLetterBroker]:
    broker = DeadLetterBroker({f"%DLQ%{group}": letters})

    @asynccontextmanager
    async def serve() -> AsyncIterator[None]:
        async with served(answering(broker.answer)) as broker.address:
            yield

    with beside(serve):
        yield broker
