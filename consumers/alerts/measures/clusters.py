"""How long each cluster has not been read, and its name servers have not told its brokers."""

from collections.abc import Set
from datetime import datetime

from django.utils.translation import gettext

from consumers.alerts.measured import Table
from consumers.models import Cluster, Measure, Reading
from consumers.queries.brokers import ClusterAge
from consumers.queries.texts import age

from .ages import Age, age_table
from .explained import Explainer, cluster_subject


def clusters(explainer: Explainer, wanted: Set[Measure]) -> Table:
    """One query, and one for each cluster whose name servers do not answer; none where no measure is wanted."""
    found = list(explainer.overlay.clusters.values())
    ages: dict[Measure, list[Age]] = {}
    if wanted & {Measure.READING_AGE, Measure.NAME_SERVER}:
        made = dict(Cluster.objects.values_list("pk", "created_at"))
        if Measure.READING_AGE in wanted:
            ages[Measure.READING_AGE] = [_reading(explainer, one, made.get(one.id)) for one in found]
        if Measure.NAME_SERVER in wanted:
            ages[Measure.NAME_SERVER] = [_name_server(explainer, one, made.get(one.id)) for one in found]
    return age_table([cluster_subject(one) for one in found], dict(ages))


def _last_told(cluster: ClusterAge) -> datetime | None:
    """The newest reading that had a list of brokers. One query where it is not the newest of all."""
    if cluster.newest_error is None:
        return cluster.newest_reading_at
    good = Reading.objects.filter(cluster=cluster.id, error=None).order_by("-taken_at")
    return good.values_list("taken_at", flat=True).first()


def _reading(explainer: Explainer, cluster: ClusterAge, made: datetime | None) -> Age:
    if explainer.nothing_is_polled:
        # Told of the site, once.
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
