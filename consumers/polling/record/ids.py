"""Primary keys of what is already stored, so that a reading looks up nothing row by row. Makes what is missing."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import Cluster, ConsumerGroup, GroupKind, Queue, Topic
from consumers.rocketmq.names import is_system_group, topic_kind

BATCH = 5000

QueueKey = tuple[str, str, int]  # topic, broker, queue id


@dataclass
class EntityIds:
    groups: dict[str, int] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    queues: dict[QueueKey, int] = field(default_factory=dict)

    @classmethod
    def of(cls, cluster: Cluster) -> "EntityIds":
        queues = Queue.objects.filter(topic__cluster=cluster)
        return cls(
            groups=dict(cluster.groups.values_list("name", "pk")),
            topics=dict(cluster.topics.values_list("name", "pk")),
            queues={
                (topic, broker, queue_id): pk
                for topic, broker, queue_id, pk in queues.values_list("topic__name", "broker", "queue_id", "pk")
            },
        )

    def make_groups(self, cluster: Cluster, names: Iterable[str], now: datetime) -> None:
        missing = sorted(set(names) - self.groups.keys())
        rows = ConsumerGroup.objects.bulk_create(
            [
                ConsumerGroup(
                    cluster=cluster,
                    name=name,
                    kind=GroupKind.SYSTEM if is_system_group(name) else GroupKind.USER,
                    first_seen_at=now,
                )
                for name in missing
            ],
            batch_size=BATCH,
        )
        self.groups.update({row.name: row.pk for row in rows})

    def make_queues(self, cluster: Cluster, keys: Iterable[QueueKey], now: datetime) -> None:
        missing = sorted(set(keys) - self.queues.keys())
        self._make_topics(cluster, {topic for topic, _, _ in missing}, now)
        rows = Queue.objects.bulk_create(
            [
                Queue(topic_id=self.topics[topic], broker=broker, queue_id=queue_id)
                for topic, broker, queue_id in missing
            ],
            batch_size=BATCH,
        )
        self.queues.update({key: row.pk for key, row in zip(missing, rows, strict=True)})

    def _make_topics(self, cluster: Cluster, names: Iterable[str], now: datetime) -> None:
        missing = sorted(set(names) - self.topics.keys())
        rows = Topic.objects.bulk_create(
            [Topic(cluster=cluster, name=name, kind=topic_kind(name), first_seen_at=now) for name in missing],
            batch_size=BATCH,
        )
        self.topics.update({row.name: row.pk for row in rows})
