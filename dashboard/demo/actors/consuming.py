"""The actor that holds the members which stay, and the auditors, who leave after a while. Run by the story."""

import signal
import time
from types import TracebackType
from typing import Any

import jpype
from jpype import JClass

from dashboard.demo import shop
from dashboard.demo.shop import Handler, Membership, Message

from .actor import begin_actor

LISTENER = "org.apache.rocketmq.client.consumer.listener."
API_MILLISECONDS = 15_000
REBALANCE = "org.apache.rocketmq.client.consumer.rebalance."


class Consumer:
    """Consumes from its creation until `shutdown`; starts at the first message where the group has no offset."""

    def __init__(self, namesrv: str, membership: Membership, handler: Handler) -> None:
        self._consumer: Any = JClass("org.apache.rocketmq.client.consumer.DefaultMQPushConsumer")(membership.group)
        self._listener = _orderly(handler) if membership.orderly else _concurrent(handler)
        _configure(self._consumer, namesrv, membership)
        self._consumer.subscribe(membership.topic, membership.tags)
        self._consumer.registerMessageListener(self._listener)
        self._consumer.start()

    def pull_no_more(self) -> None:
        """What it holds is consumed; commits go on, by the timer alone."""
        self._consumer.suspend()

    def held(self) -> list[tuple[str, str, int]]:
        """Topic, broker and queue id of every queue that it works on at this moment, as its own table says."""
        table = self._consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable()
        return sorted(
            (str(queue.getTopic()), str(queue.getBrokerName()), int(queue.getQueueId()))
            for queue, process in dict(table).items()
            if not process.isDropped()
        )

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
    # A member starts or fails; RocketMQ's own 3 s are short on a machine that starts a whole cluster beside it.
    consumer.setMqClientApiTimeout(API_MILLISECONDS)
    consumer.setInstanceName(membership.instance)
    consumer.setConsumeThreadMin(membership.threads)
    consumer.setConsumeThreadMax(membership.threads)
    consumer.setConsumeMessageBatchMaxSize(membership.batch_messages)
    consumer.setPullThresholdForQueue(membership.hold_messages)
    consumer.setPullBatchSize(membership.pull_messages)
    consumer.setAwaitTerminationMillisWhenShutdown(membership.wait_at_shutdown_milliseconds)
    consumer.setConsumeFromWhere(
        JClass("org.apache.rocketmq.common.consumer.ConsumeFromWhere").CONSUME_FROM_FIRST_OFFSET
    )
    # The broker shares the queues out, and says to pop where it was told so (5.4.0, RebalanceImpl).
    consumer.setClientRebalance(not membership.pops)
    if membership.invisible_milliseconds is not None:
        consumer.setPopInvisibleTime(membership.invisible_milliseconds)
    if membership.broadcasting:
        model = JClass("org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel")
        consumer.setMessageModel(model.BROADCASTING)
    if membership.commit_milliseconds is not None:
        consumer.setPersistConsumerOffsetInterval(membership.commit_milliseconds)
    if membership.max_reconsume_times is not None:
        consumer.setMaxReconsumeTimes(membership.max_reconsume_times)
    if membership.strategy is not None:
        consumer.setAllocateMessageQueueStrategy(JClass(REBALANCE + membership.strategy)())
    if membership.route_milliseconds is not None:
        consumer.setPollNameServerInterval(membership.route_milliseconds)
    if membership.timeout_minutes is not None:
        consumer.setConsumeTimeout(membership.timeout_minutes)
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
        unique_key=str(message.getMsgId()),
    )


def _concurrent(handler: Handler) -> Any:
    return _listener("Concurrently", handler, "CONSUME_SUCCESS", "RECONSUME_LATER")


def _orderly(handler: Handler) -> Any:
    return _listener("Orderly", handler, "SUCCESS", "SUSPEND_CURRENT_QUEUE_A_MOMENT")


def _listener(kind: str, handler: Handler, consumed: str, failed: str) -> Any:
    status = JClass(f"{LISTENER}Consume{kind}Status")

    def consume(messages: Any, context: Any) -> Any:
        # Each is handled, also those behind one that fails.
        handled = [handler(_message(message)) for message in messages]
        return getattr(status, consumed if all(handled) else failed)

    return jpype.JProxy(f"{LISTENER}MessageListener{kind}", dict={"consumeMessage": consume})


def take(_: Message) -> bool:
    return True


def send_email(message: Message) -> bool:
    return shop.is_sent(message.keys, message.reconsume_times)


def bill_slowly(_: Message) -> bool:
    time.sleep(shop.BILLING_SECONDS)
    return True


HANDLERS: dict[str, Handler] = {"billing": bill_slowly, "email": send_email, "inventory": shop.is_booked}


def join(namesrv: str, membership: Membership) -> Consumer:
    return Consumer(namesrv, membership, HANDLERS.get(membership.group, take))


def main() -> None:
    arguments, answers = begin_actor()
    # Kept by name: a consumer that nobody holds would be collected, and its handler with it.
    staying = [join(arguments.namesrv, membership) for membership in shop.STEADY]
    auditors = [join(arguments.namesrv, membership) for membership in shop.AUDIT]
    print("ready", file=answers, flush=True)
    time.sleep(shop.AUDIT_SECONDS)
    for auditor in auditors:
        auditor.shutdown()
    while staying:
        signal.pause()


if __name__ == "__main__":
    main()
