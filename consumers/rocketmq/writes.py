"""Moves committed offsets of one broker: the only calls of this package that change a broker's offsets.

They are apart from the calls that only look, so that whoever holds those can change nothing. Nothing here is repeated.
What an answer says is what the broker did then; where the offset is afterwards, only reading it again tells.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from consumers.rocketmq.bodies.fields import Fields
from consumers.rocketmq.bodies.offsets import reset_offsets
from consumers.rocketmq.message_calls import DEADLINE_SECONDS, blaming, call, parsed
from consumers.rocketmq.wire.codes import (
    RemoteProtocolError,
    RequestCode,
    ResponseCode,
    RocketMQError,
    call_name,
    refused,
)
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command

# Times that a broker takes for the first message and for the end (Broker2Client, AdminBrokerProcessor).
EARLIEST_MS, LATEST_MS = 0, -1
# A success that changed nothing: a member has yet to take up an earlier reset (5.4.0, ConsumerManageProcessor).
PENDING = "Offset has been previously reset"


class NotApplied(RocketMQError):
    """The broker answered success and certainly changed nothing."""


class OffsetWrites:
    """Every call raises RocketMQError: with BrokerRefused or NotApplied, or where it is `never_sent`, nothing was
    changed; otherwise that is open."""

    def __init__(self, pool: ConnectionPool, address: str) -> None:
        self.address = address
        self._pool = pool

    async def reset_exact(
        self, group: str, topic: str, queue_id: int, offset: int, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> int:
        """The offset that the broker says it set. Only for brokers that move offsets themselves.

        It refuses offsets below min or above max + 1, and does not check that the queue exists (5.1.0 to 5.4.0,
        AdminBrokerProcessor.resetOffsetInner). ResetOffsetRequestHeader; a broker that does not move offsets itself
        ignores queue and offset and tells members of all queues, so the rest is chosen to leave them where they are:
        to the end, and not forwards (Broker2Client). Its answer then names all queues, which is an error here.
        """
        fields = _reset(group, topic, LATEST_MS, force=False) | {"queueId": str(queue_id), "offset": str(offset)}
        answered = await self._moved_offsets(fields, topic, deadline_seconds)
        if answered != {queue_id: offset}:
            raise RemoteProtocolError(
                f"{call_name(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)} of queue {queue_id} to {offset} was answered "
                f"with {_listed(answered)}: the broker does not do what it was asked for; read its offsets and its "
                "useServerSideResetOffset again",
                address=self.address,
            )
        return answered[queue_id]

    async def reset_by_time(
        self, group: str, topic: str, time_ms: int, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> dict[int, int]:
        """By queue id, what the broker worked out for all queues of the topic: the first message stored at `time_ms` or
        later, the first of all for EARLIEST_MS, the end for LATEST_MS.

        A broker that moves offsets itself has moved them then, of the read queues. Another has told the members that
        are connected to it, of the write queues, and not waited for them: they commit it some 10 s later
        (MQClientInstance.resetOffset). It raises BrokerRefused with CONSUMER_NOT_ONLINE without members, and with
        SYSTEM_ERROR if one of the queues has no commit. ResetOffsetRequestHeader (4.9.7 to 5.4.0) with isForce: without
        it members are only sent back.
        """
        answered = await self._moved_offsets(_reset(group, topic, time_ms, force=True), topic, deadline_seconds)
        if not answered:
            raise RemoteProtocolError(
                f"{call_name(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)} was answered without a queue",
                address=self.address,
            )
        return answered

    async def commit(
        self, group: str, topic: str, queue_id: int, offset: int, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> None:
        """As a member commits: UpdateConsumerOffsetRequestHeader. A member that owns the queue commits its own offset
        over it soon.

        No broker checks the queue or the offset. That the topic exists is checked from 5.0 on, that the group does from
        5.3.0 on (ConsumerManageProcessor).

        Raises NotApplied where a reset is pending, which wins.
        """
        fields = {
            "consumerGroup": group,
            "topic": topic,
            "queueId": str(queue_id),
            "commitOffset": str(offset),
        }
        answer = await self._call(RequestCode.UPDATE_CONSUMER_OFFSET, fields, deadline_seconds)
        if answer.remark is not None and PENDING in answer.remark:
            raise NotApplied(
                f"the commit of {offset} to queue {queue_id} of {topic} was ignored: an earlier reset of it has not "
                "been taken up by a member yet",
                address=self.address,
            )

    async def _moved_offsets(self, fields: Mapping[str, str], topic: str, deadline_seconds: float) -> dict[int, int]:
        answer = await self._call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, fields, deadline_seconds)
        return await parsed(lambda body: reset_offsets(body, topic), answer.body, self.address)

    async def _call(self, code: RequestCode, fields: Mapping[str, str], deadline_seconds: float) -> Command:
        return await call(self._pool, self.address, code, fields, deadline_seconds=deadline_seconds)


def _reset(group: str, topic: str, time_ms: int, *, force: bool) -> dict[str, str]:
    return {"group": group, "topic": topic, "timestamp": str(time_ms), "isForce": "true" if force else "false"}


def _listed(offsets: Mapping[int, int]) -> str:
    shown = ", ".join(f"queue {queue_id} at {offset}" for queue_id, offset in sorted(offsets.items())[:3])
    return "no queue" if not offsets else shown + (" and others" if len(offsets) > 3 else "")


# Sends messages to one broker: the only call of this room that adds anything to a broker.
#
# It is apart from the calls that only look, so that whoever holds those can change nothing. Nothing here is repeated.

PRODUCER_GROUP = "CONSUMERSCOPE"
# Stored, though not yet flushed or copied as the broker was told to (5.4.0, SendMessageProcessor).
STORED = frozenset(
    {
        ResponseCode.SUCCESS,
        ResponseCode.FLUSH_DISK_TIMEOUT,
        ResponseCode.SLAVE_NOT_AVAILABLE,
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
    }
)


@dataclass(frozen=True)
class Outgoing:
    """`properties` as they are stored: name, 0x01, value, 0x02. `sys_flag` must tell how `body` is compressed."""

    body: bytes = field(repr=False)
    properties: str
    flag: int
    sys_flag: int
    born_ms: int
    reconsume_times: int = 0


@dataclass(frozen=True)
class Sent:
    """Where the broker says that it stored the message. `message_id` null: it does not say."""

    message_id: str | None
    queue_id: int
    queue_offset: int


class BrokerSends:
    def __init__(self, pool: ConnectionPool, address: str) -> None:
        self.address = address
        self._pool = pool

    async def send(
        self, topic: str, queue_id: int, message: Outgoing, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> Sent:
        """Raises BrokerRefused where the broker did not store it; any other RocketMQError that is not `never_sent`
        leaves open whether it did.

        A topic that does not exist is not made, except a retry topic: ask for its route first. A message to a retry
        topic whose group holds queue locks is put into the group's dead-letter topic instead, and the answer does not
        tell (5.4.0, SendMessageProcessor.handleRetryAndDLQ).
        """
        code = RequestCode.SEND_MESSAGE_V2
        fields = _header(topic, queue_id, message)
        answer = await self._pool.request(self.address, code, fields, message.body, deadline_seconds=deadline_seconds)
        if answer.code not in STORED:
            raise refused(answer.code, answer.remark, code, address=self.address)
        with blaming(self.address):
            answered = Fields(dict(answer.ext_fields), code, ("extFields",))
            return Sent(
                answered.optional_text("msgId"), answered.number_text("queueId"), answered.number_text("queueOffset")
            )


def _header(topic: str, queue_id: int, message: Outgoing) -> dict[str, str]:
    """SendMessageRequestHeaderV2 (5.4.0). A topic that is its own template cannot be made from it."""
    return {
        "a": PRODUCER_GROUP,
        "b": topic,
        "c": topic,
        "d": "1",
        "e": str(queue_id),
        "f": str(message.sys_flag),
        "g": str(message.born_ms),
        "h": str(message.flag),
        "i": message.properties,
        "j": str(message.reconsume_times),
        "k": "false",
        "m": "false",
    }
