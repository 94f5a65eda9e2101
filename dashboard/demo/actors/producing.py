"""The actor that makes the shop's topics and groups, then sends its messages. Run by the story."""

import time
from types import TracebackType
from typing import Any

from jpype import JArray, JByte, JClass

from dashboard.demo import shop
from dashboard.demo.administration import Administration

from .actor import begin_actor

# A producer of RocketMQ's own client. Needs the JVM of this process.


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


TICK_SECONDS = 0.1


def open_shop(administration: Administration) -> None:
    for topic in shop.TOPICS:
        administration.create_topic(topic.name, topic.queues)
    # Members would make their groups by coming; made here, they also say what they are in the broker's configuration.
    for group in sorted({membership.group for membership in (*shop.STEADY, *shop.AUDIT)}):
        administration.create_group(group, orderly=group == shop.INVENTORY[0].group)


def send_due(producer: Producer, topic: shop.Topic, broker: str, elapsed_seconds: float, sent: int) -> int:
    """Sends what the topic should have had by now; returns how many that makes in all."""
    for number in range(sent + 1, sent + 1 + shop.messages_due(topic.messages_per_second, elapsed_seconds, sent)):
        # Stock movements of an item must stay in order, so their queue is chosen by the number; others go round.
        queue = (broker, number % topic.queues) if topic is shop.STOCK_MOVEMENTS else None
        keys = shop.message_keys(topic.name, number)
        producer.send(topic.name, shop.message_body(topic.name, number), keys=keys, queue=queue)
        sent = number
    return sent


def main() -> None:
    arguments, answers = begin_actor()
    broker = next(iter(arguments.brokers))
    with Administration(arguments.namesrv, arguments.brokers) as administration:
        open_shop(administration)
    with Producer(arguments.namesrv, "shop") as producer:
        print("ready", file=answers, flush=True)
        start = time.monotonic()
        sent = dict.fromkeys(shop.TOPICS, 0)
        poisoned = False
        while True:
            elapsed = time.monotonic() - start
            for topic in shop.TOPICS:
                sent[topic] = send_due(producer, topic, broker, elapsed, sent[topic])
            if not poisoned and elapsed > shop.POISON_AFTER_SECONDS:
                queue = (broker, shop.POISON_QUEUE)
                producer.send(shop.STOCK_MOVEMENTS.name, b"{}", keys=shop.POISON_KEY, queue=queue)
                poisoned = True
            time.sleep(TICK_SECONDS)


if __name__ == "__main__":
    main()
