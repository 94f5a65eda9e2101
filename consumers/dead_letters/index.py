"""One index pass over the dead-letter messages of groups: asks brokers and updates rows. It changes nothing on a
broker.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from consumers.jobs.asking import PATIENCE, put_answer, put_question, stored_answer
from consumers.jobs.hold import connected, masters
from consumers.models import Cluster, ConsumerGroup, DeadLetter, DeadLetterLook, GroupBroker, GroupKind
from consumers.polling.record.keyed_rows import upsert
from consumers.polling.registration import NoAccess, Wire
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.dead import DeadMessage
from consumers.rocketmq.names import dlq_topic
from consumers.rocketmq.wire.codes import BrokerRefused, ResponseCode, RocketMQError

from .read_queue import Calls, DeadQueue, Ends, Indexed, Place, QueueRead, Tries, kept_from, read_queue, reason_of


# How much is indexed, and how many calls one pass may cost.
@dataclass(frozen=True)
class IndexLimits:
    """`kept`: indexed messages of each group. An unchanged queue is read again after `again_seconds`: as many messages
    may have arrived as have expired.
    """

    calls: int = 400
    kept: int = 20_000
    deadline_seconds: float = 5.0
    again_seconds: float = 600.0

    @classmethod
    def of_site(cls) -> "IndexLimits":
        return cls(
            calls=settings.DEAD_LETTER_CALLS,
            kept=settings.DEAD_LETTERS_KEPT,
            deadline_seconds=settings.POLL_CALL_DEADLINE_SECONDS,
        )


# Groups take turns, so that one with many messages leaves calls to the others.


@dataclass
class GroupRead:
    """`errors`: by broker that did not list its queues; `ends` has all queues of the other brokers.

    A queue of `ends` without an entry in `queues` was left for another turn.
    """

    errors: dict[str, str] = field(default_factory=dict)
    ends: dict[Place, Ends] = field(default_factory=dict)
    queues: dict[Place, QueueRead] = field(default_factory=dict)
    kept_from: dict[Place, int] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Another turn could read nothing more."""
        return all(place in self.queues and self._is_done(place) for place in self.ends)

    def _is_done(self, place: Place) -> bool:
        read = self.queues[place]
        reached = read.since <= self.kept_from[place] and read.until >= self.ends[place].broker_offset
        return reached or read.error is not None


@dataclass
class Asked:
    """The brokers of a pass. A broker that did not answer is in `silent`, with the reason, and is not asked again."""

    admins: Mapping[str, BrokerAdmin]
    deadline_seconds: float
    silent: dict[str, str] = field(default_factory=dict)


async def read_group(
    asked: Asked, group: str, indexed: dict[Place, Indexed], most_indexed: int, calls: Calls
) -> GroupRead:
    topic, read = dlq_topic(group), GroupRead()
    await asyncio.gather(*(_read_ends(asked, broker, topic, read, calls) for broker in asked.admins))
    read.kept_from = kept_from(read.ends, most_indexed)
    for place in sorted(read.ends):
        broker, queue_id = place
        if not calls.left or broker in asked.silent:
            continue
        queue = DeadQueue(asked.admins[broker], topic, queue_id, asked.deadline_seconds)
        found = await read_queue(queue, read.ends[place], read.kept_from[place], indexed.get(place), calls)
        if found.failure is not None:
            _note_silence(asked, broker, found.failure)
            found.error = reason_of(found.failure, topic)
        read.queues[place] = found
    return read


async def _read_ends(asked: Asked, broker: str, topic: str, read: GroupRead, calls: Calls) -> None:
    """The queues of a broker that has the topic; empty where it has no dead-letter message of the group."""
    if broker in asked.silent:
        read.errors[broker] = asked.silent[broker]
        return
    calls.take()
    try:
        stats = await asked.admins[broker].topic_stats(topic, deadline_seconds=asked.deadline_seconds)
    except RocketMQError as failure:
        if isinstance(failure, BrokerRefused) and failure.code == ResponseCode.TOPIC_NOT_EXIST:
            return
        _note_silence(asked, broker, failure)
        read.errors[broker] = reason_of(failure, topic)
        return
    for queue in stats:
        read.ends[broker, queue.queue_id] = Ends(queue.min_offset, queue.max_offset)


def _note_silence(asked: Asked, broker: str, failure: RocketMQError) -> None:
    if not isinstance(failure, BrokerRefused):
        asked.silent[broker] = str(failure)


# Updates the rows of one group's dead-letter messages.

# Brokers make such topics with one queue (RocketMQ 5.4.0, AbstractSendMessageProcessor.DLQ_NUMS_PER_GROUP).
ONLY_QUEUE = 0


