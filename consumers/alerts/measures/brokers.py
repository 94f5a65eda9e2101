"""How long each broker has not been read, where it is its own matter, and how many committed offsets it lost."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime

from django.utils.translation import gettext

from consumers.alerts.measured import Column, Table
from consumers.models import Measure
from consumers.selectors.brokers import BrokerAge, ClusterAge
from consumers.selectors.lost_offsets import BrokerLoss, broker_loss_words, last_read, seen_on
from consumers.selectors.measures import age
from consumers.selectors.sentences import sentence

from .ages import Age, age_column
from .explained import Explainer, broker_subject

# By the cluster's id and the broker's name.
Losses = Mapping[tuple[int, str], BrokerLoss]


def brokers(explainer: Explainer, wanted: Set[Measure], losses: Losses) -> Table:
    """The brokers of all clusters; a slave counts with its master. No query."""
    found = [(cluster, broker) for cluster in explainer.overlay.clusters.values() for broker in cluster.brokers]
    subjects = [broker_subject(cluster, broker) for cluster, broker in found]
    columns: dict[Measure, Column] = {}
    if Measure.BROKER_UNREAD in wanted:
        columns[Measure.BROKER_UNREAD] = age_column([_unread(explainer, *one) for one in found])
    if Measure.LOST in wanted:
        columns[Measure.LOST] = _lost(explainer, found, losses)
    return Table(subjects, columns, [{} for _ in subjects])


def _lost(explainer: Explainer, found: Sequence[tuple[ClusterAge, BrokerAge]], losses: Losses) -> Column:
    """What a broker that is not read has lost nobody knows."""
    overlay = explainer.overlay
    unread = [broker.unread_reason(overlay.now, overlay.limits) for _, broker in found]
    lost = [losses.get((cluster.id, broker.name)) for cluster, broker in found]

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
