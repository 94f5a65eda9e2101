"""A producer of RocketMQ's own client. Needs the JVM of this process."""

from types import TracebackType
from typing import Any

from jpype import JArray, JByte, JClass


class Producer:
    def __init__(self, namesrv: str, group: str) -> None:
        self._producer: Any = JClass("org.apache.rocketmq.client.producer.DefaultMQProducer")(group)
        self._producer.setNamesrvAddr(namesrv)
        self._producer.setClientIP("127.0.0.1")
        self._producer.setInstanceName(group)
        self._producer.setSendMsgTimeout(10_000)
        self._producer.start()

    def __enter__(self) -> "Producer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._producer.shutdown()

    def look_up(self, topic: str) -> None:
        """Asks the name server where the topic is.

        The client itself asks every 30 s, and forgets a broker that was down until it asks again (RocketMQ 5.4.0,
        MQClientInstance.cleanOfflineBroker).
        """
        self._producer.getDefaultMQProducerImpl().getMqClientFactory().updateTopicRouteInfoFromNameServer(topic)

    def send(
        self,
        topic: str,
        body: bytes,
        *,
        tags: str = "",
        keys: str = "",
        queue: tuple[str, int] | None = None,
    ) -> tuple[str, int, int]:
        """Sends one message, to (broker, queue id) when `queue` says so, else to the next queue in turn.

        Returns where it is stored: broker, queue id, queue offset.
        """
        message = JClass("org.apache.rocketmq.common.message.Message")(topic, tags, keys, JArray(JByte)(body))
        if queue is None:
            result = self._producer.send(message)
        else:
            message_queue = JClass("org.apache.rocketmq.common.message.MessageQueue")(topic, queue[0], queue[1])
            result = self._producer.send(message, message_queue)
        stored = result.getMessageQueue()
        return str(stored.getBrokerName()), int(stored.getQueueId()), int(result.getQueueOffset())
