"""Ages of each cluster's last scrape, of its name servers' last broker list, and of the site's last evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Min
from django.utils.translation import gettext_lazy

from consumers.alerts.measured import (
    SITE,
    Age,
    Column,
    MeasureSpec,
    PastSource,
    Series,
    Subject,
    Unit,
    age_column,
    evidence_parts,
)
from consumers.alerts.preview.judged import age_values, brokers_seen, evaluations_seen, name_servers_seen, scrape_ages
from consumers.models import Cluster, Measure, Reading, SubjectKind
from consumers.queries.limits import BrokerAge, ClusterAge
from consumers.queries.queues.lost_offsets import BrokerLoss, broker_losses
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.reasons import ReasonCode
from consumers.vocabulary.times import iso
from consumers.words.reasons import coded_reason

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
            return coded_reason(AlertEvidence.NO_LOSS)
        return _loss_words(loss)

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


def _loss_words(loss: BrokerLoss) -> str:
    what = {"broker": loss.broker, "losing_groups": len(loss.groups), "lost_queues": loss.queues}
    parts = [coded_reason(AlertEvidence.LOSS, **what)]
    if loss.lost_at is not None:
        parts.append(coded_reason(AlertEvidence.LAST_READ, at=iso(loss.lost_at)))
    if loss.from_slave is not None:
        parts.append(coded_reason(AlertEvidence.SLAVE_READ, slave=loss.from_slave))
    return evidence_parts(parts)


def _unread(explainer: Explainer, cluster: ClusterAge, broker: BrokerAge) -> Age:
    overlay = explainer.overlay
    reason = broker.unread_reason(overlay.now, overlay.limits)
    if explainer.of_cluster(cluster) is not None:
        # Nobody scrapes the broker: the incident belongs to the cluster or the site.
        return Age(None, explainer.reason(cluster.id, broker.id))
    # A broker that was never scraped counts from its first failure.
    since = broker.last_read_at or broker.failing_since
    if since is None:
        return Age(None, reason or coded_reason(ReasonCode.BROKER_NOT_SCRAPED, name=broker.name))
    seconds = (overlay.now - since).total_seconds()
    if reason is None:
        return Age.counted(since, overlay.now, coded_reason(AlertEvidence.SCRAPED, age_seconds=seconds), is_due=True)
    never = broker.last_read_at is None
    code = AlertEvidence.BROKER_NEVER_SCRAPED if never else AlertEvidence.BROKER_LAST_SCRAPED
    return Age.counted(since, overlay.now, coded_reason(code, reason=reason, age_seconds=seconds))


BROKER_MEASURES = (
    MeasureSpec(code=Measure.LOST, unit=Unit.COUNT, reads={SubjectKind.BROKER: lost}),
    MeasureSpec(
        code=Measure.BROKER_UNREAD,
        unit=Unit.SECONDS,
        is_age=True,
        reads={SubjectKind.BROKER: unread},
        past=PastSource(
            table="readings",
            read=lambda scan: age_values(
                brokers_seen(scan.grid), scan.places, scan.grid, scan.retention.reading, is_asked=True
            ),
        ),
        series=Series("consumerscope_broker_reading_age_seconds", doubts=("broker_never_read", "no_broker")),
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
        return Age(None, coded_reason(AlertEvidence.NOTHING_SCRAPED))
    since, now = cluster.newest_reading_at or made, explainer.overlay.now
    if since is None:
        return Age(None, coded_reason(AlertEvidence.CLUSTER_REMOVED))
    seconds = (now - since).total_seconds()
    if cluster.newest_reading_at is None:
        return Age.counted(since, now, coded_reason(AlertEvidence.NEVER_SCRAPED, age_seconds=seconds))
    is_due = not explainer.is_late(cluster)
    return Age.counted(since, now, coded_reason(AlertEvidence.LAST_SCRAPED, age_seconds=seconds), is_due=is_due)


def _name_server(explainer: Explainer, cluster: ClusterAge, made: datetime | None) -> Age:
    if explainer.is_late(cluster):
        return Age(None, coded_reason(AlertEvidence.NAME_SERVERS_NOT_ASKED))
    since, now = _last_listed(cluster) or made, explainer.overlay.now
    if since is None:
        return Age(None, coded_reason(AlertEvidence.CLUSTER_REMOVED))
    seconds = (now - since).total_seconds()
    if cluster.newest_error is None:
        return Age.counted(since, now, coded_reason(AlertEvidence.BROKERS_LISTED, age_seconds=seconds), is_due=True)
    words = coded_reason(AlertEvidence.BROKERS_LAST_LISTED, error=cluster.newest_error, age_seconds=seconds)
    return Age.counted(since, now, words)


def _site_reading(explainer: Explainer, first: datetime | None) -> Age:
    """The newest reading of any cluster; before the first one, the age counts from when there was something to read."""
    times = [one.newest_reading_at for one in explainer.overlay.clusters.values() if one.newest_reading_at is not None]
    since, now = max(times, default=first), explainer.overlay.now
    if since is None:
        return Age(0.0, coded_reason(AlertEvidence.NOTHING_TO_SCRAPE))
    seconds = (now - since).total_seconds()
    if not times:
        return Age.counted(since, now, coded_reason(AlertEvidence.SITE_NEVER_SCRAPED, age_seconds=seconds))
    is_due = not explainer.nothing_is_polled
    return Age.counted(since, now, coded_reason(AlertEvidence.SITE_SCRAPED, age_seconds=seconds), is_due=is_due)


def _site_evaluation(explainer: Explainer, first: datetime | None) -> Age:
    since, now = explainer.judged_until or first, explainer.overlay.now
    if since is None:
        return Age(0.0, coded_reason(AlertEvidence.NOTHING_TO_EVALUATE))
    seconds = (now - since).total_seconds()
    if explainer.judged_until is None:
        return Age.counted(since, now, coded_reason(AlertEvidence.SITE_NEVER_EVALUATED, age_seconds=seconds))
    is_due = not explainer.nothing_is_judged
    return Age.counted(since, now, coded_reason(AlertEvidence.SITE_EVALUATED, age_seconds=seconds), is_due=is_due)


MEASURES = (
    *BROKER_MEASURES,
    MeasureSpec(
        code=Measure.NAME_SERVER,
        unit=Unit.SECONDS,
        is_age=True,
        reads={SubjectKind.CLUSTER: name_server},
        past=PastSource(
            table="readings",
            read=lambda scan: age_values(
                name_servers_seen(scan.grid), scan.places, scan.grid, scan.retention.reading, is_asked=True
            ),
        ),
        series=Series("consumerscope_name_server_age_seconds", doubts=("name_server_not_asked",)),
    ),
    MeasureSpec(
        code=Measure.READING_AGE,
        unit=Unit.SECONDS,
        is_age=True,
        # Reported for the site where no cluster is read.
        reads={SubjectKind.CLUSTER: reading_age, SubjectKind.SITE: site_reading_age},
        past=PastSource(table="readings", read=scrape_ages),
        note=gettext_lazy("If no cluster is scraped, one incident of the site replaces those of the clusters."),
        series=Series("consumerscope_reading_age_seconds", doubts=("not_read",)),
    ),
    MeasureSpec(
        code=Measure.JUDGEMENT_AGE,
        unit=Unit.SECONDS,
        is_age=True,
        reads={SubjectKind.SITE: evaluation_age},
        past=PastSource(
            table="windows_60",
            read=lambda scan: age_values(evaluations_seen(scan.grid), scan.places, scan.grid, scan.retention.judgement),
        ),
        series=Series("consumerscope_judgement_age_seconds", doubts=("not_judged",)),
    ),
)
