"""The read-only admin calls of one broker, typed. None of them changes anything on a broker.

Left out on purpose, for they do: 34 (a member that owns queues), 352 (creates the group), 308 (deletes offsets).
"""

import json

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
    TopicConfigs,
    TopicQueueStats,
    broker_config,
    broker_runtime,
    delay_offsets,
    group_configs,
    message_request_modes,
    timer_counts,
    topic_configs,
)
from consumers.rocketmq.bodies.queue_bodies import topic_queue_stats
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.errors import BrokerRefused

from .calls import DEADLINE_SECONDS, parsed
from .name_server import NameServer
from .queue_calls import QueueCalls

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

    async def runtime(self, *, deadline_seconds: float = DEADLINE_SECONDS) -> dict[str, str]:
        answer = await self._call(RequestCode.GET_BROKER_RUNTIME_INFO, {}, deadline_seconds)
        return await parsed(broker_runtime, answer.body, self.address)

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
        # The wish is in the body; the header has none (5.4.0, QueryAssignmentRequestBody).
        answer = await self._call(RequestCode.QUERY_ASSIGNMENT, {}, deadline_seconds, json.dumps(wanted).encode())
        return await parsed(assigned_queues, answer.body, self.address)
