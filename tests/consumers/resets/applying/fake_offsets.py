"""A broker that keeps committed offsets in memory, on a real socket. A test tells it what to do with each write."""

import asyncio
import json
import threading
from dataclasses import dataclass, field
from enum import Enum

from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command, encode
from tests.consumers.rocketmq.fake_server import commands, reply

GROUP, TOPIC = "billing", "Orders"
WRITES = frozenset({RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, RequestCode.UPDATE_CONSUMER_OFFSET})


class Act(Enum):
    DO = "does it and answers"
    DO_AND_HANG_UP = "does it and closes the connection"
    DO_IN_SILENCE = "does it and does not answer"
    HANG_UP = "closes the connection"
    SILENCE = "does nothing"
    REFUSE = "refuses it"
    LIE = "answers as if it had done it"


@dataclass
class FakeOffsets:
    """`offsets`: by queue id, of one topic and group, which begins at 0 and ends at `end`. `acts`: of the next writes.

    `members`: client ids. `is_silent`: it answers nothing at all. `writes`: (request code, queue id, offset or time).
    `awaits`: offsets are told once that is set.
    """

    name: str = "broker-a"
    offsets: dict[int, int] = field(default_factory=dict)
    end: int = 1000
    members: tuple[str, ...] = ()
    server_side: bool = True
    permission: int = 6
    acts: list[Act] = field(default_factory=list)
    is_silent: bool = False
    awaits: threading.Event | None = None
    refuses_with: int = ResponseCode.NO_PERMISSION
    has_pending_reset: bool = False
    asked: list[Command] = field(default_factory=list)
    writes: list[tuple[int, int, int]] = field(default_factory=list)
    address: str = ""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for command in commands(reader):
            self.asked.append(command)
            act = Act.DO
            if command.code in WRITES:
                self.writes.append(_written(command))
                act = self.acts.pop(0) if self.acts else Act.DO
            if self.awaits is not None and command.code == RequestCode.QUERY_CONSUMER_OFFSET:
                await asyncio.to_thread(self.awaits.wait, 80)
            answer = self._answer(command, act)
            if self.is_silent or act in (Act.SILENCE, Act.DO_IN_SILENCE):
                continue
            if act in (Act.HANG_UP, Act.DO_AND_HANG_UP):
                writer.close()
            else:
                writer.write(encode(answer))

    def _answer(self, command: Command, act: Act) -> Command:
        if act is Act.REFUSE:
            return reply(command, self.refuses_with, remark="not now")
        match command.code:
            case RequestCode.GET_MIN_OFFSET:
                return reply(command, ext_fields={"offset": "0"})
            case RequestCode.GET_MAX_OFFSET:
                return reply(command, ext_fields={"offset": str(self.end)})
            case RequestCode.QUERY_CONSUMER_OFFSET:
                offset = self.offsets.get(int(command.ext_fields["queueId"]))
                if offset is None:
                    return reply(command, ResponseCode.QUERY_NOT_FOUND, remark="Not found")
                return reply(command, ext_fields={"offset": str(offset)})
            case RequestCode.GET_BROKER_CONFIG:
                side = str(self.server_side).lower()
                lines = f"useServerSideResetOffset={side}\nbrokerPermission={self.permission}\n"
                return reply(command, body=lines.encode())
            case RequestCode.GET_ALL_MESSAGE_REQUEST_MODE:
                return reply(command, body=b'{"messageRequestModeMap":{}}')
            case RequestCode.GET_CONSUMER_CONNECTION_LIST:
                return self._connections(command)
            case RequestCode.INVOKE_BROKER_TO_RESET_OFFSET:
                return self._reset(command, act)
            case RequestCode.UPDATE_CONSUMER_OFFSET:
                _, queue_id, offset = _written(command)
                if self.has_pending_reset:
                    return reply(command, remark="Offset has been previously reset")
                self._move({queue_id: offset}, act)
                return reply(command)
        raise AssertionError(f"the fake broker was asked {command.code}")

    def _reset(self, command: Command, act: Act) -> Command:
        """Of one queue; without one, as members would soon have done it, of all."""
        _, queue_id, offset = _written(command)
        everywhere = {-1: self.end}.get(offset, 0)
        moved = {queue_id: offset} if queue_id >= 0 else dict.fromkeys(self.offsets, everywhere)
        self._move(moved, act)
        queues = (
            f'{{"brokerName":"{self.name}","queueId":{queue},"topic":"{TOPIC}"}}:{at}' for queue, at in moved.items()
        )
        return reply(command, body=f'{{"offsetTable":{{{",".join(queues)}}}}}'.encode())

    def _move(self, moved: dict[int, int], act: Act) -> None:
        if act not in (Act.SILENCE, Act.HANG_UP, Act.LIE):
            self.offsets |= moved

    def _connections(self, command: Command) -> Command:
        if not self.members:
            return reply(command, ResponseCode.CONSUMER_NOT_ONLINE, remark="not online")
        clients = [
            {"clientId": name, "clientAddr": "10.0.0.7:1", "language": "JAVA", "version": 493} for name in self.members
        ]
        body = {"connectionSet": clients, "subscriptionTable": {}}
        body |= {"consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING"}
        return reply(command, body=json.dumps(body).encode())


def _written(command: Command) -> tuple[int, int, int]:
    fields = command.ext_fields
    offset = fields.get("commitOffset") or fields.get("offset") or fields["timestamp"]
    return command.code, int(fields.get("queueId", -1)), int(offset)
