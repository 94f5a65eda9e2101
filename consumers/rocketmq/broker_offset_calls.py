"""The calls of a lag reading: consumer offsets and broker offsets of a whole broker, as columns."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from consumers.rocketmq.bodies.config_bodies import offset_of_header
from consumers.rocketmq.bodies.offsets import BROKER_OFFSETS, broker_offsets_table, consumer_offsets_table
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.errors import BrokerRefused, LocalProtocolError, RocketMQError
from consumers.rocketmq.wire.frames import Command
from consumers.rocketmq.wire.pool import ConnectionPool
from consumers.rocketmq.wire.values import BULK_OFFSETS_VERSION, mq_version_name

from .calls import DEADLINE_SECONDS, blaming, call, parsed

# GET_CONSUME_STATS for a group without offsets reads no commit log and creates nothing (5.4.0, AdminBrokerProcessor).
UNUSED_GROUP = "__consumerscope_none__"
TOPIC_SEPARATOR = ";"
# A broker takes requests up to 16 MiB; one call should not hold one of its admin threads for long either.
MAX_TOPIC_LIST = 256 * 1024


class BrokerOffsetCalls:
    """`broker_version`: the ordinal that the latest answer carried, None before the first."""

    def __init__(self, pool: ConnectionPool, address: str) -> None:
        self.address = address
        self.broker_version: int | None = None
        self._pool = pool

    async def consumer_offsets(
        self,
        *,
        parse: Callable[[bytes], pa.Table] = consumer_offsets_table,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> pa.Table:
        """Every committed offset of the broker: group, topic, queue_id, consumer_offset, broadcast.

        `parse` may be the broker's OffsetMemory, which spares what stands still.
        """
        answer = await self._call(RequestCode.GET_ALL_CONSUMER_OFFSET, {}, deadline_seconds)
        return await parsed(parse, answer.body, self.address)

    async def broker_offsets(self, topics: Sequence[str], *, deadline_seconds: float = DEADLINE_SECONDS) -> pa.Table:
        """Max offsets of the read queues of `topics`: topic, broker, queue_id, broker_offset.

        The broker leaves out topics that it does not have. Raises BrokerRefused (REQUEST_CODE_NOT_SUPPORTED) where it
        is older than 5.3.2: it would answer with an empty table. The deadline holds for each of several calls.
        """
        tables = [BROKER_OFFSETS.empty_table()]
        for topic_list in _topic_lists(topics):
            fields = {"consumerGroup": UNUSED_GROUP, "topicList": topic_list}
            answer = await self._call(RequestCode.GET_CONSUME_STATS, fields, deadline_seconds)
            self._refuse_if_too_old(answer)
            tables.append(await parsed(broker_offsets_table, answer.body, self.address))
        return pa.concat_tables(tables).unify_dictionaries().combine_chunks()

    async def broker_offsets_of(self, topic: str, *, deadline_seconds: float = DEADLINE_SECONDS) -> pa.Table:
        """The same for one topic, which every version understands."""
        fields = {"consumerGroup": UNUSED_GROUP, "topic": topic}
        answer = await self._call(RequestCode.GET_CONSUME_STATS, fields, deadline_seconds)
        return await parsed(broker_offsets_table, answer.body, self.address)

    async def max_offset(self, topic: str, queue_id: int, *, deadline_seconds: float = DEADLINE_SECONDS) -> int:
        """0 also for a queue that does not exist: ask only for those that the topic's configuration names."""
        return await self._queue_offset(RequestCode.GET_MAX_OFFSET, topic, queue_id, deadline_seconds)

    async def min_offset(self, topic: str, queue_id: int, *, deadline_seconds: float = DEADLINE_SECONDS) -> int:
        """0 also for a queue that does not exist: ask only for those that the topic's configuration names."""
        return await self._queue_offset(RequestCode.GET_MIN_OFFSET, topic, queue_id, deadline_seconds)

    async def min_offsets(
        self, queues: Sequence[tuple[str, int]], *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> list[int | RocketMQError]:
        """One pipelined call for each (topic, queue_id), the answers in the same order. A failure stands in its place.

        The deadline holds for all of them together.
        """

        async def ask(topic: str, queue_id: int) -> int | RocketMQError:
            try:
                return await self.min_offset(topic, queue_id, deadline_seconds=deadline_seconds)
            except RocketMQError as error:
                return error

        return list(await asyncio.gather(*(ask(topic, queue_id) for topic, queue_id in queues)))

    async def _queue_offset(self, code: int, topic: str, queue_id: int, deadline_seconds: float) -> int:
        answer = await self._call(code, {"topic": topic, "queueId": str(queue_id)}, deadline_seconds)
        with blaming(self.address):
            return offset_of_header(answer.ext_fields, code)

    async def _call(self, code: int, ext_fields: dict[str, str], deadline_seconds: float, body: bytes = b"") -> Command:
        answer = await call(self._pool, self.address, code, ext_fields, body, deadline_seconds=deadline_seconds)
        self.broker_version = answer.version
        return answer

    def _refuse_if_too_old(self, answer: Command) -> None:
        if answer.version is None or answer.version < BULK_OFFSETS_VERSION:
            name = "of unknown version" if answer.version is None else mq_version_name(answer.version)
            remark = f"the broker is {name}, offsets of many topics in one call need 5.3.2"
            code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            raise BrokerRefused(code, remark, RequestCode.GET_CONSUME_STATS, address=self.address)


def _topic_lists(topics: Sequence[str]) -> Iterator[str]:
    """The topics joined as a broker splits them, in as few texts as MAX_TOPIC_LIST allows."""
    batch: list[str] = []
    length = 0
    for topic in topics:
        if not topic or TOPIC_SEPARATOR in topic:
            raise LocalProtocolError(f"{topic!r} is not the name of a topic")
        if batch and length + len(topic) > MAX_TOPIC_LIST:
            yield TOPIC_SEPARATOR.join(batch)
            batch, length = [], 0
        batch.append(topic)
        length += len(topic) + 1
    if batch:
        yield TOPIC_SEPARATOR.join(batch)
