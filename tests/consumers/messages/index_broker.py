"""A broker with an index of messages on a real socket: it answers look-ups by key and by place, a delay level's consume
queue, and where the group stands. Anything else fails the test."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from consumers.rocketmq.message_calls import keys_of
from consumers.rocketmq.messages.stored import StoredMessage, stored_messages
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command
from tests.consumers.messages.made_copies import stored_message
from tests.consumers.rocketmq.fake_server import answering, reply, served
from tests.serving import beside


@dataclass
class IndexBroker:
    """`offsets`: by topic, of the group on queue 0. `due`: by offset on a delay level. `refuses`: {topic: code}."""

    stored: list[bytes] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)
    due: dict[int, datetime] = field(default_factory=dict)
    refuses: dict[str, int] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    asked: list[Command] = field(default_factory=list)
    address: str = ""

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def put(
        self, topic: str, offset: int, stored_at: datetime, *, times: int = 0, body: bytes = b"{}", **properties: str
    ) -> str:
        """Returns the id of the place."""
        message = stored_message(
            topic,
            offset,
            1000 * len(self.stored),
            stored_at,
            reconsume_times=times,
            properties=properties,
            body=body,
            port=self.port,
        )
        self.stored.append(message)
        return next(stored_messages(message)).stored_id

    def answer(self, request: Command) -> Command:
        self.asked.append(request)
        said = request.ext_fields
        if said["topic"] in self.refuses:
            return reply(request, self.refuses[said["topic"]], remark="not now")
        match request.code:
            case RequestCode.QUERY_MESSAGE:
                return self._found(request, [one for one in self._all() if self._has(one, said["topic"], said["key"])])
            case RequestCode.VIEW_MESSAGE_BY_ID:
                return self._found(
                    request, [one for one in self._all() if str(one[1].physical_offset) == said["offset"]]
                )
            case RequestCode.QUERY_CONSUMER_OFFSET:
                if said["topic"] not in self.offsets:
                    return reply(request, ResponseCode.QUERY_NOT_FOUND, remark="Not found")
                return reply(request, ext_fields={"offset": str(self.offsets[said["topic"]])})
            case RequestCode.QUERY_CONSUME_QUEUE:
                due = int(self.due[int(said["index"])].timestamp() * 1000)
                entry = f'{{"eval":false,"physicOffset":0,"physicSize":1,"tagsCode":{due}}}'
                return reply(request, body=f'{{"maxQueueIndex":9,"minQueueIndex":0,"queueData":[{entry}]}}'.encode())
        raise AssertionError(f"a look-up asks nothing else than {request.code}")

    def _all(self) -> list[tuple[bytes, StoredMessage]]:
        return [(raw, next(stored_messages(raw))) for raw in self.stored]

    def _has(self, one: tuple[bytes, StoredMessage], topic: str, key: str) -> bool:
        """`hidden`: ids of places that the index does not give."""
        message = one[1]
        return message.topic == topic and key in keys_of(message) and message.stored_id not in self.hidden

    def _found(self, request: Command, found: list[tuple[bytes, StoredMessage]]) -> Command:
        if found:
            return reply(request, body=b"".join(raw for raw, _ in found))
        if request.code == RequestCode.VIEW_MESSAGE_BY_ID:
            return reply(request, 1, remark=f"can not find message by the offset, {request.ext_fields['offset']}")
        return reply(request, ResponseCode.QUERY_NOT_FOUND, remark="can not find message, maybe time range not correct")


@contextmanager
def an_index_broker() -> Iterator[IndexBroker]:
    broker = IndexBroker()

    @asynccontextmanager
    async def serve() -> AsyncIterator[None]:
        async with served(answering(broker.answer)) as broker.address:
            yield

    with beside(serve):
        yield broker
