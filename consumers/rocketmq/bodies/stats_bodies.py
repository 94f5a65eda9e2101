"""Bodies that give the offsets of one topic (202) and of a reset (222), queue by queue."""

from consumers.rocketmq.wire.codes import RequestCode

from .broker_values import TopicQueueStats
from .fastjson import loads
from .fields import Fields


def topic_queue_stats(body: bytes) -> list[TopicQueueStats]:
    answer = Fields(loads(body), RequestCode.GET_TOPIC_STATS_INFO)
    return [
        TopicQueueStats(
            broker=queue.text("brokerName"),
            queue_id=queue.small("queueId"),
            min_offset=value.integer("minOffset"),
            max_offset=value.integer("maxOffset"),
            last_update_at_ms=value.optional_moment("lastUpdateTimestamp"),
        )
        for queue, value in answer.queues("offsetTable")
    ]


def reset_offsets(body: bytes, topic: str) -> dict[int, int]:
    """By queue id, all of `topic` and of one broker: the one that answers (5.4.0, ResetOffsetBody)."""
    answer = Fields(loads(body), RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)
    rows = list(answer.queue_integers("offsetTable"))
    if others := {queue.text("topic") for queue, _ in rows} - {topic}:
        raise answer.wrong("offsetTable", f"names the topic {min(others)}, and not only {topic}")
    if len({queue.text("brokerName") for queue, _ in rows}) > 1:
        raise answer.wrong("offsetTable", "names more than one broker")
    return {queue.small("queueId"): offset for queue, offset in rows}
