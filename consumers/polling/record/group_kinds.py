"""What kinds change in the sums of groups: queues of retired topics, and progress that is not on the brokers."""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from consumers.models import Cluster, Queue
from consumers.polling.flags import Flag, KindLimits, group_flags, retired_topics

from .ids import BATCH


@dataclass(frozen=True)
class GroupKinds:
    """`retired`: keys (group id << 32 | queue id) of queues. `outside`: by group id, why its lag is not known."""

    retired: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    outside: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, cluster: Cluster, now: datetime, limits: KindLimits) -> "GroupKinds":
        """Two queries or three; only groups that are of such a kind are loaded."""
        kept_outside = cluster.groups.filter(outside_store__isnull=False)
        outside = {row.pk: group_flags(row, None, now, limits).reasons[Flag.OUTSIDE_STORE] for row in kept_outside}
        return cls(_retired_keys(cluster, now, limits), outside)


def _retired_keys(cluster: Cluster, now: datetime, limits: KindLimits) -> np.ndarray:
    groups = cluster.groups.filter(online=True).exclude(unsubscribed={}).only("online", "unsubscribed")
    by_topic: dict[str, list[int]] = {}
    for group in groups:
        for topic in retired_topics(group, now, limits):
            by_topic.setdefault(topic, []).append(group.pk)
    keys: list[int] = []
    topics = sorted(by_topic)
    for start in range(0, len(topics), BATCH):
        found = Queue.objects.filter(topic__cluster=cluster, topic__name__in=topics[start : start + BATCH])
        for topic, queue in found.values_list("topic__name", "pk"):
            keys += [group << 32 | queue for group in by_topic[topic]]
    return np.array(keys, np.int64)


NO_KINDS = GroupKinds()
