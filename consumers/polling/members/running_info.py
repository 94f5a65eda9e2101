"""What a client says of itself, in our words: the queues it holds and how far each is."""

from collections.abc import Collection, Sequence

from consumers.polling.brokers.rows import kind_in_group
from consumers.polling.reading import ClientReading, OwnedQueue
from consumers.rocketmq.client_values import ConsumeStatus, PopQueue, ProcessQueue, RunningInfo, Subscription
from consumers.rocketmq.times import time_of

from .client_settings import kept_settings
from .membership import newest_change
from .strategy_class import strategy_class


def client_reading(
    group: str, client_id: str, info: RunningInfo, topics: Collection[str] | None = None
) -> ClientReading:
    """`topics`: those that brokers have; null where nobody knows."""
    properties = info.properties
    return ClientReading(
        group=group,
        client_id=client_id,
        queues=tuple(_owned(queue) for queue in info.queues),
        strategy=strategy_class(properties.get("allocateMessageQueueStrategy")),
        orderly=_truth(properties.get("PROP_CONSUMEORDERLY")),
        started_at=time_of(_whole(properties.get("PROP_CONSUMER_START_TIMESTAMP"))),
        subscriptions=tuple(
            {"topic": s.topic, "expression": s.expression, "expression_type": s.expression_type}
            for s in info.subscriptions
        ),
        settings=kept_settings(properties),
        pop_queues=tuple(_popped(queue) for queue in info.pop_queues if not queue.dropped),
        sub_version=newest_change(group, info.subscriptions, topics),
        subscription=_lines(group, info.subscriptions),
        consume_status={topic: _status(status) for topic, status in sorted(info.status.items())},
    )


def _status(status: ConsumeStatus) -> dict[str, float | int | None]:
    """Of all its queues of the topic together, over its last minute; failed messages are those of its last hour
    (RocketMQ 5.4.0, ConsumerStatsManager.consumeStatus)."""
    return {
        "consume_ok_tps": status.consume_ok_tps,
        "consume_failed_tps": status.consume_failed_tps,
        "consume_failed_messages": status.consume_failed_messages,
        "consume_rt": status.consume_rt,
    }


def _lines(group: str, subscriptions: Sequence[Subscription]) -> str:
    """Members that subscribe alike say the same text: no type is TAG (RocketMQ 5.4.0, ExpressionType.isTagType)."""
    counted = [one for one in subscriptions if kind_in_group(group, one.topic) != "retry"]
    return "\n".join(sorted(f"{one.topic} {one.expression_type or 'TAG'} {one.expression}" for one in counted))


def _popped(queue: PopQueue) -> dict[str, str | int | None]:
    """As it is stored: the time as text."""
    last_pop_at = time_of(queue.last_pop_ms)
    return {
        "topic": queue.topic,
        "broker": queue.broker,
        "queue_id": queue.queue_id,
        "wait_ack_count": queue.wait_ack_count,
        "last_pop_at": last_pop_at.isoformat() if last_pop_at else None,
    }


def _owned(queue: ProcessQueue) -> OwnedQueue:
    return OwnedQueue(
        topic=queue.topic,
        broker=queue.broker,
        queue_id=queue.queue_id,
        commit_offset=queue.commit_offset,
        cached_min=queue.cached_min,
        cached_max=queue.cached_max,
        cached_count=queue.cached_count,
        locked=queue.locked,
        dropped=queue.dropped,
        last_pull_at=time_of(queue.last_pull_ms),
        last_consume_at=time_of(queue.last_consume_ms),
        last_lock_at=time_of(queue.last_lock_ms),
    )


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _truth(text: str | None) -> bool | None:
    return {"true": True, "false": False}.get(text) if text is not None else None
