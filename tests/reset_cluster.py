"""A cluster for resets on real sockets, in a thread of its own: a name server and two masters that only tell."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command, encode
from tests.consumers.rocketmq.fake_server import Behaviour, commands, reply, served
from tests.dead_letter_broker import stored_letter
from tests.serving import beside

# A message of offset n was stored so many milliseconds after this.
FIRST_STORED_MS, APART_MS = 1_773_450_000_000, 1_000
MEMBERS = {"consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING", "consumeFromWhere": "X"}


@dataclass
class Master:
    """`ends` by topic and queue id; `offsets` by group, topic and queue id. `silent`: it never answers. `awaits`: it
    answers once that is set.

    `refuses`: {code: answer code}. `modes`: {topic: {group: POP or PULL}}. `asked`: what it was asked.

    `early`: by so many messages it answers too low where it is asked for a time. `awaits_of`: of requests about this
    group alone.
    """

    name: str
    ends: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    offsets: dict[tuple[str, str, int], int] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=lambda: dict(MEMBERS))
    config: dict[str, str] = field(
        default_factory=lambda: {"brokerPermission": "6", "useServerSideResetOffset": "true"}
    )
    modes: dict[str, dict[str, str]] = field(default_factory=dict)
    refuses: dict[int, int] = field(default_factory=dict)
    silent: bool = False
    awaits: threading.Event | None = None
    awaits_of: str | None = None
    early: int = 0
    asked: list[Command] = field(default_factory=list)
    address: str = ""

    def answer(self, request: Command) -> Command | None:
        self.asked.append(request)
        if self.silent:
            return None
        if request.code in self.refuses:
            return reply(request, self.refuses[request.code], remark="not now")
        match request.code:
            case RequestCode.GET_BROKER_CONFIG:
                lines = "\n".join(f"{name}={value}" for name, value in self.config.items())
                return reply(request, body=lines.encode(), version=493)
            case RequestCode.GET_ALL_MESSAGE_REQUEST_MODE:
                modes = {
                    topic: {group: {"mode": mode} for group, mode in groups.items()}
                    for topic, groups in self.modes.items()
                }
                return reply(request, body=json.dumps({"messageRequestModeMap": modes}).encode())
            case RequestCode.GET_CONSUMER_CONNECTION_LIST:
                return self._connections(request)
            case RequestCode.QUERY_CONSUMER_OFFSET:
                return self._offset(request)
        return self._of_queue(request)

    def _connections(self, request: Command) -> Command:
        ids = self.members.get(request.ext_fields["consumerGroup"])
        if not ids:
            return reply(request, ResponseCode.CONSUMER_NOT_ONLINE, remark="not online")
        clients = [{"clientId": one, "clientAddr": "127.0.0.1:1", "language": "JAVA", "version": 493} for one in ids]
        return reply(
            request, body=json.dumps({"connectionSet": clients, "subscriptionTable": {}, **self.told}).encode()
        )

    def _offset(self, request: Command) -> Command:
        fields = request.ext_fields
        assert fields["setZeroIfNotFound"] == "false", "a 0 of the broker's making is no commit"
        offset = self.offsets.get((fields["consumerGroup"], fields["topic"], int(fields["queueId"])))
        if offset is None:
            return reply(request, ResponseCode.QUERY_NOT_FOUND, remark="Not found")
        return reply(request, ext_fields={"offset": str(offset)})

    def _of_queue(self, request: Command) -> Command:
        fields = request.ext_fields
        least, end = self.ends[fields["topic"], int(fields["queueId"])]
        if request.code == RequestCode.GET_MIN_OFFSET:
            return reply(request, ext_fields={"offset": str(least)})
        if request.code == RequestCode.GET_MAX_OFFSET:
            return reply(request, ext_fields={"offset": str(end)})
        if request.code == RequestCode.SEARCH_OFFSET_BY_TIMESTAMP:
            first = -(-(int(fields["timestamp"]) - FIRST_STORED_MS) // APART_MS) - self.early
            return reply(request, ext_fields={"offset": str(min(max(first, least), end))})
        assert request.code == RequestCode.PULL_MESSAGE, f"a plan asks nothing else than {request.code}"
        return self._pulled(request, least, end)

    def _pulled(self, request: Command, least: int, end: int) -> Command:
        fields = request.ext_fields
        offset = int(fields["queueOffset"])
        assert fields["consumerGroup"] == "TOOLS_CONSUMER", "any other name takes a group's pending reset away"
        assert least <= offset <= end, "older brokers store an event of their own for such a pull"
        told = {"nextBeginOffset": str(offset + 1), "minOffset": str(least), "maxOffset": str(end)}
        if offset == end:
            return reply(request, ResponseCode.PULL_NOT_FOUND, ext_fields=told)
        stored_ms = FIRST_STORED_MS + offset * (APART_MS - 1)
        return reply(request, ext_fields=told, body=stored_letter(offset, topic=fields["topic"], stored_ms=stored_ms))


@dataclass
class FakeCluster:
    """Routes are those of what the masters have; one whose name is in `unlisted` is in none."""

    masters: dict[str, Master]
    unlisted: set[str] = field(default_factory=set)
    namesrv: str = ""

    def route(self, request: Command) -> Command:
        assert request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC, f"a plan asks nothing else than {request.code}"
        topic = request.ext_fields["topic"]
        queues = {
            master.name: sum(1 for name, _ in master.ends if name == topic)
            for master in self.masters.values()
            if master.name not in self.unlisted
        }
        told = [
            {"brokerName": name, "readQueueNums": count, "writeQueueNums": count, "perm": 6}
            for name, count in queues.items()
            if count
        ]
        if not told:
            return reply(request, ResponseCode.TOPIC_NOT_EXIST, remark="no route")
        return reply(request, body=json.dumps({"brokerDatas": [], "queueDatas": told}).encode())

    def asked(self) -> set[RequestCode]:
        return {RequestCode(request.code) for master in self.masters.values() for request in master.asked}


def telling(master: Master) -> Behaviour:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for command in commands(reader):
            if master.awaits is not None and master.awaits_of in (None, command.ext_fields.get("consumerGroup")):
                await asyncio.to_thread(master.awaits.wait, 80)
            if (said := master.answer(command)) is not None:
                writer.write(encode(said))

    return behave


def routing(cluster: FakeCluster) -> Behaviour:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for command in commands(reader):
            writer.write(encode(cluster.route(command)))

    return behave


@contextmanager
def a_fake_cluster() -> Iterator[FakeCluster]:
    """`broker-a` and `broker-b`, which have nothing yet."""
    cluster = FakeCluster({name: Master(name) for name in ("broker-a", "broker-b")})

    @asynccontextmanager
    async def serve() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for master in cluster.masters.values():
                master.address = await stack.enter_async_context(served(telling(master)))
            cluster.namesrv = await stack.enter_async_context(served(routing(cluster)))
            yield

    with beside(serve):
        yield cluster
