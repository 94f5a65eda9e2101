"""Calls about single queues: where a group is or would be, and what lies at an offset. None changes anything.

A pull is safe under two rules. It bears the name of a system group that every broker has: another name would be
created as a group, and a pending reset of a real group would be taken from it (5.4.0, PullMessageProcessor). And it
commits nothing: bit 0 of its flags is off.
"""

from consumers.rocketmq.bodies.config_bodies import offset_of_header
from consumers.rocketmq.bodies.queue_bodies import PULL_OUTCOMES, pulled, queue_entries
from consumers.rocketmq.messages.stored import Pulled, QueueEntries
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.errors import BrokerRefused, refused

from .broker_offset_calls import BrokerOffsetCalls
from .calls import DEADLINE_SECONDS, blaming, parsed

PULLING_GROUP = "TOOLS_CONSUMER"
# The subscription comes with the request (5.4.0, PullSysFlag): no heart-beat is needed.
INLINE_SUBSCRIPTION = 4


class QueueCalls(BrokerOffsetCalls):
    async def pull(
        self,
        topic: str,
        queue_id: int,
        offset: int,
        max_messages: int = 1,
        *,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> Pulled:
        """The messages from `offset` on; the first may lie beyond it where earlier ones are gone.

        Reads the commit log, cold where the offset is far behind. Ask only for offsets from the min offset up to
        the max offset: older brokers store an event of their own for others (4.9, generateOffsetMovedEvent).
        """
        fields = {
            "consumerGroup": PULLING_GROUP,
            "topic": topic,
            "queueId": str(queue_id),
            "queueOffset": str(offset),
            "maxMsgNums": str(max_messages),
            "sysFlag": str(INLINE_SUBSCRIPTION),
            "commitOffset": "0",
            "suspendTimeoutMillis": "0",
            "subscription": "*",
            "subVersion": "0",
        }
        code = RequestCode.PULL_MESSAGE
        answer = await self._pool.request(self.address, code, fields, deadline_seconds=deadline_seconds)
        self.broker_version = answer.version
        if answer.code not in PULL_OUTCOMES:
            raise refused(answer.code, answer.remark, code, address=self.address)
        with blaming(self.address):
            return pulled(answer)

    async def consumer_offset(
        self,
        group: str,
        topic: str,
        queue_id: int,
        *,
        zero_if_in_memory: bool = False,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> int | None:
        """The committed offset, None without one.

        With `zero_if_in_memory` the broker answers as it does a starting member: also 0, where nothing is committed
        and the queue begins at 0 and its first message is still in memory (5.4.0, ConsumerManageProcessor).
        """
        fields = {"consumerGroup": group, "topic": topic, "queueId": str(queue_id)}
        if not zero_if_in_memory:
            fields["setZeroIfNotFound"] = "false"
        code = RequestCode.QUERY_CONSUMER_OFFSET
        try:
            answer = await self._call(code, fields, deadline_seconds)
        except BrokerRefused as refusal:
            if refusal.code == ResponseCode.QUERY_NOT_FOUND:
                return None
            raise
        with blaming(self.address):
            return offset_of_header(answer.ext_fields, code)

    async def search_offset(
        self, topic: str, queue_id: int, time_ms: int, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> int:
        """The first offset stored at `time_ms` or later, as a starting member asks for it. Reads the commit log in a
        binary search."""
        fields = {"topic": topic, "queueId": str(queue_id), "timestamp": str(time_ms)}
        code = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
        answer = await self._call(code, fields, deadline_seconds)
        with blaming(self.address):
            return offset_of_header(answer.ext_fields, code)

    async def consume_queue(
        self, topic: str, queue_id: int, index: int, count: int, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> QueueEntries:
        """Up to `count` entries from offset `index` on, without reading the commit log. No group is named."""
        fields = {"topic": topic, "queueId": str(queue_id), "index": str(index), "count": str(count)}
        answer = await self._call(RequestCode.QUERY_CONSUME_QUEUE, fields, deadline_seconds)
        return await parsed(queue_entries, answer.body, self.address)
