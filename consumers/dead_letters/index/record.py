"""Brings the rows of one group's dead letters up to what was read of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from consumers.models import ConsumerGroup, DeadLetter, DeadLetterLook
from consumers.polling.record.keyed_rows import upsert
from consumers.rocketmq.dead_messages import DeadMessage

from .places import Ends, Indexed, Place
from .read_group import GroupRead
from .read_queue import QueueRead
from .used_up import Tries

# Brokers make such topics with one queue (RocketMQ 5.4.0, AbstractSendMessageProcessor.DLQ_NUMS_PER_GROUP).
ONLY_QUEUE = 0


def indexed_of(group: ConsumerGroup) -> dict[Place, Indexed]:
    known = {}
    for look in group.dead_letter_looks.exclude(indexed_to=None):
        assert look.indexed_from is not None
        assert look.indexed_to is not None
        last = group.dead_letters.filter(broker=look.broker, queue_id=look.queue_id, offset=look.indexed_to - 1)
        stored_id = last.values_list("stored_id", flat=True).first()
        known[look.broker, look.queue_id] = Indexed(look.indexed_from, look.indexed_to, stored_id)
    return known


def record(group: ConsumerGroup, read: GroupRead, now: datetime) -> None:
    """What could not be read stays as it was, with the reason beside it."""
    with transaction.atomic():
        for broker, error in read.errors.items():
            _record_failure(group, broker, error, now)
        _forget_gone(group, read)
        for place, ends in read.ends.items():
            found = read.queues.get(place)
            if found is not None:
                _record_letters(group, place, found, now)
                _record_look(group, place, ends, found, now)


def _record_failure(group: ConsumerGroup, broker: str, error: str, now: datetime) -> None:
    """A broker that was never looked into is noted too: what it has of the group is not known."""
    if not group.dead_letter_looks.filter(broker=broker).update(error=error):
        group.dead_letter_looks.create(broker=broker, queue_id=ONLY_QUEUE, looked_at=now, error=error)


def _forget_gone(group: ConsumerGroup, read: GroupRead) -> None:
    """Queues that their broker, asked about them, no longer has."""
    for look in group.dead_letter_looks.exclude(broker__in=list(read.errors)):
        if (look.broker, look.queue_id) not in read.ends:
            group.dead_letters.filter(broker=look.broker, queue_id=look.queue_id).delete()
            look.delete()


def _record_letters(group: ConsumerGroup, place: Place, found: QueueRead, now: datetime) -> None:
    broker, queue_id = place
    there = group.dead_letters.filter(broker=broker, queue_id=queue_id)
    (there if found.anew else there.filter(offset__lt=found.since)).delete()
    letters = found.letters
    if not letters:
        return
    tries = Tries.of(group, min(letter.stored_at for letter in letters))
    said: dict[str, Sequence[Any]] = {
        name: [getattr(letter, name) for letter in letters] for name in DeadMessage.__dataclass_fields__
    }
    fixed: dict[str, Any] = {"group": group.pk, "broker": broker, "seen_at": now}
    columns: dict[str, Sequence[Any]] = {**said, **{name: [value] * len(letters) for name, value in fixed.items()}}
    columns["sent_by_application"] = [
        tries.sent_by_application(broker, letter.reconsume_times, letter.stored_at) for letter in letters
    ]
    upsert(DeadLetter, ["group", "broker", "queue_id", "offset"], columns)


def _record_look(group: ConsumerGroup, place: Place, ends: Ends, found: QueueRead, now: datetime) -> None:
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
