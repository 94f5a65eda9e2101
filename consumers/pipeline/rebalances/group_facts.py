"""What the poll's rows say of groups over a stretch of time: their members' intervals, the queues of the topics that
they subscribe to, and the brokers of those that came and went."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from consumers.models import Client, ClientSubscription, ConsumerGroup, Queue, Reading
from consumers.pipeline.slices import microseconds
from consumers.rocketmq.names import RETRY_PREFIX

CLIENT_FIELDS = (
    "group_id",
    "client_id",
    "address",
    "started_at",
    "seen_since",
    "last_seen",
    "gone_by",
    "duplicated_since",
    "running_info_at",
)


@dataclass(frozen=True)
class GroupFacts:
    clients: dict[int, list[dict[str, Any]]]  # by group
    topics: dict[int, set[str]]  # by group
    queues: dict[tuple[int, str], list[dict[str, Any]]]  # by cluster and topic
    brokers: dict[int, list[dict[str, Any]]]  # by cluster

    @classmethod
    def of(cls, groups: Sequence[ConsumerGroup], since: datetime, until: datetime) -> "GroupFacts":
        topics = _topics(groups, since)
        clusters = {group.cluster_id for group in groups}
        return cls(
            _clients(groups, since, until),
            topics,
            _queues(clusters, set().union(*topics.values())),
            {cluster: _comings_and_goings(cluster, since, until) for cluster in clusters},
        )

    def of_group(self, group: ConsumerGroup) -> dict[str, list[dict[str, Any]]]:
        queues = [
            queue for topic in sorted(self.topics[group.pk]) for queue in self.queues.get((group.cluster_id, topic), ())
        ]
        held_by = {queue["broker"] for queue in queues}
        return {
            "clients": self.clients.get(group.pk, []),
            "queues": queues,
            "brokers": [one for one in self.brokers[group.cluster_id] if one["broker"] in held_by],
        }


def _clients(groups: Sequence[ConsumerGroup], since: datetime, until: datetime) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    rows = Client.objects.filter(Q(gone_by=None) | Q(gone_by__gte=since), group__in=groups, seen_since__lt=until)
    for row in rows.order_by("seen_since", "client_id").only(*CLIENT_FIELDS).iterator():
        found[row.group_id].append(
            {
                "client_id": row.client_id,
                "address": row.address,
                "started_us": _us(row.started_at),
                "seen_us": microseconds(row.seen_since),
                "last_seen_us": microseconds(row.last_seen),
                "gone_us": _us(row.gone_by),
                "doubled_us": _us(row.duplicated_since),
                "answered_us": _us(row.running_info_at),
            }
        )
    return found


def _topics(groups: Sequence[ConsumerGroup], since: datetime) -> dict[int, set[str]]:
    """What members say that they subscribe to, then or at some time since; the retry topic is not shared out."""
    found = {group.pk: {one["topic"] for one in group.subscriptions} for group in groups}
    rows = ClientSubscription.objects.filter(Q(gone_by=None) | Q(gone_by__gte=since), group__in=groups)
    for group, topic in rows.values_list("group_id", "topic").distinct():
        found[group].add(topic)
    return {group: {topic for topic in topics if not topic.startswith(RETRY_PREFIX)} for group, topics in found.items()}


def _queues(clusters: set[int], topics: set[str]) -> dict[tuple[int, str], list[dict[str, Any]]]:
    found: dict[tuple[int, str], list[dict[str, Any]]] = defaultdict(list)
    names = ("topic__cluster_id", "topic__name", "broker", "queue_id", "first_seen_at", "readable", "readable_since")
    rows = Queue.objects.filter(topic__cluster__in=clusters, topic__name__in=topics).order_by("broker", "queue_id")
    for cluster, topic, broker, queue_id, first_seen_at, readable, readable_since in rows.values_list(*names):
        found[cluster, topic].append(
            {
                "topic": topic,
                "broker": broker,
                "queue_id": queue_id,
                "first_seen_us": _us(first_seen_at),
                "readable": readable,
                "readable_us": _us(readable_since),
            }
        )
    return found


def _comings_and_goings(cluster: int, since: datetime, until: datetime) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    was_read: Mapping[str, bool] = {}
    rows = Reading.objects.filter(cluster=cluster, taken_at__gte=since, taken_at__lt=until).order_by("taken_at")
    for at, brokers in rows.values_list("taken_at", "brokers"):
        is_read = {one["name"]: bool(one["read"]) for one in brokers}
        for name, read in is_read.items():
            if was_read.get(name, read) != read:
                found.append({"broker": name, "at_us": microseconds(at), "is_read": read})
        was_read = {**was_read, **is_read}
    return found


def _us(at: datetime | None) -> int | None:
    return None if at is None else microseconds(at)
