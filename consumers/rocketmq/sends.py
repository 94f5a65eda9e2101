"""Sends messages to one broker: the only call of this room that adds anything to a broker.

It is apart from the calls that only look, so that whoever holds those can change nothing. Nothing here is repeated.
"""

from dataclasses import dataclass, field

from consumers.rocketmq.bodies.fields import Fields
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.errors import refused
from consumers.rocketmq.wire.pool import ConnectionPool

from .calls import DEADLINE_SECONDS, blaming

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
            told = Fields(dict(answer.ext_fields), code, ("extFields",))
            return Sent(told.optional_text("msgId"), told.number_text("queueId"), told.number_text("queueOffset"))


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
