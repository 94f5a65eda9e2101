"""What kinds change in the sums of groups: queues of retired topics, and progress that is not on the brokers."""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.models import Cluster, Queue
from consumers.polling.brokers.topic_queues import encoded
from consumers.polling.flags import retired_topics
from consumers.polling.kind_limits import KindLimits
from consumers.polling.record.tables.ids import BATCH
from consumers.vocabulary.unknown import UnknownReason


@dataclass(frozen=True)
class GroupKinds:
    """`retired`: keys (group id << 32 | queue id) of queues. `outside`: groups, by id and name."""

    retired: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    outside: frozenset[tuple[int, str]] = frozenset()

    @classmethod
    def of(cls, cluster: Cluster, now: datetime, limits: KindLimits) -> "GroupKinds":
        """Two queries or three; only groups that are of such a kind are loaded."""
        kept_outside = cluster.groups.filter(outside_store__isnull=False)
        outside = frozenset(kept_outside.values_list("pk", "name"))
        return cls(_retired_keys(cluster, now, limits), outside)

    def marked(self, rows: pa.Table) -> pa.Table:
        """`rows` of a reading; what brokers hold for a group that keeps its progress elsewhere is no progress."""
        outside = pa.scalar(UnknownReason.OUTSIDE_STORE.value)
        for _, name in sorted(self.outside):
            reasons = pc.if_else(pc.equal(rows["group"], name), outside, rows["unknown_reason"].cast(pa.string()))
            place = rows.schema.get_field_index("unknown_reason")
            rows = rows.set_column(place, rows.schema.field(place), encoded(reasons))
        return rows


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
