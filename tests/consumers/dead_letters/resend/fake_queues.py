"""A broker and name server that keeps queues in memory, on a real socket. A test tells it what to do with each send."""

import asyncio
import json
import struct
import threading
from collections import defaultdict
from enum import Enum

from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command, encode
from tests.consumers.rocketmq.fake_server import commands, reply

NAME = "broker-a"


class Act(Enum):
    STORE = "stores it and answers"
    STORE_AND_HANG_UP = "stores it and closes the connection"
    HANG_UP = "closes the connection"
    STORE_IN_SILENCE = "stores it and does not answer"
    SILENCE = "does nothing"
    REFUSE = "refuses it"
    DIVERT = "puts it into the dead-letter queue and answers as if it had not"
    STORE_UNFLUSHED = "stores it and says that it is not flushed"


class FakeQueues:
    """`queues`: {(topic, queue id): [(properties, body)]}; `first`: the min offset of each; `acts`: of the next sends.

    `broken`: {request code: an act} for other requests. `awaits`: what is `awaited` is answered once that is set.
    `permission` and `queue_count` are those of every route.
    """

    def __init__(self) -> None:
        self.queues: dict[tuple[str, int], list[tuple[str, bytes]]] = defaultdict(list)
        self.first: dict[tuple[str, int], int] = defaultdict(int)
        self.acts: list[Act] = []
        self.broken: dict[int, Act] = {}
        self.awaits: threading.Event | None = None
        self.awaited = RequestCode.PULL_MESSAGE
        self.permission, self.queue_count = 6, 1
        self.address = ""
        self.sends: list[Command] = []

    def put(self, topic: str, properties: str, body: bytes = b"body", queue_id: int = 0) -> int:
        self.queues[topic, queue_id].append((properties, body))
        return len(self.queues[topic, queue_id]) - 1

    def marks(self, topic: str, queue_id: int = 0) -> list[str]:
        """Of what came by a re-send, in the order of the queue."""
        pairs = [dict(_pairs(properties)) for properties, _ in self.queues[topic, queue_id]]
        return [pair["consumerscope_resend"] for pair in pairs if "consumerscope_resend" in pair]

    def keys(self, topic: str, queue_id: int = 0) -> list[str]:
        return [dict(_pairs(properties))["KEYS"] for properties, _ in self.queues[topic, queue_id]]

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for command in commands(reader):
            if self.awaits is not None and command.code == self.awaited:
                await asyncio.to_thread(self.awaits.wait, 80)
            if command.code == RequestCode.SEND_MESSAGE_V2:
                act = self.acts.pop(0) if self.acts else Act.STORE
            else:
                act = self.broken.get(command.code, Act.STORE)
            answer = self._answer(command, act)
            if act in (Act.HANG_UP, Act.STORE_AND_HANG_UP):
                writer.close()
            elif act not in (Act.SILENCE, Act.STORE_IN_SILENCE):
                writer.write(encode(answer))

    def _answer(self, command: Command, act: Act) -> Command:
        fields = command.ext_fields
        if act is Act.REFUSE:
            return reply(command, ResponseCode.NO_PERMISSION, remark="not now")
        match command.code:
            case RequestCode.SEND_MESSAGE_V2:
                return self._send(command, act)
            case RequestCode.GET_MAX_OFFSET:
                end = len(self.queues[fields["topic"], int(fields["queueId"])])
                return reply(command, ext_fields={"offset": str(end)})
            case RequestCode.PULL_MESSAGE:
                return self._pull(command)
            case RequestCode.GET_ROUTEINFO_BY_TOPIC:
                return self._route(command)
        raise AssertionError(f"the fake broker was asked {command.code}")

    def _send(self, command: Command, act: Act) -> Command:
        self.sends.append(command)
        topic, queue_id = command.ext_fields["b"], int(command.ext_fields["e"])
        if act is Act.DIVERT:
            topic, queue_id = topic.replace("%RETRY%", "%DLQ%"), 0
        code = ResponseCode.FLUSH_DISK_TIMEOUT if act is Act.STORE_UNFLUSHED else ResponseCode.SUCCESS
        if act in (Act.SILENCE, Act.HANG_UP):
            return reply(command)
        offset = self.put(topic, command.ext_fields["i"], command.body, queue_id)
        fields = {"msgId": "7F", "queueId": command.ext_fields["e"], "queueOffset": str(offset)}
        return reply(command, code, ext_fields=fields)

    def _pull(self, command: Command) -> Command:
        topic, queue_id = command.ext_fields["topic"], int(command.ext_fields["queueId"])
        queue, at = self.queues[topic, queue_id], int(command.ext_fields["queueOffset"])
        first, end = self.first[topic, queue_id], len(queue)
        ends = {"minOffset": str(first), "maxOffset": str(end)}
        if at == end:
            return reply(command, ResponseCode.PULL_NOT_FOUND, ext_fields=ends | {"nextBeginOffset": str(at)})
        if not first <= at < end:
            moved = str(first if at < first else end)
            return reply(command, ResponseCode.PULL_OFFSET_MOVED, ext_fields=ends | {"nextBeginOffset": moved})
        last = min(end, at + int(command.ext_fields["maxMsgNums"]))
        body = b"".join(stored(topic, queue_id, offset, *queue[offset]) for offset in range(at, last))
        return reply(command, body=body, ext_fields=ends | {"nextBeginOffset": str(last)})

    def _route(self, command: Command) -> Command:
        numbers = {"readQueueNums": self.queue_count, "writeQueueNums": self.queue_count, "perm": self.permission}
        broker = {"brokerName": NAME, "cluster": "c", "brokerAddrs": {"0": self.address}}
        route = {"brokerDatas": [broker], "queueDatas": [{"brokerName": NAME, **numbers}]}
        return reply(command, body=json.dumps(route).encode())


def stored(topic: str, queue_id: int, offset: int, properties: str, body: bytes) -> bytes:
    """A message as a pull gives it; it lies at 1000 + its offset."""
    head = struct.pack(">IIiiqqiq", 0xDAA320A7, 0, queue_id, 0, offset, 1000 + offset, 0, 1700) + bytes(8)
    tail = struct.pack(">q", 1800) + bytes(8) + struct.pack(">iqi", 4, 0, len(body)) + body
    name, raw = topic.encode(), properties.encode()
    content = head + tail + bytes([len(name)]) + name + struct.pack(">h", len(raw)) + raw
    return struct.pack(">i", len(content) + 4) + content


def stored_id(offset: int) -> str:
    return (bytes(8) + (1000 + offset).to_bytes(8, "big")).hex().upper()


def _pairs(properties: str) -> list[tuple[str, str]]:
    pairs = (pair.partition("\x01") for pair in properties.split("\x02"))
    return [(name, value) for name, separator, value in pairs if separator]
