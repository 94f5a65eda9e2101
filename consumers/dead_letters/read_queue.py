"""Reads the messages of one dead-letter queue that are not indexed yet, with the reason where some were not read.

First newer ones, then older ones down to the limit: the indexed range has no gap whenever the calls run out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.db.models import Q

from consumers.models import Client, ConsumerGroup
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.fields import count_of
from consumers.rocketmq.messages.dead import DeadMessage, dead_message
from consumers.rocketmq.messages.stored import Pulled, PullOutcome
from consumers.rocketmq.wire.codes import BrokerRefused, ResponseCode, RocketMQError
from consumers.vocabulary.reasons import PollProblem, stored_reason

# The ends of a dead-letter queue are known from its broker and from rows. Key: broker name and queue id.
Place = tuple[str, int]


@dataclass(frozen=True)
class Ends:
    """Begin and end of a queue, as its broker reports them; messages are in [min_offset, broker_offset)."""

    min_offset: int
    broker_offset: int


@dataclass(frozen=True)
class Indexed:
    """[since, until) of a queue has rows. `last_stored_id` is the stored id at until - 1, null without a
    message there.
    """

    since: int
    until: int
    last_stored_id: str | None = None


class Calls:
    """How many calls a pass has left. Calls of one turn count against the pass."""

    def __init__(self, left: int, whole: "Calls | None" = None) -> None:
        self.left = left
        self._whole = whole

    def turn(self, most: int) -> "Calls":
        return Calls(min(most, self.left), self)

    def take(self) -> bool:
        """Counts one call; returns whether it may be made."""
        if self.left <= 0 or (self._whole is not None and not self._whole.take()):
            return False
        self.left -= 1
        return True


def kept_from(ends: dict[Place, Ends], most: int) -> dict[Place, int]:
    """The offset from which each queue is indexed, so that `most` messages are. Every queue gets an equal share; what
    short queues do not use goes to the others.
    """
    low: dict[Place, int] = {}
    left = most
    by_stock = sorted(ends, key=lambda place: ends[place].broker_offset - ends[place].min_offset)
    for number, place in enumerate(by_stock):
        end = ends[place]
        taken = min(end.broker_offset - end.min_offset, left // (len(by_stock) - number))
        low[place] = end.broker_offset - taken
        left -= taken
    return low


# The most messages that a broker returns at once (5.4.0, MessageStoreConfig.maxTransferCountOnMessageInMemory).
AT_ONCE = 32


@dataclass
class QueueRead:
    """`letters`: messages in [since, until) without a row. `anew`: existing rows are of an older topic with the same
    name. `failure` or `error`: why not everything that the calls allowed was read.
    """

    since: int
    until: int
    letters: list[DeadMessage] = field(default_factory=list)
    anew: bool = False
    failure: RocketMQError | None = None
    error: str | None = None


@dataclass(frozen=True)
class DeadQueue:
    admin: BrokerAdmin
    topic: str
    queue_id: int
    deadline_seconds: float

    async def pull(self, offset: int) -> Pulled:
        return await self.admin.pull(self.topic, self.queue_id, offset, AT_ONCE, deadline_seconds=self.deadline_seconds)


async def read_queue(queue: DeadQueue, ends: Ends, kept_from: int, indexed: Indexed | None, calls: Calls) -> QueueRead:
    """Reads offsets in [min_offset, broker_offset) only."""
    low = max(kept_from, ends.min_offset)
    read = _begin(ends, low, indexed)
    try:
        if not read.anew and indexed is not None and not await _is_same(queue, ends, indexed, calls):
            read = QueueRead(ends.broker_offset, ends.broker_offset, anew=True)
        await _read_on(queue, read, ends, calls)
        await _read_back(queue, read, low, calls)
    except RocketMQError as failure:
        read.failure = failure
    return read


def _begin(ends: Ends, low: int, indexed: Indexed | None) -> QueueRead:
    """Starts at the queue's end where no indexed message is within the limit."""
    if indexed is None or indexed.until < low:
        return QueueRead(ends.broker_offset, ends.broker_offset)
    if indexed.until > ends.broker_offset:
        return QueueRead(ends.broker_offset, ends.broker_offset, anew=True)
    return QueueRead(max(indexed.since, low), indexed.until)


async def _is_same(queue: DeadQueue, ends: Ends, indexed: Indexed, calls: Calls) -> bool:
    """Whether the rows are of this topic. A topic that was deleted and created again may be longer than the old one:
    then other messages are at the same offsets.
    """
    last = indexed.until - 1
    if indexed.last_stored_id is None or last < ends.min_offset or not calls.take():
        return True
    pulled = await queue.pull(last)
    found = next((message for message in pulled.messages if message.queue_offset == last), None)
    return found is None or found.stored_id == indexed.last_stored_id


async def _read_on(queue: DeadQueue, read: QueueRead, ends: Ends, calls: Calls) -> None:
    while read.until < ends.broker_offset and calls.take():
        at = _after(await queue.pull(read.until), read.until, read)
        if at is None:
            read.error = read.error or _nothing_at(read.until)
            return
        read.until = at


