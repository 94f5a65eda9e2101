"""How long each broker has not been read, where it is its own matter."""

from collections.abc import Set

from django.utils.translation import gettext

from consumers.alerts.measured import Table
from consumers.models import Measure
from consumers.selectors.brokers import BrokerAge, ClusterAge
from consumers.selectors.measures import age

from .ages import Age, age_table
from .explained import Explainer, broker_subject


def brokers(explainer: Explainer, wanted: Set[Measure]) -> Table:
    """The brokers of all clusters; a slave counts with its master. No query."""
    found = [(cluster, broker) for cluster in explainer.overlay.clusters.values() for broker in cluster.brokers]
    subjects = [broker_subject(cluster, broker) for cluster, broker in found]
    if Measure.BROKER_UNREAD not in wanted:
        return age_table(subjects, {})
    return age_table(subjects, {Measure.BROKER_UNREAD: [_unread(explainer, *one) for one in found]})


def _unread(explainer: Explainer, cluster: ClusterAge, broker: BrokerAge) -> Age:
    overlay = explainer.overlay
    reason = broker.unread_reason(overlay.now, overlay.limits)
    if explainer.of_cluster(cluster) is not None:
        # Nobody asks it: that is told of the cluster, or of the site.
        return Age(None, explainer.reason(cluster.id, broker.id))
    # One that was never read is so at least since it first failed.
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
