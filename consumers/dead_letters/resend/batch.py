"""One batch of a resend: prepared, marked in the database before anything is sent, sent, then recorded."""

import asyncio
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import transaction

from consumers.jobs.hold import Hold, Ports, WithHeartbeat, reading
from consumers.models import ConsumerGroup, Resend, ResendItem, ResendOutcome
from consumers.polling.registration import WireClosed
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.dead import RESEND_PROPERTY, resent
from consumers.rocketmq.messages.stored import StoredMessage
from consumers.rocketmq.name_server import QueueRoute, Route
from consumers.rocketmq.names import dlq_topic
from consumers.rocketmq.wire.codes import BrokerRefused, LocalProtocolError, RocketMQError
from consumers.rocketmq.writes import Outgoing
from consumers.vocabulary.reasons import ResendCause, stored_reason
from consumers.vocabulary.states import READ, WRITE

from .plan import AT_ONCE, earlier_resend, place_of, sent_before

# The target of a dead-letter message: a writable and readable queue, on the message's own broker if that has one.

# Messages with the same key go to the same queue.
JOINING = ("__SHARDINGKEY", "KEYS", "UNIQ_KEY")


class NoTarget(Exception):
    """str() is a stored cause."""


@dataclass(frozen=True)
class Target:
    topic: str
    broker: str
    queue_id: int


def target_of(message: StoredMessage, at_broker: str, route: Route, masters: Collection[str]) -> Target:
    """Raises NoTarget.

    A dead-letter message does not record its original queue, so its key chooses the queue.
    """
    open_to_all = sorted((queue for queue in route.queues if _queues(queue)), key=lambda queue: queue.broker)
    candidates = [queue for queue in open_to_all if queue.broker in masters]
    if not candidates:
        raise NoTarget(stored_reason(ResendCause.NO_TARGET, topic=route.topic))
    chosen = next((queue for queue in candidates if queue.broker == at_broker), candidates[0])
    return Target(route.topic, chosen.broker, _hash(message) % _queues(chosen))


def by_target(items: Iterable[ResendItem]) -> dict[Target, list[ResendItem]]:
    """Groups items that have a target."""
    queues: dict[Target, list[ResendItem]] = {}
    for item in items:
        if item.target_topic is None or item.target_broker is None or item.target_queue_id is None:
            raise ValueError(f"item {item.pk} was never aimed at a queue")
        queues.setdefault(Target(item.target_topic, item.target_broker, item.target_queue_id), []).append(item)
    return queues


def _queues(queue: QueueRoute) -> int:
    """Queues that are both writable and readable."""
    return min(queue.read_queues, queue.write_queues) if queue.perm & READ and queue.perm & WRITE else 0


def _hash(message: StoredMessage) -> int:
    joined = (message.properties.get(name) for name in JOINING)
    return zlib.crc32(next((text for text in joined if text), message.stored_id).encode())


@dataclass(frozen=True)
class ResendJob:
    """The constant data of one resend while it runs."""

    resend_id: UUID
    group: ConsumerGroup
    to_group: bool

    @property
    def dlq_topic(self) -> str:
        return dlq_topic(self.group.name)

    def diverted_to(self, target: Target) -> Target | None:
        """Where a broker puts a message that it takes for one whose retries are used up: its DLQ has one queue (5.4.0,
        SendMessageProcessor.handleRetryAndDLQ). Null where it diverts none.
        """
        return Target(self.dlq_topic, target.broker, 0) if self.to_group else None

    def mark(self, item: ResendItem) -> str:
        return f"{self.resend_id.hex}/{item.pk}"


# Reads the dead-letter messages of a batch and finds their targets. Nothing is sent, and no row is written.
@dataclass(frozen=True)
class Ready:
    item: ResendItem
    outgoing: Outgoing
    target: Target
    floor_offset: int = -1
    dlq_floor_offset: int | None = None


@dataclass(frozen=True)
class NotSent:
    """The message was certainly not sent: sending was not tried."""

    item: ResendItem
    outcome: ResendOutcome
    error: str


async def prepare(ports: Ports, job: ResendJob, items: Sequence[ResendItem]) -> list[Ready | NotSent]:
    """Prepared messages in the order of `items`."""
    messages = await asyncio.gather(*(_letter(ports, job, item) for item in items))
    topics = {item.target_topic for item in items if item.target_topic}
    routes = dict(zip(topics, await asyncio.gather(*(_route(ports, topic) for topic in topics)), strict=True))
    aimed = [_aim(ports, job, item, message, routes) for item, message in zip(items, messages, strict=True)]
    targets = {ready.target for ready in aimed if isinstance(ready, Ready)}
    queues = targets | {queue for target in targets if (queue := job.diverted_to(target)) is not None}
    ends = dict(zip(queues, await asyncio.gather(*(_end(ports, queue) for queue in queues)), strict=True))
    return [_floored(job, ready, ends) for ready in aimed]


