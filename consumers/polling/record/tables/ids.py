"""Primary keys of stored names, so that a reading looks up nothing row by row. Creates missing rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consumers.models import Cluster, ConsumerGroup, GroupKind, Queue, Topic
from consumers.rocketmq.names import is_system_group, topic_kind

from .keyed_rows import upsert

BATCH = 5000

QueueKey = tuple[str, str, int]  # topic, broker, queue id


@dataclass
class EntityIds:
    groups: dict[str, int] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    queues: dict[QueueKey, int] = field(default_factory=dict)
    # The number of queues of each topic, by broker, as each broker last reported it to this process.
    configured: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, cluster: Cluster) -> "EntityIds":
        return cls(
            groups=dict(cluster.groups.values_list("name", "pk")),
            topics=dict(cluster.topics.values_list("name", "pk")),
            queues=_stored_queues(cluster),
        )

    def make_groups(self, cluster: Cluster, names: Iterable[str], now: datetime) -> None:
        missing = sorted(set(names) - self.groups.keys())
        if not missing:
            return
        # Another process may have created some of the rows meanwhile.
        ConsumerGroup.objects.bulk_create(
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
            ignore_conflicts=True,
        )
        self.groups = dict(cluster.groups.values_list("name", "pk"))

    def make_queues(self, cluster: Cluster, keys: Iterable[QueueKey], now: datetime) -> None:
        missing = sorted(set(keys) - self.queues.keys())
        if not missing:
            return
        appeared = [now if self._was_absent(key) else None for key in missing]
        self._make_topics(cluster, {topic for topic, _, _ in missing}, now)
        columns: dict[str, Sequence[Any]] = {
            "topic": [self.topics[topic] for topic, _, _ in missing],
            "broker": [broker for _, broker, _ in missing],
            "queue_id": [queue_id for _, _, queue_id in missing],
            "first_seen_at": appeared,
        }
        upsert(Queue, ["topic", "broker", "queue_id"], columns, update=False)
        self.queues = _stored_queues(cluster)

    def _was_absent(self, key: QueueKey) -> bool:
        """Whether the broker reported before that it has no such queue of a known topic. If the cluster, topic or
        broker is read for the first time, the age of the queue is unknown.
        """
        topic, broker, queue_id = key
        return topic in self.topics and broker in self.configured and queue_id >= self.configured[broker].get(topic, 0)

    def _make_topics(self, cluster: Cluster, names: Iterable[str], now: datetime) -> None:
        missing = sorted(set(names) - self.topics.keys())
        if not missing:
            return
        columns: dict[str, Sequence[Any]] = {
            "cluster": [cluster.pk] * len(missing),
            "name": missing,
            "kind": [topic_kind(name) for name in missing],
            "first_seen_at": [now] * len(missing),
        }
        # An existing row keeps the time at which it was first seen.
        upsert(Topic, ["cluster", "name"], columns, update=False)
        self.topics = dict(cluster.topics.values_list("name", "pk"))


def _stored_queues(cluster: Cluster) -> dict[QueueKey, int]:
    rows = Queue.objects.filter(topic__cluster=cluster)
    # One string object for each name: otherwise each row would hold its own.
    names: dict[str, str] = {}
    return {
        (names.setdefault(topic, topic), names.setdefault(broker, broker), queue_id): pk
        for topic, broker, queue_id, pk in rows.values_list("topic__name", "broker", "queue_id", "pk").iterator()
    }
