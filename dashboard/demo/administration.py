"""RocketMQ's own admin client: topics, groups and offsets, made through its classes. Needs the JVM of this process."""

import contextlib
import socket
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from jpype import JClass

from consumers.rocketmq.wire.codes import RequestCode, ResponseCode, TlsOptions, client_context
from consumers.rocketmq.wire.frames import Command, FrameReader, encode

from .java import DemoFailed

ROUTE_SECONDS = 60.0
LOOK_SECONDS = 0.1


class RouteNotKnown(DemoFailed):
    """A topic was created, and the name server did not come to know it."""


class Administration:
    """Everything is done on all of the cluster's brokers (name → address), unless one is named."""

    def __init__(self, namesrv: str, brokers: Mapping[str, str], *, instance: str = "administration") -> None:
        self._brokers = dict(brokers)
        self._admin: Any = JClass("org.apache.rocketmq.tools.admin.DefaultMQAdminExt")(10_000)
        self._admin.setNamesrvAddr(namesrv)
        self._admin.setInstanceName(instance)
        self._admin.start()

    def __enter__(self) -> "Administration":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._admin.shutdown()

    def create_topic(self, name: str, queues: int, broker: str | None = None) -> None:
        """Creates or changes it; returns once the name server routes it."""
        config = JClass("org.apache.rocketmq.common.TopicConfig")(name, queues, queues)
        wanted = self._named(broker)
        for address in wanted.values():
            self._admin.createAndUpdateTopicConfig(address, config)
        deadline = time.monotonic() + ROUTE_SECONDS
        while not set(wanted) <= self._routed(name):
            if time.monotonic() > deadline:
                raise RouteNotKnown(f"The name server does not know {name} on {', '.join(wanted)}.")
            time.sleep(LOOK_SECONDS)

    def create_group(
        self, name: str, *, orderly: bool = False, retry_max_times: int = 16, broker: str | None = None
    ) -> None:
        config = JClass("org.apache.rocketmq.remoting.protocol.subscription.SubscriptionGroupConfig")()
        config.setGroupName(name)
        config.setConsumeMessageOrderly(orderly)
        config.setRetryMaxTimes(retry_max_times)
        for address in self._named(broker).values():
            self._admin.createAndUpdateSubscriptionGroupConfig(address, config)

    def set_offset(self, group: str, topic: str, broker: str, queue_id: int, offset: int) -> None:
        """What a consumer's commit does, without a consumer."""
        queue = JClass("org.apache.rocketmq.common.message.MessageQueue")(topic, broker, queue_id)
        self._admin.updateConsumeOffset(self._brokers[broker], group, queue, offset)

    def reset_by_time(self, group: str, topic: str, milliseconds: int) -> None:
        """What `mqadmin resetOffsetByTime` does, of a group that is online or not; 0 is the earliest message."""
        self._admin.resetOffsetByTimestamp(topic, group, milliseconds, True)

    def statistic(self, broker: str, name: str, key: str) -> tuple[int, float]:
        """A broker's own count of its last minute: the sum, and the rate a second."""
        minute = self._admin.viewBrokerStatsData(self._brokers[broker], name, key).getStatsMinute()
        return int(minute.getSum()), float(minute.getTps())

    def consume_status(self, group: str, client_id: str, topic: str) -> dict[str, float]:
        """What a member reports of a topic, by the names of RocketMQ's ConsumeStatus; {} where it reports none."""
        status = self._admin.getConsumerRunningInfo(group, client_id, False).getStatusTable().get(topic)
        names = ("ConsumeOKTPS", "ConsumeFailedTPS", "ConsumeRT", "PullTPS", "PullRT")
        return {} if status is None else {name: float(getattr(status, f"get{name}")()) for name in names}

    def remoting_client(self) -> Any:
        """RocketMQ's own, for requests that its admin class has no method for."""
        return self._admin.getDefaultMQAdminExtImpl().getMqClientInstance().getMQClientAPIImpl().getRemotingClient()

    def let_pop(self, group: str, topic: str) -> None:
        """Members of the group that let brokers share queues out pop from the topic, from any of its queues."""
        mode = JClass("org.apache.rocketmq.common.message.MessageRequestMode").POP
        for address in self._brokers.values():
            self._admin.setMessageRequestMode(address, topic, group, mode, 0, 10_000)

    def _named(self, broker: str | None) -> dict[str, str]:
        return self._brokers if broker is None else {broker: self._brokers[broker]}

    def _routed(self, topic: str) -> set[str]:
        error: Any = JClass("org.apache.rocketmq.client.exception.MQClientException")
        try:
            route = self._admin.examineTopicRouteInfo(topic)
        except error:
            return set()
        return {str(queue.getBrokerName()) for queue in route.getQueueDatas()}


# Waits until the name server knows a broker.
#
# A broker that serves may not be known yet: it registers at its start only if its scan for name servers, which runs
# beside that, was quicker (5.4.0, NettyRemotingClient.scanAvailableNameSrv), and again 10 s later. A change of its
# permission makes it register at once (AdminBrokerProcessor.updateBrokerConfig): it is told the permission that it
# has.

UPDATE_BROKER_CONFIG = 25
READ_AND_WRITE = b"brokerPermission=6\n"
REGISTRATION_SECONDS = 120.0
REGISTRATION_LOOK_SECONDS = 0.3
ANSWER_SECONDS = 10.0


class NotRegistered(DemoFailed):
    """A broker serves, but clients cannot find it."""


def wait_until_registered(namesrv: str, broker_address: str, *, tls: TlsOptions | None = None) -> None:
    deadline = time.monotonic() + REGISTRATION_SECONDS
    while f'"{broker_address}"'.encode() not in _ask(namesrv, RequestCode.GET_BROKER_CLUSTER_INFO, tls=tls):
        if time.monotonic() > deadline:
            raise NotRegistered(f"The name server {namesrv} does not know the broker {broker_address}.")
        _ask(broker_address, UPDATE_BROKER_CONFIG, READ_AND_WRITE, tls=tls)
        time.sleep(REGISTRATION_LOOK_SECONDS)


def _ask(address: str, code: int, body: bytes = b"", *, tls: TlsOptions | None) -> bytes:
    """The body of the answer to one request on a connection of its own."""
    try:
        answer = _exchange(address, Command(code=code, opaque=1, body=body), tls)
    except OSError as cause:
        raise NotRegistered(f"{address} did not answer request {code}: {cause}.") from cause
    if answer is None:
        raise NotRegistered(f"{address} closed the connection instead of answering request {code}.")
    if answer.code != ResponseCode.SUCCESS:
        raise NotRegistered(f"{address} refused request {code} with {answer.code}: {answer.remark}.")
    return answer.body


def _exchange(address: str, request: Command, tls: TlsOptions | None) -> Command | None:
    """None when the peer closed the connection before its answer was whole."""
    host, _, port = address.rpartition(":")
    reader = FrameReader()
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS))
        if tls:
            connection = stack.enter_context(client_context(tls).wrap_socket(connection, server_hostname=host))
        connection.sendall(encode(request))
        while (answer := reader.next_command()) is None:
            received = connection.recv(1 << 16)
            if not received:
                return None
            reader.receive(received)
    return answer
