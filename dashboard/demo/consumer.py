"""A push consumer of RocketMQ's own client, whose messages are handled in Python. Needs the JVM of this process."""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import jpype
from jpype import JClass

LISTENER = "org.apache.rocketmq.client.consumer.listener."


@dataclass(frozen=True)
class Message:
    """A message as a handler sees it. `reconsume_times` is 0 at its first delivery."""

    topic: str
    queue_id: int
    queue_offset: int
    keys: str
    body: bytes
    reconsume_times: int


# True: consumed. False: later, which an orderly consumer does on the spot and a concurrent one by sending back.
Handler = Callable[[Message], bool]


@dataclass(frozen=True)
class Membership:
    """What a member says of itself. Its client id is `127.0.0.1@instance`."""

    group: str
    topic: str
    instance: str
    orderly: bool = False
    broadcasting: bool = False
    threads: int = 1
    # None leaves RocketMQ's own: 16, orderly for ever.
    max_reconsume_times: int | None = None
    # None leaves RocketMQ's own. A failing queue of an orderly consumer is tried again after this.
    suspend_milliseconds: int | None = None
    # How many messages of a queue a member holds. RocketMQ's own is 1000, which a slow consumer of a demo never fills.
    hold_messages: int = 1000
    # RocketMQ's own waits for nothing.
    wait_at_shutdown_milliseconds: int = 0


class Consumer:
    """Consumes from its creation until `shutdown`; starts at the first message where the group has no offset."""

    def __init__(self, namesrv: str, membership: Membership, handler: Handler) -> None:
        self._consumer: Any = JClass("org.apache.rocketmq.client.consumer.DefaultMQPushConsumer")(membership.group)
        self._listener = _orderly(handler) if membership.orderly else _concurrent(handler)
        _configure(self._consumer, namesrv, membership)
        self._consumer.subscribe(membership.topic, "*")
        self._consumer.registerMessageListener(self._listener)
        self._consumer.start()

    def shutdown(self) -> None:
        """Commits what was consumed and says goodbye to the brokers."""
        self._consumer.shutdown()

    def __enter__(self) -> "Consumer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()


def _configure(consumer: Any, namesrv: str, membership: Membership) -> None:
    consumer.setNamesrvAddr(namesrv)
    consumer.setClientIP("127.0.0.1")
    consumer.setInstanceName(membership.instance)
    consumer.setConsumeThreadMin(membership.threads)
    consumer.setConsumeThreadMax(membership.threads)
    consumer.setConsumeMessageBatchMaxSize(1)
    consumer.setPullThresholdForQueue(membership.hold_messages)
    consumer.setAwaitTerminationMillisWhenShutdown(membership.wait_at_shutdown_milliseconds)
    consumer.setConsumeFromWhere(
        JClass("org.apache.rocketmq.common.consumer.ConsumeFromWhere").CONSUME_FROM_FIRST_OFFSET
    )
    if membership.broadcasting:
        model = JClass("org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel")
        consumer.setMessageModel(model.BROADCASTING)
    if membership.max_reconsume_times is not None:
        consumer.setMaxReconsumeTimes(membership.max_reconsume_times)
    if membership.suspend_milliseconds is not None:
        consumer.setSuspendCurrentQueueTimeMillis(membership.suspend_milliseconds)


def _message(message: Any) -> Message:
    return Message(
        topic=str(message.getTopic()),
        queue_id=int(message.getQueueId()),
        queue_offset=int(message.getQueueOffset()),
        keys=str(message.getKeys() or ""),
        body=bytes(message.getBody()),
        reconsume_times=int(message.getReconsumeTimes()),
    )


def _concurrent(handler: Handler) -> Any:
    status = JClass(LISTENER + "ConsumeConcurrentlyStatus")

    def consume(messages: Any, context: Any) -> Any:
        consumed = all(handler(_message(message)) for message in messages)
        return status.CONSUME_SUCCESS if consumed else status.RECONSUME_LATER

    return jpype.JProxy(LISTENER + "MessageListenerConcurrently", dict={"consumeMessage": consume})


def _orderly(handler: Handler) -> Any:
    status = JClass(LISTENER + "ConsumeOrderlyStatus")

    def consume(messages: Any, context: Any) -> Any:
        consumed = all(handler(_message(message)) for message in messages)
        return status.SUCCESS if consumed else status.SUSPEND_CURRENT_QUEUE_A_MOMENT

    return jpype.JProxy(LISTENER + "MessageListenerOrderly", dict={"consumeMessage": consume})