async def _read_back(queue: DeadQueue, read: QueueRead, low: int, calls: Calls) -> None:
    """Reads older messages, in pieces that count only when they are complete."""
    while read.since > low and read.error is None:
        start = max(low, read.since - AT_ONCE)
        piece = QueueRead(start, start)
        while piece.until < read.since:
            if not calls.take():
                return
            at = _after(await queue.pull(piece.until), piece.until, piece, before=read.since)
            if at is None:
                read.error = piece.error or _nothing_at(piece.until)
                return
            piece.until = at
        read.letters += piece.letters
        read.since = start


def _nothing_at(offset: int) -> str:
    return stored_reason(PollProblem.NOTHING_THERE, offset=str(offset))


def _after(pulled: Pulled, offset: int, read: QueueRead, before: int | None = None) -> int | None:
    """The next offset to read; null where there is nothing more at present. Collects the messages in
    [offset, before).
    """
    if pulled.outcome is PullOutcome.RETRY:
        read.error = stored_reason(PollProblem.UNREADABLE_FOR_NOW, offset=str(offset))
        return None
    messages = [dead_message(m) for m in pulled.messages if m.queue_offset >= offset]
    read.letters += [message for message in messages if before is None or message.offset < before]
    if messages:
        return messages[-1].offset + 1
    # A queue may still have offsets whose messages were deleted: the broker names the next existing one.
    return pulled.next_offset if pulled.outcome is PullOutcome.MOVED and pulled.next_offset > offset else None


# RocketMQ 5.4.0, PullMessageProcessor; the same text in 4.x.
TOPIC_NOT_READABLE = "pulling message is forbidden"

OF_TOPIC = "the topic["

# 5.4.0, AclAuthorizationHandler; 4.x, PlainPermissionManager.
NOT_ALLOWED = ("has no permission to access", "No default permission", "acl.common")


def reason_of(error: RocketMQError, topic: str) -> str:
    """Why dead-letter messages were not read, and what to do, as it is stored."""
    if not isinstance(error, BrokerRefused):
        return str(error)
    remark = error.remark or ""
    if error.code == ResponseCode.NO_PERMISSION and TOPIC_NOT_READABLE in remark:
        if OF_TOPIC in remark:
            return stored_reason(PollProblem.DLQ_ONLY_WRITABLE, broker=error.address, topic=topic)
        return stored_reason(PollProblem.BROKER_ONLY_WRITABLE, broker=error.address)
    if any(words in remark for words in NOT_ALLOWED):
        return stored_reason(PollProblem.KEY_NOT_ALLOWED, error=str(error), topic=topic)
    return str(error)


# Whether a message was dead-lettered before its retries were exhausted: then its application sent it there.
# Only members at that time know the maximum: they send it with each message that they send back (RocketMQ 5.4.0,
# AbstractSendMessageProcessor.consumerSendMsgBack).
# DefaultMQPushConsumerImpl.getMaxReconsumeTimes: -1 stands for this number.
UNSET, DEFAULT = "-1", 16

# A member is seen some readings after it started, and its clock may differ from the broker's.
SLACK = timedelta(minutes=1)

EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Member:
    """`most_tries` is null where the member does not report it; `orderly` where it was not asked."""

    since: datetime
    until: datetime
    orderly: bool | None
    most_tries: int | None


@dataclass(frozen=True)
class Tries:
    """`configured`: the group's own maximum, by broker, for members that report none."""

    members: list[Member]
    configured: Mapping[str, int | None]

    @classmethod
    def of(cls, group: ConsumerGroup, since: datetime) -> "Tries":
        """For messages that were stored at `since` or later."""
        there = Client.objects.filter(Q(gone_by=None) | Q(gone_by__gte=since - SLACK), group=group)
        rows = group.configs.values_list("broker", "retry_max_times")
        return cls([_member(client) for client in there], dict(rows))

    def sent_by_application(self, broker: str, reconsume_times: int, stored_at: datetime) -> bool | None:
        """A dead-letter message counts one attempt more than it had retries. Null where its members disagree, are
        orderly or are unknown: an orderly member sends messages to the DLQ itself after its retries.
        """
        there = [m for m in self.members if m.since - SLACK <= stored_at <= m.until]
        if not there or any(member.orderly is not False for member in there):
            return None
        limits = {self.configured.get(broker) if m.most_tries is None else m.most_tries for m in there}
        most = limits.pop() if len(limits) == 1 else None
        return None if most is None else reconsume_times <= most


def _member(client: Client) -> Member:
    setting = (client.settings or {}).get("maxReconsumeTimes", "")
    most = DEFAULT if setting == UNSET else count_of(setting)
    began = min(client.seen_since, client.started_at or client.seen_since)
    return Member(began, client.gone_by + SLACK if client.gone_by else EVER, client.orderly, most)
