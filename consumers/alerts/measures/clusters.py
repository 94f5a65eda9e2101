"""How long each cluster has not been read, and its name servers have not told its brokers."""

from collections.abc import Set
from datetime import datetime

from django.db.models import Max
from django.utils.translation import gettext

from consumers.alerts.measured import Table
from consumers.models import Cluster, Measure, Reading
from consumers.selectors.brokers import ClusterAge
from consumers.selectors.measures import age

from .ages import Age, age_table
from .explained import Explainer, cluster_subject


def clusters(explainer: Explainer, wanted: Set[Measure]) -> Table:
    """Two queries at most, none where no measure of clusters is wanted."""
    found = list(explainer.overlay.clusters.values())
    ages: dict[Measure, list[Age]] = {}
    if wanted & {Measure.READING_AGE, Measure.NAME_SERVER}:
        made = dict(Cluster.objects.values_list("pk", "created_at"))
        if Measure.READING_AGE in wanted:
            ages[Measure.READING_AGE] = [_reading(explainer, one, made.get(one.id)) for one in found]
        if Measure.NAME_SERVER in wanted:
            told = _last_told()
            ages[Measure.NAME_SERVER] = [
                _name_server(explainer, one, told.get(one.id) or made.get(one.id)) for one in found
            ]
    return age_table([cluster_subject(one) for one in found], dict(ages))


def _last_told() -> dict[int, datetime]:
    """By cluster id, the newest reading that had a list of brokers."""
    return dict(Reading.objects.filter(error=None).order_by().values_list("cluster_id").annotate(Max("taken_at")))


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
    return Age.counted(since, now, gettext("last read %s ago") % seconds)


def _name_server(explainer: Explainer, cluster: ClusterAge, since: datetime | None) -> Age:
    now = explainer.overlay.now
    if explainer.is_late(cluster):
        return Age(None, gettext("the cluster is not being read: nobody asks its name servers"))
    if since is None:
        return Age(None, gettext("the cluster was just removed"))
    seconds = age((now - since).total_seconds())
    if cluster.newest_error is None:
        return Age.counted(since, now, gettext("name servers told its brokers %s ago") % seconds)
    words = {"error": cluster.newest_error, "age": seconds}
    return Age.counted(since, now, gettext("%(error)s; name servers last told its brokers %(age)s ago") % words)
