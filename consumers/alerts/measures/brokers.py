"""For how long each broker has not been scraped, where the broker itself is the cause, and how many committed offsets
it lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.utils.translation import gettext

from consumers.alerts.measured import Age, Column, age_column
from consumers.alerts.preview.judged import age_values, brokers_seen
from consumers.alerts.subjects import Subject
from consumers.models import Measure, SubjectKind
from consumers.queries.brokers import BrokerAge, ClusterAge
from consumers.queries.queues.lost_offsets import BrokerLoss, broker_loss_words, broker_losses, last_read, seen_on
from consumers.queries.sentences import sentence
from consumers.queries.texts import age

from .explained import Explainer, broker_subject
from .measure_spec import MeasureSpec, PastSource, Unit


@dataclass(frozen=True)
class BrokerScan:
    """The brokers of all clusters; a slave counts with its master."""

    explainer: Explainer

    @cached_property
    def rows(self) -> Sequence[tuple[ClusterAge, BrokerAge]]:
        return [(cluster, one) for cluster in self.explainer.overlay.clusters.values() for one in cluster.brokers]

    @property
    def subjects(self) -> Sequence[Subject]:
        return [broker_subject(cluster, broker) for cluster, broker in self.rows]

    @cached_property
    def losses(self) -> Sequence[BrokerLoss]:
        return broker_losses(self.explainer.overlay.slaves)


def unread(scan: BrokerScan) -> Column:
    return age_column([_unread(scan.explainer, *row) for row in scan.rows])


def lost(scan: BrokerScan) -> Column:
    """Lost offsets of a broker that is not scraped are unknown."""
    overlay = scan.explainer.overlay
    losses = {(loss.cluster_id, loss.broker): loss for loss in scan.losses}
    unread = [broker.unread_reason(overlay.now, overlay.limits) for _, broker in scan.rows]
    lost = [losses.get((cluster.id, broker.name)) for cluster, broker in scan.rows]

    def evidence(place: int) -> str:
        loss = lost[place]
        if loss is None:
            return gettext("no committed offset is gone from it")
        slave = [] if loss.from_slave is None else [seen_on(loss.from_slave)]
        return sentence([broker_loss_words(loss), *last_read(loss.lost_at), *slave])

    def since(place: int) -> datetime | None:
        loss = lost[place]
        return None if loss is None else loss.lost_at

    return Column(
        values=[
            None if why is not None else float(loss.queues if loss else 0)
            for why, loss in zip(unread, lost, strict=True)
        ],
        reason=lambda place: unread[place] or "",
        evidence=evidence,
        since=since,
    )


def _unread(explainer: Explainer, cluster: ClusterAge, broker: BrokerAge) -> Age:
    overlay = explainer.overlay
    reason = broker.unread_reason(overlay.now, overlay.limits)
    if explainer.of_cluster(cluster) is not None:
        # Nobody scrapes the broker: the incident belongs to the cluster or the site.
        return Age(None, explainer.reason(cluster.id, broker.id))
    # A broker that was never scraped counts from its first failure.
    since = broker.last_read_at or broker.failing_since
    if since is None:
        return Age(None, reason or gettext("%s has not been read yet") % broker.name)
    seconds = age((overlay.now - since).total_seconds())
    if reason is None:
        return Age.counted(since, overlay.now, gettext("read %s ago") % seconds, is_due=True)
    words = {"reason": reason, "age": seconds}
    if broker.last_read_at is None:
        return Age.counted(since, overlay.now, gettext("%(reason)s; never read, tried for %(age)s") % words)
    return Age.counted(since, overlay.now, gettext("%(reason)s; last read %(age)s ago") % words)


MEASURES = (
    MeasureSpec(code=Measure.LOST, unit=Unit.COUNT, reads={SubjectKind.BROKER: lost}),
    MeasureSpec(
        code=Measure.BROKER_UNREAD,
        unit=Unit.SECONDS,
        reads={SubjectKind.BROKER: unread},
        past=PastSource(
            table="readings",
            read=lambda scan: age_values(
                brokers_seen(scan.grid), scan.places, scan.grid, scan.retention.reading, is_asked=True
            ),
        ),
    ),
)
