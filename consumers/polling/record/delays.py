"""Delay levels and samples as rows: each row replaces the one before it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db import transaction

from consumers.models import Cluster, ConsumerGroup, DelayLevel, QueueSample, Rung, TagSample
from consumers.polling.delay_answers import BrokerDelays, LevelReading, LevelSample
from consumers.polling.samples.first_stored import tag_filters
from consumers.polling.samples.reading import (
    FirstStored,
    QueueKey,
    SampleMemory,
    SamplesReading,
    StartAnswer,
    TagCount,
    TopicKey,
)
from consumers.vocabulary.states import MASTER

from .keyed_rows import EntityIds

OFFSETS = ("delay_offset", "broker_offset", "next_due_at", "next_error", "read_at")

SAMPLE = ("looked_at", "sampled_of", "sampled_at", "sample_error")

RUNG = ("messages", "attempts", "oldest_stored_at", "next_due_at", "sampled_at")


def record_delays(cluster: Cluster, reading: Iterable[BrokerDelays], now: datetime) -> None:
    """Stores delay levels, the retries of each group seen there, and timer wheels as rows.

    A failed sample leaves the previous sample and adds the reason. A group without messages in a level loses its row
    for that level.
    """
    with transaction.atomic():
        names = set(cluster.brokers.values_list("name", flat=True))
        for gone in set(cluster.delay_levels.values_list("broker", flat=True).distinct()) - names:
            _forget(cluster, gone, present=())
        for broker in reading:
            _record_broker(cluster, broker, now)


def _record_broker(cluster: Cluster, broker: BrokerDelays, now: datetime) -> None:
    row = cluster.brokers.filter(name=broker.broker, broker_id=MASTER)
    if broker.error is not None:
        row.update(delays_error=broker.error)
        return
    row.update(delays_at=now, delays_error=None, **_wheel(broker, now))
    _forget(cluster, broker.broker, present=broker.levels)
    _store(DelayLevel, OFFSETS, (_level(cluster, broker.broker, *one, now) for one in broker.levels.items()))
    good = {level: sample for level, sample in broker.samples.items() if sample.error is None}
    _store(DelayLevel, SAMPLE, (_sampled(cluster, broker, *one, now) for one in good.items()))
    for level in broker.samples.keys() - good.keys():
        failed = cluster.delay_levels.filter(broker=broker.broker, level=level)
        failed.update(sample_error=broker.samples[level].error)
    _record_rungs(cluster, broker.broker, good, now)


def _wheel(broker: BrokerDelays, now: datetime) -> dict[str, Any]:
    if broker.wheel is None:
        return {}
    if broker.wheel.error is not None:
        return {"wheel_error": broker.wheel.error}
    return {"wheel": dict(broker.wheel.counts or {}), "wheel_at": now, "wheel_error": None}


def _forget(cluster: Cluster, broker: str, present: Iterable[int]) -> None:
    cluster.delay_levels.filter(broker=broker).exclude(level__in=present).delete()
    Rung.objects.filter(group__cluster=cluster, broker=broker).exclude(level__in=present).delete()


def _level(cluster: Cluster, broker: str, level: int, read: LevelReading, now: datetime) -> DelayLevel:
    return DelayLevel(
        cluster=cluster,
        broker=broker,
        level=level,
        delay_offset=read.delay_offset,
        broker_offset=read.broker_offset,
        next_due_at=read.next_due.due_at if read.next_due else None,
        next_error=read.next_due.error if read.next_due else None,
        read_at=now,
    )


def _sampled(cluster: Cluster, broker: BrokerDelays, level: int, sample: LevelSample, now: datetime) -> DelayLevel:
    row = _level(cluster, broker.broker, level, broker.levels[level], now)
    row.looked_at, row.sampled_of, row.sampled_at, row.sample_error = sample.looked_at, sample.sampled_of, now, None
    return row


def _store(model: type[DelayLevel], fields: tuple[str, ...], rows: Iterator[DelayLevel]) -> None:
    unique = ["cluster", "broker", "level"]
    model.objects.bulk_create(rows, update_conflicts=True, unique_fields=unique, update_fields=fields)


def _record_rungs(cluster: Cluster, broker: str, samples: dict[int, LevelSample], now: datetime) -> None:
    """Unknown groups are left out: they get rows after their first offset."""
    names = {name for sample in samples.values() for name in sample.groups}
    ids = dict(cluster.groups.filter(name__in=names).values_list("name", "pk")) if names else {}
    rows = [
        Rung(
            group_id=ids[name],
            broker=broker,
            level=level,
            messages=of.messages,
            attempts={str(times): n for times, n in sorted(of.attempts.items())},
            oldest_stored_at=of.oldest_stored_at,
            next_due_at=of.next_due_at,
            sampled_at=now,
        )
        for level, sample in samples.items()
        for name, of in sample.groups.items()
        if name in ids
    ]
    unique = ["group", "broker", "level"]
    Rung.objects.bulk_create(rows, update_conflicts=True, unique_fields=unique, update_fields=RUNG)
    stored = Rung.objects.filter(group__cluster=cluster, broker=broker, level__in=samples)
    stored.exclude(sampled_at=now).delete()


# Samples as rows: a queue's answer replaces the previous answer, and is deleted when it is no longer valid.
QUEUE_FIELDS = (
    "offset",
    "first_stored_at",
    "first_error",
    "start_offset",
    "start_rule",
    "start_error",
    "asked_at",
)

TAG_FIELDS = ("expression", "looked_at", "matching", "asked_at")


def record_samples(ids: EntityIds, reading: SamplesReading) -> None:
    with transaction.atomic():
        _forget_samples(ids, reading.gone_queues, reading.gone_topics)
        QueueSample.objects.bulk_create(
            _queue_rows(ids, reading),
            update_conflicts=True,
            unique_fields=["group", "queue"],
            update_fields=QUEUE_FIELDS,
        )
        TagSample.objects.bulk_create(
            [
                TagSample(
                    group_id=ids.groups[group],
                    topic=topic,
                    **{name: getattr(count, name) for name in TAG_FIELDS},
                )
                for (group, topic), count in reading.tags.items()
            ],
            update_conflicts=True,
            unique_fields=["group", "topic"],
            update_fields=TAG_FIELDS,
        )


def remembered_samples(cluster: Cluster) -> SampleMemory:
    """The samples of a cluster in the database, for a process that has not sampled the cluster yet."""
    memory = SampleMemory()
    rows = QueueSample.objects.filter(group__cluster=cluster).select_related("group", "queue__topic")
    for row in rows:
        key = (row.group.name, row.queue.topic.name, row.queue.broker, row.queue.queue_id)
        if row.offset is not None:
            memory.first[key] = FirstStored(row.offset, row.first_stored_at, row.first_error, row.asked_at)
        else:
            memory.starts[key] = StartAnswer(row.start_offset, row.start_rule or "", row.start_error, row.asked_at)
    for tags in TagSample.objects.filter(group__cluster=cluster).select_related("group"):
        count = TagCount(tags.expression, tags.looked_at, tags.matching, tags.asked_at)
        memory.tags[tags.group.name, tags.topic] = count
    user_groups = ConsumerGroup.objects.filter(cluster=cluster, kind="user").values_list("name", "subscriptions")
    memory.filters = {name: found for name, subscriptions in user_groups if (found := tag_filters(subscriptions))}
    return memory


def _queue_rows(ids: EntityIds, reading: SamplesReading) -> Iterator[QueueSample]:
    for key, first in reading.first.items():
        group, queue = _keys(ids, key)
        yield QueueSample(
            group_id=group,
            queue_id=queue,
            offset=first.offset,
            first_stored_at=first.stored_at,
            first_error=first.error,
            asked_at=first.asked_at,
        )
    for key, start in reading.starts.items():
        group, queue = _keys(ids, key)
        yield QueueSample(
            group_id=group,
            queue_id=queue,
            start_offset=start.offset,
            start_rule=start.rule,
            start_error=start.error,
            asked_at=start.asked_at,
        )


def _keys(ids: EntityIds, key: QueueKey) -> tuple[int, int]:
    group, topic, broker, queue_id = key
    return ids.groups[group], ids.queues[topic, broker, queue_id]


def _forget_samples(ids: EntityIds, queues: Iterable[QueueKey], topics: Iterable[TopicKey]) -> None:
    by_group: dict[int, list[int]] = defaultdict(list)
    for key in queues:
        if key[0] in ids.groups and key[1:] in ids.queues:
            group, queue = _keys(ids, key)
            by_group[group].append(queue)
    for group, found in by_group.items():
        QueueSample.objects.filter(group_id=group, queue_id__in=found).delete()
    for name, topic in topics:
        TagSample.objects.filter(group_id=ids.groups.get(name), topic=topic).delete()