async def _letter(ports: Ports, job: ResendJob, item: ResendItem) -> StoredMessage | NotSent:
    broker = ports.admin(item.broker)
    if broker is None:
        return NotSent(item, ResendOutcome.FAILED, stored_reason(ResendCause.ADDRESS_UNKNOWN, broker=item.broker))
    try:
        pulled = await reading(
            lambda: broker.pull(job.dlq_topic, item.queue_id, item.offset, deadline_seconds=ports.deadline_seconds)
        )
    except RocketMQError as error:
        return NotSent(item, ResendOutcome.FAILED, stored_reason(ResendCause.MESSAGE_UNREAD, error=str(error)))
    found = next((message for message in pulled.messages if message.queue_offset == item.offset), None)
    if found is None:
        return NotSent(item, ResendOutcome.SKIPPED, stored_reason(ResendCause.MESSAGE_GONE))
    if found.stored_id != item.stored_id:
        return NotSent(item, ResendOutcome.SKIPPED, stored_reason(ResendCause.MESSAGE_REPLACED))
    return found


async def _route(ports: Ports, topic: str) -> Route | RocketMQError:
    try:
        return await reading(lambda: ports.route(topic))
    except RocketMQError as error:
        return error


async def _end(ports: Ports, target: Target) -> int | RocketMQError:
    broker, seconds = ports.known(target.broker), ports.deadline_seconds
    try:
        return await reading(lambda: broker.max_offset(target.topic, target.queue_id, deadline_seconds=seconds))
    except RocketMQError as error:
        return error


def _aim(
    ports: Ports,
    job: ResendJob,
    item: ResendItem,
    message: StoredMessage | NotSent,
    routes: dict[str, Route | RocketMQError],
) -> Ready | NotSent:
    """Sets the target; the floors are not known yet."""
    if isinstance(message, NotSent):
        return message
    route = routes.get(item.target_topic or "")
    if route is None:
        return NotSent(item, ResendOutcome.FAILED, stored_reason(ResendCause.NO_ORIGIN))
    if isinstance(route, RocketMQError):
        why = stored_reason(ResendCause.ROUTE_UNREAD, topic=item.target_topic, error=str(route))
        return NotSent(item, ResendOutcome.FAILED, why)
    origin = origin_topic_of(message)
    if job.to_group and origin is None:
        return NotSent(item, ResendOutcome.FAILED, stored_reason(ResendCause.NO_ORIGIN))
    try:
        outgoing = resent(message, job.mark(item), retry_of=origin if job.to_group else None)
        return Ready(item, outgoing, target_of(message, item.broker, route, ports.addresses))
    except (LocalProtocolError, NoTarget) as reason:
        return NotSent(item, ResendOutcome.FAILED, str(reason))


def origin_topic_of(message: StoredMessage) -> str | None:
    """Clients and brokers that move a message themselves use different properties for it (5.4.0, MessageConst)."""
    return message.properties.get("RETRY_TOPIC") or message.properties.get("DLQ_ORIGIN_TOPIC") or None


def _floored(job: ResendJob, ready: Ready | NotSent, ends: dict[Target, int | RocketMQError]) -> Ready | NotSent:
    if isinstance(ready, NotSent):
        return ready
    dlq = job.diverted_to(ready.target)
    end, dlq_end = ends[ready.target], None if dlq is None else ends[dlq]
    if isinstance(end, RocketMQError) or isinstance(dlq_end, RocketMQError):
        unread = end if isinstance(end, RocketMQError) else dlq_end
        why = stored_reason(ResendCause.TARGET_UNREAD, error=str(unread))
        return NotSent(ready.item, ResendOutcome.FAILED, why)
    return replace(ready, floor_offset=end, dlq_floor_offset=dlq_end)


# One batch: marked in the database, then sent message by message, then recorded.
# Between mark and record a message is SENDING: a later worker must look for it in its target queue.
# Messages sent to a retry topic are read back: a broker may have moved them to the DLQ without saying so.

# A stored message can be pulled a moment later, once the broker has indexed it (5.4.0, ReputMessageService).
TRIES, PAUSE_SECONDS = 20, 0.1


async def read_back(ports: Ports, job: ResendJob, sent: Sequence[ResendItem]) -> None:
    """A message that is not where the broker said becomes FAILED where another message is there, else SENDING."""
    for target, items in by_target(sent).items():
        try:
            marks = await _marks(ports.known(target.broker), target, items, ports.deadline_seconds)
        except RocketMQError as error:
            _doubt(items, stored_reason(ResendCause.NOT_READ_BACK, error=str(error)))
            continue
        for item in items:
            if item.target_offset not in marks:
                _doubt([item], stored_reason(ResendCause.NOT_READABLE_YET))
            elif marks[item.target_offset] != job.mark(item):
                item.outcome, item.error = ResendOutcome.FAILED, stored_reason(ResendCause.DIVERTED)


def _doubt(items: Iterable[ResendItem], reason: str) -> None:
    for item in items:
        item.outcome, item.error = ResendOutcome.SENDING, reason


