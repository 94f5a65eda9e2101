"""Answers to a pull (11) and to a look into a consume queue (321)."""

from consumers.rocketmq.messages.message_values import Pulled, PullOutcome, QueueEntries, QueueEntry
from consumers.rocketmq.messages.messages import stored_messages
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command

from .fastjson import loads_plain
from .fields import Fields

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
