"""Ages of each cluster's last scrape, of its name servers' last broker list, and of the site's last evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Min
from django.utils.translation import gettext, gettext_lazy

from consumers.alerts.measured import Age, Column, age_column
from consumers.alerts.preview.judged import age_values, clusters_seen, evaluations_seen, name_servers_seen
from consumers.alerts.subjects import SITE, Subject
from consumers.models import Cluster, Measure, Reading, SubjectKind
from consumers.queries.brokers import ClusterAge
from consumers.queries.texts import age

from .explained import Explainer, cluster_subject
from .measure_spec import MeasureSpec, PastSource, Unit


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


def _last_told(cluster: ClusterAge) -> datetime | None:
    """The newest reading that had a list of brokers. One query where that is not the newest reading of all."""
    if cluster.newest_error is None:
        return cluster.newest_reading_at
    good = Reading.objects.filter(cluster=cluster.id, error=None).order_by("-taken_at")
    return good.values_list("taken_at", flat=True).first()


def _reading(explainer: Explainer, cluster: ClusterAge, made: datetime | None) -> Age:
    if explainer.nothing_is_polled:
        # Reported once, for the site.
        return Age(None, gettext("no cluster is being read"))
    since, now = cluster.newest_reading_at or made, explainer.overlay.now
    if since is None:
        return Age(None, gettext("the cluster was just removed"))
    seconds = age((now - since).total_seconds())
    if cluster.newest_reading_at is None:
        return Age.counted(since, now, gettext("never read, and known for %s") % seconds)
    is_due = not explainer.is_late(cluster)
    return Age.counted(since, now, gettext("last read %s ago") % seconds, is_due=is_due)


def _name_server(explainer: Explainer, cluster: ClusterAge, made: datetime | None) -> Age:
    if explainer.is_late(cluster):
        return Age(None, gettext("the cluster is not being read: nobody asks its name servers"))
    since, now = _last_told(cluster) or made, explainer.overlay.now
    if since is None:
        return Age(None, gettext("the cluster was just removed"))
    seconds = age((now - since).total_seconds())
    if cluster.newest_error is None:
        return Age.counted(since, now, gettext("name servers told its brokers %s ago") % seconds, is_due=True)
    words = {"error": cluster.newest_error, "age": seconds}
    return Age.counted(since, now, gettext("%(error)s; name servers last told its brokers %(age)s ago") % words)


def _site_reading(explainer: Explainer, first: datetime | None) -> Age:
    """The newest reading of any cluster; before the first one, the age counts from when there was something to read."""
    times = [one.newest_reading_at for one in explainer.overlay.clusters.values() if one.newest_reading_at is not None]
    since, now = max(times, default=first), explainer.overlay.now
    if since is None:
        return Age(0.0, gettext("there is no cluster to read"))
    seconds = age((now - since).total_seconds())
    if not times:
        return Age.counted(since, now, gettext("no cluster has been read yet, for %s") % seconds)
    is_due = not explainer.nothing_is_polled
    return Age.counted(since, now, gettext("a cluster was last read %s ago") % seconds, is_due=is_due)


def _site_evaluation(explainer: Explainer, first: datetime | None) -> Age:
    since, now = explainer.judged_until or first, explainer.overlay.now
    if since is None:
        return Age(0.0, gettext("there is no cluster to judge"))
    seconds = age((now - since).total_seconds())
    if explainer.judged_until is None:
        return Age.counted(since, now, gettext("nothing has been judged yet, for %s") % seconds)
    is_due = not explainer.nothing_is_judged
    return Age.counted(since, now, gettext("what was read was last judged %s ago") % seconds, is_due=is_due)


MEASURES = (
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
        note=gettext_lazy(
            "Where no cluster was read at all, one incident of the whole site stands for those of clusters."
        ),
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