async def _marks(
    admin: BrokerAdmin, target: Target, items: Sequence[ResendItem], deadline_seconds: float
) -> dict[int | None, str | None]:
    """Marks by offset, as far as they can be read by now."""
    topic, queue_id = target.topic, target.queue_id
    wanted = sorted(item.target_offset for item in items if item.target_offset is not None)
    marks: dict[int | None, str | None] = {}
    for _ in range(TRIES):
        left = [offset for offset in wanted if offset not in marks]
        if not left or left[0] >= await admin.max_offset(topic, queue_id, deadline_seconds=deadline_seconds):
            if not left:
                break
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        pulled = await admin.pull(topic, queue_id, left[0], AT_ONCE, deadline_seconds=deadline_seconds)
        marks |= {message.queue_offset: message.properties.get(RESEND_PROPERTY) for message in pulled.messages}
        if left[0] not in marks:
            await asyncio.sleep(PAUSE_SECONDS)
    return marks


Clock = Callable[[], datetime]

FIELDS = [
    "outcome",
    "at",
    "target_topic",
    "target_broker",
    "target_queue_id",
    "floor_offset",
    "dlq_floor_offset",
    "target_offset",
    "error",
]


class Batch:
    def __init__(
        self, resend: Resend, job: ResendJob, ports: Ports, hold: Hold, clock: Clock, with_heartbeat: WithHeartbeat
    ) -> None:
        self._resend, self._job, self._ports = resend, job, ports
        self._hold, self._clock, self._with_heartbeat = hold, clock, with_heartbeat

    def send(self, items: Sequence[ResendItem]) -> None:
        """Raises NotHeld or WireClosed; nothing was sent or written since the cause."""
        # Brokers that answer late, asked several times, take longer than a worker may be silent.
        prepared = self._with_heartbeat(lambda: self._ports.wire.run(prepare(self._ports, self._job, items)))
        ready = self._mark(prepared)
        sent = self._send_all(ready)
        if self._job.to_group and sent:
            self._with_heartbeat(lambda: self._ports.wire.run(read_back(self._ports, self._job, sent)))
        self.save([one.item for one in ready])

    def save(self, items: Sequence[ResendItem]) -> None:
        with transaction.atomic():
            self._hold.renew(self._clock())
            ResendItem.objects.bulk_update(items, FIELDS)

    def _mark(self, prepared: Sequence[Ready | NotSent]) -> list[Ready]:
        """Marks the items that may be sent; the others are finished."""
        ready = [one for one in prepared if isinstance(one, Ready)]
        now = self._clock()
        with transaction.atomic():
            self._hold.renew(now)
            before = {} if self._resend.again else sent_before(self._job.group, [one.item for one in ready])
            for one in prepared:
                item, item.at = one.item, now
                if isinstance(one, NotSent):
                    item.outcome, item.error = one.outcome, one.error
                elif (earlier := before.get(place_of(item))) is not None:
                    item.outcome, item.error = ResendOutcome.SKIPPED, earlier_resend(earlier)
                else:
                    _note_target(one)
            ResendItem.objects.bulk_update([one.item for one in prepared], FIELDS)
        return [one for one in ready if one.item.outcome == ResendOutcome.SENDING]

    def _send_all(self, ready: Sequence[Ready]) -> list[ResendItem]:
        """Returns the items that the broker says it stored. After an unknown outcome the rest waits for its turn."""
        sent: list[ResendItem] = []
        for place, one in enumerate(ready):
            self._hold.renew_if_old(self._clock())
            if self._send(one):
                sent.append(one.item)
            elif one.item.outcome == ResendOutcome.SENDING:
                for later in ready[place + 1 :]:
                    later.item.outcome, later.item.at = ResendOutcome.PLANNED, None
                break
        return sent

    def _send(self, one: Ready) -> bool:
        target, item = one.target, one.item
        seconds = self._ports.deadline_seconds
        sending = self._ports.sends(target.broker).send(
            target.topic, target.queue_id, one.outgoing, deadline_seconds=seconds
        )
        try:
            answer = self._ports.wire.run(sending)
        except WireClosed:
            # The row says SENDING: the next worker looks for this message before anything else.
            raise
        except RocketMQError as error:
            is_certain = isinstance(error, BrokerRefused) or error.never_sent
            item.outcome = ResendOutcome.FAILED if is_certain else ResendOutcome.SENDING
            item.at = self._clock()
            item.error = str(error) if is_certain else stored_reason(ResendCause.NO_ANSWER, error=str(error))
            return False
        item.at, item.target_offset, item.outcome = self._clock(), answer.queue_offset, ResendOutcome.SENT
        return True


def _note_target(one: Ready) -> None:
    one.item.outcome, one.item.error, one.item.target_offset = ResendOutcome.SENDING, None, None
    one.item.target_topic, one.item.target_broker = one.target.topic, one.target.broker
    one.item.target_queue_id, one.item.floor_offset = one.target.queue_id, one.floor_offset
    one.item.dlq_floor_offset = one.dlq_floor_offset
