"""Where a member starts on a queue without a committed offset, by the client's own rules.

RocketMQ 5.4.0, RebalancePushImpl.computePullFromWhereWithException: a member asks its offset store first, and only
where that has nothing does ConsumeFromWhere decide. A broker's store answers 0 for such a queue as long as the min
offset is at most 0 and the first message is still in memory (ConsumerManageProcessor.queryConsumerOffset), and that
counts as an offset, whatever ConsumeFromWhere says. A start before the min offset is moved up to it by the first pull.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from consumers.vocabulary.offset_files import StartReason, StartRule
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.times import iso

FIRST = "CONSUME_FROM_FIRST_OFFSET"
TIMESTAMP = "CONSUME_FROM_TIMESTAMP"
LAST = frozenset(
    {
        "CONSUME_FROM_LAST_OFFSET",
        # Deprecated, and all the same as the first.
        "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
        "CONSUME_FROM_MIN_OFFSET",
        "CONSUME_FROM_MAX_OFFSET",
    }
)
# DefaultMQPushConsumer.consumeTimestamp: half an hour before the consumer was made, as text in its own time zone.
DEFAULT_BEFORE_START = timedelta(minutes=30)
# Between the making of a consumer and its start, at most: beyond it the text is taken for one that was set by hand.
MADE_BEFORE_START = timedelta(seconds=60)
LENGTH = len("yyyyMMddHHmmss")
QUARTER_HOUR = timedelta(minutes=15)
LAST_END, RETRY_END = stored_reason(StartRule.LAST_END), stored_reason(StartRule.RETRY_END)
IN_MEMORY, BY_SETTING = stored_reason(StartRule.IN_MEMORY), stored_reason(StartRule.BY_SETTING)
# Rules whose offset grows with the queue.
AT_END = frozenset({LAST_END, RETRY_END})
ZONES = (timedelta(hours=-12), timedelta(hours=14))


@dataclass(frozen=True)
class BrokerAnswer:
    """What the broker said of one queue without an offset.

    `offset`: its answer to QUERY_CONSUMER_OFFSET (14) as a client asks it, without setZeroIfNotFound; None: not found.
    `offset_at_time`: its answer to SEARCH_OFFSET_BY_TIMESTAMP (29, lower boundary) for `start_time`; None: not asked.
    """

    offset: int | None = None
    offset_at_time: int | None = None


@dataclass(frozen=True)
class Start:
    """The offset of the first message that a member would get, and the rule; `offset` None: `reason` says why. Both as
    `stored_reason` gives them.
    """

    offset: int | None
    rule: str
    reason: str | None = None


def would_start(
    kind: str,
    consume_from_where: str | None,
    consume_timestamp: str | None,
    started_at: datetime | None,
    min_offset: int | None,
    broker_offset: int | None,
    broker_answer: BrokerAnswer | None,
) -> Start:
    """`kind` is the topic's as the group sees it; `broker_answer` None: the broker was not asked."""
    if kind == "dlq":
        return Start(None, stored_reason(StartRule.NOBODY), stored_reason(StartReason.OWN_DEAD_LETTERS))
    if broker_answer is not None and broker_answer.offset is not None:
        return _found(broker_answer.offset)
    if broker_answer is None:
        if broker_offset == 0:
            return Start(0, stored_reason(StartRule.EMPTY_QUEUE))
        # Above 0 the answer could only be "not found"; else it decides.
        if min_offset is None or min_offset <= 0:
            return Start(None, IN_MEMORY, stored_reason(StartReason.MEMORY_NOT_ASKED))
    return _by_consume_from_where(
        kind, consume_from_where, consume_timestamp, started_at, min_offset, broker_offset, broker_answer
    )


def moved_to_min(rule: str) -> str:
    """`rule` is as it is stored."""
    return stored_reason(StartRule.MOVED_TO_MIN, rule=rule)


def start_time(consume_timestamp: str | None, started_at: datetime | None) -> datetime | None:
    """The moment that consumeTimestamp (yyyyMMddHHmmss) means. None where its zone cannot be told.

    The text is in the client's own zone, which no answer names. A text that was left at its default tells the zone by
    its distance from the client's start.
    """
    if consume_timestamp is None or started_at is None:
        return None
    written = _parsed(consume_timestamp)
    if written is None:
        return None
    default = started_at - DEFAULT_BEFORE_START
    # The zone that puts the text just before the default: zones are whole quarters of an hour from UTC.
    behind = written - default
    zone = -(-behind // QUARTER_HOUR) * QUARTER_HOUR
    moment = written - zone
    left_at_default = default - moment <= MADE_BEFORE_START and ZONES[0] <= zone <= ZONES[1]
    return moment if left_at_default else None


def _found(offset: int) -> Start:
    if offset == 0:
        return Start(0, IN_MEMORY)
    return Start(offset, stored_reason(StartRule.COMMITTED_MEANWHILE))


def _by_consume_from_where(
    kind: str,
    consume_from_where: str | None,
    consume_timestamp: str | None,
    started_at: datetime | None,
    min_offset: int | None,
    broker_offset: int | None,
    answer: BrokerAnswer | None,
) -> Start:
    is_retry = kind == "retry"
    if consume_from_where == FIRST:
        return _at_least_min(0, min_offset, StartRule.FIRST)
    if consume_from_where in LAST:
        if is_retry:
            return _at_least_min(0, min_offset, StartRule.RETRY_BEGIN)
        return _at_end(broker_offset, LAST_END)
    if consume_from_where == TIMESTAMP:
        if is_retry:
            return _at_end(broker_offset, RETRY_END)
        return _at_time(consume_timestamp, started_at, answer)
    if consume_from_where is None:
        return Start(None, BY_SETTING, stored_reason(StartReason.NO_MEMBER))
    return Start(None, BY_SETTING, stored_reason(StartReason.UNKNOWN_SETTING, setting=repr(consume_from_where)))


def _at_least_min(offset: int, min_offset: int | None, code: StartRule) -> Start:
    rule = stored_reason(code)
    if min_offset is None:
        return Start(None, moved_to_min(rule), stored_reason(StartReason.MIN_UNREAD))
    return Start(min_offset, moved_to_min(rule)) if min_offset > offset else Start(offset, rule)


def _at_end(broker_offset: int | None, rule: str) -> Start:
    return Start(broker_offset, rule, None if broker_offset is not None else stored_reason(StartReason.END_UNREAD))


def _at_time(consume_timestamp: str | None, started_at: datetime | None, answer: BrokerAnswer | None) -> Start:
    if consume_timestamp is None:
        return Start(None, stored_reason(StartRule.TIMESTAMP), stored_reason(StartReason.NO_TIMESTAMP))
    moment = start_time(consume_timestamp, started_at)
    if moment is None:
        reason = stored_reason(StartReason.ZONE_UNKNOWN, timestamp=repr(consume_timestamp))
        return Start(None, stored_reason(StartRule.TIMESTAMP), reason)
    rule = stored_reason(StartRule.FROM_TIME, at=iso(moment))
    if answer is None or answer.offset_at_time is None:
        return Start(None, rule, stored_reason(StartReason.TIME_NOT_ASKED))
    return Start(answer.offset_at_time, rule)


def _parsed(text: str) -> datetime | None:
    if len(text) != LENGTH:  # strptime also reads numbers that lack a digit
        return None
    try:
        return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
