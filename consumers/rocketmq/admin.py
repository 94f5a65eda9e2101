"""The read-only admin calls of one broker, typed. None of them changes anything on a broker.

Left out on purpose, for they do: 34 (a member that owns queues), 352 (creates the group), 308 (deletes offsets).
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from consumers.rocketmq.bodies.client_bodies import (
    AssignedQueue,
    GroupConnections,
    RunningInfo,
    assigned_queues,
    group_connections,
    running_info,
)
from consumers.rocketmq.bodies.config_bodies import (
    GroupConfigs,
    MinuteStatistic,
    TopicConfigs,
    TopicQueueStats,
    broker_config,
    delay_offsets,
    dispatch_behind_bytes,
    group_configs,
    message_request_modes,
    minute_statistic,
    offset_of_header,
    timer_counts,
    topic_configs,
)
from consumers.rocketmq.bodies.offsets import (
    BROKER_OFFSETS,
    PULL_OUTCOMES,
    broker_offsets_table,
    consumer_offsets_table,
    pulled,
    queue_entries,
    topic_queue_stats,
)
from consumers.rocketmq.message_calls import DEADLINE_SECONDS, blaming, call, parsed
from consumers.rocketmq.messages.stored import Pulled, QueueEntries
from consumers.rocketmq.wire.codes import (
    BULK_OFFSETS_VERSION,
    BrokerRefused,
    LocalProtocolError,
    RequestCode,
    ResponseCode,
    RocketMQError,
    mq_version_name,
    refused,
)
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command

from .name_server import NameServer

# The calls of a lag reading: consumer offsets and broker offsets of a whole broker, as columns.
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


PULLING_GROUP = "TOOLS_CONSUMER"

# The subscription comes with the request (5.4.0, PullSysFlag): no heart-beat is needed.
INLINE_SUBSCRIPTION = 4


class QueueCalls(BrokerOffsetCalls):
    """Calls about single queues: where a group is or would be, and what lies at an offset. None changes anything.

    A pull is safe under two rules. It bears the name of a system group that every broker has: another name would be
    created as a group, and a pending reset of a real group would be taken from it (5.4.0, PullMessageProcessor). And it
    commits nothing: bit 0 of its flags is off.
    """

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


__all__ = ["BrokerAdmin", "NameServer"]

# A broker waits up to 10 s for the client it passes the question on to (5.4.0, AdminBrokerProcessor.callConsumer).
RUNNING_INFO_DEADLINE_SECONDS = 12.0


class BrokerAdmin(QueueCalls):
    """Every call raises RocketMQError: with BrokerRefused the broker answered, otherwise nothing is known."""

    async def topic_stats(self, topic: str, *, deadline_seconds: float = DEADLINE_SECONDS) -> list[TopicQueueStats]:
        """Reads the commit log once a queue. Raises BrokerRefused with TOPIC_NOT_EXIST (17)."""
        answer = await self._call(RequestCode.GET_TOPIC_STATS_INFO, {"topic": topic}, deadline_seconds)
        return await parsed(topic_queue_stats, answer.body, self.address)

    async def topics(self, *, deadline_seconds: float = DEADLINE_SECONDS) -> TopicConfigs:
        answer = await self._call(RequestCode.GET_ALL_TOPIC_CONFIG, {}, deadline_seconds)
        return await parsed(topic_configs, answer.body, self.address)

    async def groups(self, *, deadline_seconds: float = DEADLINE_SECONDS) -> GroupConfigs:
        answer = await self._call(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, {}, deadline_seconds)
        return await parsed(group_configs, answer.body, self.address)

    async def config(self, *, deadline_seconds: float = DEADLINE_SECONDS) -> dict[str, str]:
        answer = await self._call(RequestCode.GET_BROKER_CONFIG, {}, deadline_seconds)
        return await parsed(broker_config, answer.body, self.address)

    async def dispatch_behind_bytes(self, *, deadline_seconds: float = DEADLINE_SECONDS) -> int | None:
        """How many bytes of the commit log consumers cannot get yet, because consume queues do not have them; None
        where the broker does not say. The answer is 4 kB. The broker reads the store time of its first message for it:
        a page of the commit log that stays in memory where it is asked often.
        """
        answer = await self._call(RequestCode.GET_BROKER_RUNTIME_INFO, {}, deadline_seconds)
        return await parsed(dispatch_behind_bytes, answer.body, self.address)

    async def statistic(
        self, name: str, key: str, *, deadline_seconds: float = DEADLINE_SECONDS
    ) -> MinuteStatistic | None:
        """One of BrokerStatsManager, as TOPIC_PUT_SIZE of `topic` or SNDBCK_PUT_NUMS of `topic@group`; None where the
        broker has counted nothing of it (SYSTEM_ERROR, as for every failure of its own)."""
        fields = {"statsName": name, "statsKey": key}
        try:
            answer = await self._call(RequestCode.VIEW_BROKER_STATS_DATA, fields, deadline_seconds)
        except BrokerRefused as refusal:
            if refusal.code == ResponseCode.SYSTEM_ERROR and "not exist" in (refusal.remark or ""):
                return None
            raise
        return await parsed(minute_statistic, answer.body, self.address)

    async def delay_offsets(self, *, deadline_seconds: float = DEADLINE_SECONDS) -> dict[int, int]:
        """By delay level: the offset in queue level - 1 of SCHEDULE_TOPIC_XXXX up to which messages were delivered."""
        answer = await self._call(RequestCode.GET_ALL_DELAY_OFFSET, {}, deadline_seconds)
        return await parsed(delay_offsets, answer.body, self.address)

    async def timer_counts(self, *, deadline_seconds: float = DEADLINE_SECONDS) -> dict[str, int]:
        """By topic: messages that wait in the timer wheel, by the broker's own running count. Since 5.0; SYSTEM_ERROR
        where the broker has no timer wheel, which it logs as an error of its own: do not ask it often."""
        answer = await self._call(RequestCode.GET_TIMER_METRICS, {}, deadline_seconds)
        return await parsed(timer_counts, answer.body, self.address)

    async def message_request_modes(self, *, deadline_seconds: float = DEADLINE_SECONDS) -> dict[str, dict[str, str]]:
        """By topic and group: POP or PULL, as it was set for push consumers; entries outlive both. Since 5.0."""
        answer = await self._call(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE, {}, deadline_seconds)
        return await parsed(message_request_modes, answer.body, self.address)

    async def connections(self, group: str, *, deadline_seconds: float = DEADLINE_SECONDS) -> GroupConnections:
        """The members that are connected to this broker; a group's members are those of all its brokers."""
        try:
            answer = await self._call(
                RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": group}, deadline_seconds
            )
        except BrokerRefused as refusal:
            if refusal.code == ResponseCode.CONSUMER_NOT_ONLINE:
                return GroupConnections(online=False)
            raise
        return await parsed(group_connections, answer.body, self.address)

    async def running_info(
        self,
        group: str,
        client_id: str,
        *,
        jstack: bool = False,
        deadline_seconds: float = RUNNING_INFO_DEADLINE_SECONDS,
    ) -> RunningInfo:
        """What the client says of itself. CONSUME_MSG_TIMEOUT (207): it is connected and did not answer in 10 s."""
        fields = {"consumerGroup": group, "clientId": client_id, "jstackEnable": "true" if jstack else "false"}
        answer = await self._call(RequestCode.GET_CONSUMER_RUNNING_INFO, fields, deadline_seconds)
        return await parsed(running_info, answer.body, self.address)

    async def query_assignment(
        self,
        group: str,
        topic: str,
        client_id: str,
        strategy: str,
        message_model: str,
        *,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> list[AssignedQueue] | None:
        """The queues that the broker gives the client, None where it has no answer. `strategy`: AVG or AVG_BY_CIRCLE.

        Stores nothing, registers nobody and asks no client. Of a topic that nobody asked it about before, the broker
        fetches the route and keeps it fresh from then on (5.4.0, TopicRouteInfoManager), so ask only of clients that
        ask this themselves: those with clientRebalance off.
        """
        wanted = {
            "topic": topic,
            "consumerGroup": group,
            "clientId": client_id,
            "strategyName": strategy,
            "messageModel": message_model,
        }
        # The request is in the body; the header has none (5.4.0, QueryAssignmentRequestBody).
        answer = await self._call(RequestCode.QUERY_ASSIGNMENT, {}, deadline_seconds, json.dumps(wanted).encode())
        return await parsed(assigned_queues, answer.body, self.address)
