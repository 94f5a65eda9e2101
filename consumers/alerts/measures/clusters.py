"""Ages of each cluster's last scrape, of its name servers' last broker list, and of the site's last evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Min
from django.utils.translation import gettext, gettext_lazy

from consumers.alerts.measured import SITE, Age, Column, MeasureSpec, PastSource, Subject, Unit, age_column
from consumers.alerts.preview.judged import age_values, brokers_seen, clusters_seen, evaluations_seen, name_servers_seen
from consumers.models import Cluster, Measure, Reading, SubjectKind
from consumers.queries.limits import BrokerAge, ClusterAge
from consumers.queries.queues.lost_offsets import BrokerLoss, broker_loss_words, broker_losses, last_read, seen_on
from consumers.queries.sentences import sentence
from consumers.queries.texts import age

from .scan import Explainer, broker_subject, cluster_subject

# For how long each broker has not been scraped, where the broker itself is the cause, and how many committed offsets
# it lost.


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
            return gettext("no committed offset of the broker is lost")
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
        return Age(None, reason or gettext("%s has not been scraped yet") % broker.name)
    seconds = age((overlay.now - since).total_seconds())
    if reason is None:
        return Age.counted(since, overlay.now, gettext("scraped %s ago") % seconds, is_due=True)
    words = {"reason": reason, "age": seconds}
    if broker.last_read_at is None:
        return Age.counted(since, overlay.now, gettext("%(reason)s; never scraped, tried for %(age)s") % words)
    return Age.counted(since, overlay.now, gettext("%(reason)s; last scraped %(age)s ago") % words)


BROKER_MEASURES = (
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


@dataclass(frozen=True)
class ClusterScan:
    explainer: Explainer

    @property
    def rows(self) -> Sequence[ClusterAge]:
        return list(self.explainer.overlay.clusters.values())

    @property
    def subjects(self) -> Sequence[Subject]:
        return [cluster_subject(row) for row in self.rows]

    @cached_property
    def added_at(self) -> Mapping[int, datetime]:
        return dict(Cluster.objects.values_list("pk", "created_at"))


@dataclass(frozen=True)
class SiteScan:
    explainer: Explainer
    subjects: Sequence[Subject] = (SITE,)

    @cached_property
    def first_added_at(self) -> datetime | None:
        first: datetime | None = Cluster.objects.aggregate(at=Min("created_at"))["at"]
        return first


def reading_age(scan: ClusterScan) -> Column:
    return age_column([_reading(scan.explainer, one, scan.added_at.get(one.id)) for one in scan.rows])


def name_server(scan: ClusterScan) -> Column:
    """One query for each cluster whose name servers do not answer."""
    return age_column([_name_server(scan.explainer, one, scan.added_at.get(one.id)) for one in scan.rows])


def site_reading_age(scan: SiteScan) -> Column:
    return age_column([_site_reading(scan.explainer, scan.first_added_at)])


def evaluation_age(scan: SiteScan) -> Column:
    return age_column([_site_evaluation(scan.explainer, scan.first_added_at)])


def _last_listed(cluster: ClusterAge) -> datetime | None:
    """The newest reading that had a list of brokers. One query where that is not the newest reading of all."""
    if cluster.newest_error is None:
        return cluster.newest_reading_at
    good = Reading.objects.filter(cluster=cluster.id, error=None).order_by("-taken_at")
    return good.values_list("taken_at", flat=True).first()


def _reading(explainer: Explainer, cluster: ClusterAge, made: datetime | None) -> Age:
    if explainer.nothing_is_polled:
        # Reported once, for the site.
        return Age(None, gettext("no cluster is being scraped"))
    since, now = cluster.newest_reading_at or made, explainer.overlay.now
    if since is None:
        return Age(None, gettext("the cluster was just removed"))
    seconds = age((now - since).total_seconds())
    if cluster.newest_reading_at is None:
        return Age.counted(since, now, gettext("never scraped since the cluster was added %s ago") % seconds)
    is_due = not explainer.is_late(cluster)
    return Age.counted(since, now, gettext("last scraped %s ago") % seconds, is_due=is_due)


def _name_server(explainer: Explainer, cluster: ClusterAge, made: datetime | None) -> Age:
    if explainer.is_late(cluster):
        return Age(None, gettext("the cluster is not being scraped, so its name servers are not asked"))
    since, now = _last_listed(cluster) or made, explainer.overlay.now
    if since is None:
        return Age(None, gettext("the cluster was just removed"))
    seconds = age((now - since).total_seconds())
    if cluster.newest_error is None:
        return Age.counted(since, now, gettext("name servers listed its brokers %s ago") % seconds, is_due=True)
    words = {"error": cluster.newest_error, "age": seconds}
    return Age.counted(since, now, gettext("%(error)s; name servers last listed its brokers %(age)s ago") % words)


def _site_reading(explainer: Explainer, first: datetime | None) -> Age:
    """The newest reading of any cluster; before the first one, the age counts from when there was something to read."""
    times = [one.newest_reading_at for one in explainer.overlay.clusters.values() if one.newest_reading_at is not None]
    since, now = max(times, default=first), explainer.overlay.now
    if since is None:
        return Age(0.0, gettext("there is no cluster to scrape"))
    seconds = age((now - since).total_seconds())
    if not times:
        return Age.counted(since, now, gettext("never scraped since the first cluster was added %s ago") % seconds)
    is_due = not explainer.nothing_is_polled
    return Age.counted(since, now, gettext("last scrape of any cluster %s ago") % seconds, is_due=is_due)


def _site_evaluation(explainer: Explainer, first: datetime | None) -> Age:
    since, now = explainer.judged_until or first, explainer.overlay.now
    if since is None:
        return Age(0.0, gettext("there is no cluster to evaluate"))
    seconds = age((now - since).total_seconds())
    if explainer.judged_until is None:
        return Age.counted(since, now, gettext("never evaluated since the first cluster was added %s ago") % seconds)
    is_due = not explainer.nothing_is_judged
    return Age.counted(since, now, gettext("last evaluation %s ago") % seconds, is_due=is_due)


MEASURES = (
    *BROKER_MEASURES,
    MeasureSpec(
        code=Measure.NAME_SERVER,
        unit=Unit.SECONDS,
        reads={SubjectKind.CLUSTER: name_server},
        past=PastSource(
            table="readings",
            read=lambda scan: age_values(
                name_servers_seen(scan.grid), scan.places, scan.grid, scan.retention.reading, is_asked=True
            ),
        ),
    ),
    MeasureSpec(
        code=Measure.READING_AGE,
        unit=Unit.SECONDS,
        # Reported for the site where no cluster is read.
        reads={SubjectKind.CLUSTER: reading_age, SubjectKind.SITE: site_reading_age},
        past=PastSource(
            table="readings",
            read=lambda scan: age_values(clusters_seen(scan.grid), scan.places, scan.grid, scan.retention.reading),
        ),
        note=gettext_lazy("If no cluster is scraped, one incident of the site replaces those of the clusters."),
    ),
    MeasureSpec(
        code=Measure.JUDGEMENT_AGE,
        unit=Unit.SECONDS,
        reads={SubjectKind.SITE: evaluation_age},
        past=PastSource(
            table="windows_60",
            read=lambda scan: age_values(evaluations_seen(scan.grid), scan.places, scan.grid, scan.retention.judgement),
        ),
    ),
)