def indexed_of(group: ConsumerGroup) -> dict[Place, Indexed]:
    known = {}
    for queue in group.dead_letter_looks.exclude(indexed_to=None):
        assert queue.indexed_from is not None
        assert queue.indexed_to is not None
        last = group.dead_letters.filter(broker=queue.broker, queue_id=queue.queue_id, offset=queue.indexed_to - 1)
        stored_id = last.values_list("stored_id", flat=True).first()
        known[queue.broker, queue.queue_id] = Indexed(queue.indexed_from, queue.indexed_to, stored_id)
    return known


def record(group: ConsumerGroup, read: GroupRead, now: datetime) -> None:
    """Queues that could not be read keep their rows, with the reason."""
    with transaction.atomic():
        for broker, error in read.errors.items():
            _record_failure(group, broker, error, now)
        _forget_gone(group, read)
        for place, ends in read.ends.items():
            found = read.queues.get(place)
            if found is not None:
                _record_letters(group, place, found, now)
                _record_pass(group, place, ends, found, now)


def _record_failure(group: ConsumerGroup, broker: str, error: str, now: datetime) -> None:
    """A broker that was never read gets a row too: its dead-letter messages of the group are unknown."""
    if not group.dead_letter_looks.filter(broker=broker).update(error=error):
        group.dead_letter_looks.create(broker=broker, queue_id=ONLY_QUEUE, looked_at=now, error=error)


def _forget_gone(group: ConsumerGroup, read: GroupRead) -> None:
    """Deletes the rows of queues that their broker, when asked, no longer has."""
    for queue in group.dead_letter_looks.exclude(broker__in=list(read.errors)):
        if (queue.broker, queue.queue_id) not in read.ends:
            group.dead_letters.filter(broker=queue.broker, queue_id=queue.queue_id).delete()
            queue.delete()


def _record_letters(group: ConsumerGroup, place: Place, found: QueueRead, now: datetime) -> None:
    broker, queue_id = place
    there = group.dead_letters.filter(broker=broker, queue_id=queue_id)
    (there if found.anew else there.filter(offset__lt=found.since)).delete()
    messages = found.letters
    if not messages:
        return
    tries = Tries.of(group, min(message.stored_at for message in messages))
    read: dict[str, Sequence[Any]] = {
        name: [getattr(message, name) for message in messages] for name in DeadMessage.__dataclass_fields__
    }
    fixed: dict[str, Any] = {"group": group.pk, "broker": broker, "seen_at": now}
    columns: dict[str, Sequence[Any]] = {**read, **{name: [value] * len(messages) for name, value in fixed.items()}}
    columns["sent_by_application"] = [
        tries.sent_by_application(broker, message.reconsume_times, message.stored_at) for message in messages
    ]
    upsert(DeadLetter, ["group", "broker", "queue_id", "offset"], columns)


def _record_pass(group: ConsumerGroup, place: Place, ends: Ends, found: QueueRead, now: datetime) -> None:
    broker, queue_id = place
    nothing = found.error is not None and found.since == found.until
    DeadLetterLook.objects.update_or_create(
        group=group,
        broker=broker,
        queue_id=queue_id,
        defaults={
            "indexed_from": None if nothing else found.since,
            "indexed_to": None if nothing else found.until,
            "min_offset": ends.min_offset,
            "broker_offset": max(ends.broker_offset, found.until),
            "looked_at": now,
            "error": found.error,
        },
    )


# Selects groups to index: those whose dead-letter messages differ from the last pass, the longest ago first.
# Two queries, however many groups there are.


def due_groups(cluster: Cluster, rules: IndexLimits, now: datetime) -> list[ConsumerGroup]:
    """Groups whose last read failed come last, in an order that differs from pass to pass."""
    inspected: dict[int, list[DeadLetterLook]] = defaultdict(list)
    for queue in DeadLetterLook.objects.filter(group__cluster=cluster):
        inspected[queue.group_id].append(queue)
    has_topic = Exists(GroupBroker.objects.filter(group=OuterRef("pk"), dlq_permission__isnull=False))
    has_letters = Q(total__dlq_messages__gt=0) | (Q(total__dlq_messages=None) & has_topic)
    had_look = Exists(DeadLetterLook.objects.filter(group=OuterRef("pk")))
    groups = cluster.groups.filter(has_letters | had_look, kind=GroupKind.USER).select_related("total").order_by("pk")
    due = [group for group in groups if _is_due(group, inspected[group.pk], rules, now)]
    never: list[ConsumerGroup] = []
    seen: list[ConsumerGroup] = []
    failed: list[ConsumerGroup] = []
    for group in due:
        of_group = inspected[group.pk]
        is_failed = any(queue.error is not None for queue in of_group)
        (failed if is_failed else seen if of_group else never).append(group)
    shift = int(now.timestamp()) % len(failed) if failed else 0
    seen.sort(key=lambda group: min(queue.looked_at for queue in inspected[group.pk]))
    return [*never, *seen, *failed[shift:], *failed[:shift]]


