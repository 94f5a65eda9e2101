"""Samples as rows: a queue's answer replaces the one before it, and goes when it no longer holds."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from django.db import transaction

from consumers.models import Cluster, ConsumerGroup, QueueSample, TagSample
from consumers.polling.record.tables.ids import EntityIds
from consumers.polling.samples.reading import (
    FirstStored,
    QueueKey,
    SampleMemory,
    SamplesReading,
    StartAnswer,
    TagCount,
    TopicKey,
)
from consumers.polling.samples.tags import tag_filters

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
        _forget(ids, reading.gone_queues, reading.gone_topics)
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
    """What the database holds of a cluster's samples, for a process that has not sampled it yet."""
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
    memory.filters = {name: found for name, said in user_groups if (found := tag_filters(said))}
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


def _forget(ids: EntityIds, queues: Iterable[QueueKey], topics: Iterable[TopicKey]) -> None:
    by_group: dict[int, list[int]] = defaultdict(list)
    for key in queues:
        if key[0] in ids.groups and key[1:] in ids.queues:
            group, queue = _keys(ids, key)
            by_group[group].append(queue)
    for group, found in by_group.items():
        QueueSample.objects.filter(group_id=group, queue_id__in=found).delete()
    for name, topic in topics:
        TagSample.objects.filter(group_id=ids.groups.get(name), topic=topic).delete()
