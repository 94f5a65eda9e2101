"""Answers to a pull (11), a consume queue look-up (321), offsets of a topic (202) and of a reset (222)."""

from consumers.rocketmq.bodies.config_bodies import TopicQueueStats
from consumers.rocketmq.bodies.fastjson import loads, loads_plain
from consumers.rocketmq.messages.stored import Pulled, PullOutcome, QueueEntries, QueueEntry, stored_messages
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command

from .fields import Fields

# Answers to a pull (11) and to a look into a consume queue (321).
# 5.4.0, PullMessageProcessor.composeResponseHeader.
PULL_OUTCOMES = {
    ResponseCode.SUCCESS: PullOutcome.FOUND,
    ResponseCode.PULL_NOT_FOUND: PullOutcome.NO_MESSAGE_YET,
    ResponseCode.PULL_RETRY_IMMEDIATELY: PullOutcome.RETRY,
    ResponseCode.PULL_OFFSET_MOVED: PullOutcome.MOVED,
}


def pulled(answer: Command) -> Pulled:
    fields = Fields(dict(answer.ext_fields), RequestCode.PULL_MESSAGE, ("extFields",))
    outcome = PULL_OUTCOMES[ResponseCode(answer.code)]
    return Pulled(
        outcome=outcome,
        messages=tuple(stored_messages(answer.body)) if outcome is PullOutcome.FOUND else (),
        next_offset=fields.number_text("nextBeginOffset"),
        min_offset=fields.optional_number_text("minOffset"),
        max_offset=fields.optional_number_text("maxOffset"),
    )


def queue_entries(body: bytes) -> QueueEntries:
    if not body:
        # The queue has no file for this index (5.4.0, AdminBrokerProcessor.queryConsumeQueue).
        return QueueEntries(entries=(), min_offset=None, max_offset=None)
    answer = Fields(loads_plain(body), RequestCode.QUERY_CONSUME_QUEUE)
    return QueueEntries(
        entries=tuple(_entry(fields) for fields in answer.items("queueData")),
        min_offset=answer.integer("minQueueIndex"),
        max_offset=answer.integer("maxQueueIndex"),
    )


def _entry(fields: Fields) -> QueueEntry:
    # With an extension of the consume queue the code is an address in it, below zero (5.4.0, ConsumeQueueExt).
    is_extended = fields.optional_text("extendDataJson") is not None or fields.optional_text("msg") is not None
    return QueueEntry(
        physical_offset=fields.integer("physicOffset"),
        size=fields.small("physicSize"),
        tags_code=None if is_extended else fields.integer("tagsCode"),
    )


# Bodies that give the offsets of one topic (202) and of a reset (222), queue by queue.
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