def _is_due(group: ConsumerGroup, inspected: list[DeadLetterLook], rules: IndexLimits, now: datetime) -> bool:
    ends = {(queue.broker, queue.queue_id): end for queue in inspected if (end := _ends(queue))}
    if len(ends) < len(inspected) or not inspected or any(queue.error is not None for queue in inspected):
        return True
    if now - min(queue.looked_at for queue in inspected) >= timedelta(seconds=rules.again_seconds):
        return True
    messages = group.total.dlq_messages if hasattr(group, "total") else None
    if messages is not None and messages != sum(end.broker_offset - end.min_offset for end in ends.values()):
        return True
    low = kept_from(ends, rules.kept)
    return any(not _is_whole(queue, low[queue.broker, queue.queue_id]) for queue in inspected)


def _ends(inspected: DeadLetterLook) -> Ends | None:
    """Null where nothing of the queue was read yet."""
    if inspected.min_offset is None or inspected.broker_offset is None or inspected.indexed_to is None:
        return None
    return Ends(inspected.min_offset, inspected.broker_offset)


def _is_whole(inspected: DeadLetterLook, low: int) -> bool:
    return (
        inspected.indexed_from is not None
        and inspected.indexed_from <= low
        and inspected.indexed_to == inspected.broker_offset
    )


LEAST_TURN = 8


@dataclass(frozen=True)
class IndexPass:
    """Cost and result of a pass. `waiting`: groups that another pass continues."""

    groups: int
    waiting: int
    letters: int
    calls: int


def index_groups(cluster: Cluster, group: ConsumerGroup | None, rules: IndexLimits, now: datetime) -> IndexPass:
    """Indexes one group's dead-letter messages, or those of every due group. One pass at a time for a cluster."""
    groups = due_groups(cluster, rules, now) if group is None else [group]
    if not groups:
        return IndexPass(0, 0, 0, 0)
    try:
        wire = connected(cluster)
    except NoAccess as reason:
        brokers = cluster.brokers.filter(broker_id=0).values_list("name", flat=True)
        unread = GroupRead(errors=dict.fromkeys(brokers, str(reason)))
        for one in groups:
            record(one, unread, now)
        return IndexPass(len(groups), 0, 0, 0)
    asked = Asked(masters(cluster, wire), rules.deadline_seconds)
    run = _Run(wire, asked, rules, Calls(rules.calls), now)
    waiting = list(groups)
    while waiting and run.calls.left:
        most = max(LEAST_TURN, run.calls.left // len(waiting))
        waiting = [one for one in waiting if not run.turn(one, most)]
    return IndexPass(len(groups), len(waiting), run.letters, rules.calls - run.calls.left)


@dataclass
class _Run:
    wire: Wire
    asked: Asked
    rules: IndexLimits
    calls: Calls
    now: datetime
    letters: int = 0

    def turn(self, group: ConsumerGroup, most: int) -> bool:
        """Returns whether the group needs no other turn."""
        if not self.calls.left:
            return False
        reading = read_group(self.asked, group.name, indexed_of(group), self.rules.kept, self.calls.turn(most))
        read = self.wire.run(reading)
        record(group, read, self.now)
        self.letters += sum(len(queue.letters) for queue in read.queues.values())
        return read.is_whole


# Status of a pass that a user requested: stored in Redis for some minutes.
KEPT_SECONDS = 300


@dataclass(frozen=True)
class RequestedPass:
    """`done_at` is null until the pass ends; `failure` says why it did not complete."""

    asked_at: datetime
    done_at: datetime | None
    failure: str | None

    def is_late(self, now: datetime) -> bool:
        return self.done_at is None and now - self.asked_at > PATIENCE


def put_asked(group: ConsumerGroup, now: datetime) -> None:
    """Raises RedisDown."""
    put_question(_key(group), {}, now, KEPT_SECONDS)


def put_done(group: ConsumerGroup, failure: str | None, now: datetime) -> None:
    """Does nothing where no user requested a pass. Raises RedisDown."""
    put_answer(_key(group), {"done_at": now.isoformat(), "failure": failure}, KEPT_SECONDS)


def requested_pass(group: ConsumerGroup) -> RequestedPass | None:
    """None where no user requested a pass in the last minutes. Raises RedisDown."""
    stored = stored_answer(_key(group))
    if stored is None:
        return None
    done_at = stored.get("done_at")
    return RequestedPass(
        datetime.fromisoformat(stored["asked_at"]),
        None if done_at is None else datetime.fromisoformat(done_at),
        stored.get("failure"),
    )


def _key(group: ConsumerGroup) -> str:
    return f"consumerscope:dead letters asked:{group.pk}"
