"""Causes of unknown groups that are not the group's own: a broker, a cluster, or the site."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from consumers.alerts.subjects import SITE, Subject
from consumers.groups.overlay import NO_BROKER, Overlay
from consumers.models import SubjectKind
from consumers.overview.queries import EVALUATION_LATE, NOT_POLLED
from consumers.queries.brokers import BrokerAge, ClusterAge
from consumers.queries.queues.overlay import NOT_JUDGED_YET
from consumers.queries.texts import iso


@dataclass(frozen=True)
class Explainer:
    """`judged_until`: the end of the range that the newest successful pipeline run evaluated; null before the first."""

    overlay: Overlay
    judged_until: datetime | None

    @cached_property
    def nothing_is_polled(self) -> bool:
        """No cluster is read any more: the poll worker is the cause, not the clusters."""
        clusters = self.overlay.clusters.values()
        return bool(clusters) and all(self.is_late(cluster) for cluster in clusters)

    @cached_property
    def nothing_is_judged(self) -> bool:
        since = self.overlay.limits.judged_since(self.overlay.now)
        return self.judged_until is None or self.judged_until < since

    def is_late(self, cluster: ClusterAge) -> bool:
        at = cluster.newest_reading_at
        return at is None or at < self.overlay.limits.read_since(self.overlay.now)

    def lacks_brokers(self, cluster: ClusterAge) -> bool:
        """The cluster's name servers listed no broker, and none is remembered."""
        return not cluster.brokers or (
            cluster.newest_error is not None and all(one.error == cluster.newest_error for one in cluster.brokers)
        )

    def of_cluster(self, cluster: ClusterAge) -> Subject | None:
        """The cause for all of a cluster; None where its brokers are asked one by one."""
        if self.is_late(cluster):
            return SITE if self.nothing_is_polled else cluster_subject(cluster)
        return cluster_subject(cluster) if self.lacks_brokers(cluster) else None

    def of_group(self, cluster_id: int, unread_by: int) -> Subject:
        """The cause for one group; `unread_by` as the overlay gives it."""
        cluster = self.overlay.clusters[cluster_id]
        whole = self.of_cluster(cluster)
        if whole is not None or unread_by == NO_BROKER:
            return whole or cluster_subject(cluster)
        return broker_subject(cluster, self.overlay.brokers[unread_by])

    def reason(self, cluster_id: int, unread_by: int) -> str:
        """The reason, as a part of a sentence."""
        cluster = self.overlay.clusters[cluster_id]
        if self.is_late(cluster):
            return str(NOT_POLLED)
        if unread_by == NO_BROKER:
            return cluster.newest_error or f"no broker of {cluster.name} is known yet"
        broker = self.overlay.brokers[unread_by]
        return broker.unread_reason(self.overlay.now, self.overlay.limits) or f"{broker.name} is not read"

    def unjudged_reason(self, judged_at: datetime | None) -> str | None:
        """Why an evaluation of that time does not apply now; None while it does."""
        if judged_at is not None and judged_at >= self.overlay.limits.judged_since(self.overlay.now):
            return None
        if self.nothing_is_judged:
            return str(EVALUATION_LATE)
        return str(NOT_JUDGED_YET) if judged_at is None else f"not judged since {iso(judged_at)}"


def cluster_subject(cluster: ClusterAge) -> Subject:
    return Subject(SubjectKind.CLUSTER, cluster=cluster.name)


def broker_subject(cluster: ClusterAge, broker: BrokerAge) -> Subject:
    return Subject(SubjectKind.BROKER, cluster=cluster.name, broker=broker.name)
