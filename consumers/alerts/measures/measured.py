"""One evaluation's columns: only those that a rule needs."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from consumers.alerts.measured import Measured
from consumers.alerts.rules.notes import Notes
from consumers.alerts.subjects import SITE, Subject
from consumers.models import AlertRule, Measure, PipelineRun, State, SubjectKind
from consumers.selectors.groups.overlay import Overlay
from consumers.selectors.lost_offsets import BrokerLoss, broker_losses

from .brokers import brokers
from .clusters import clusters
from .explained import Explainer, broker_subject
from .groups import groups
from .scan import GroupScan, scanned
from .site import site
from .topics import topics


def measured(now: datetime, rules: Sequence[AlertRule]) -> Measured:
    """Of user groups that are no ghosts, their brokers, their clusters and the site, for the enabled ones of `rules`.

    Columns that no rule needs are left out, as is a topic that none names. A fixed number of queries, however many
    groups; some more for each topic.
    """
    explainer = Explainer(Overlay.at(now), _judged_until(now))
    scan, notes = scanned(explainer.overlay, explainer), Notes.of_site()
    enabled = [rule for rule in rules if rule.enabled]
    wanted = frozenset(Measure(rule.measure) for rule in enabled if not rule.topic)
    losses = broker_losses(explainer.overlay.slaves) if Measure.LOST in wanted else []
    return Measured(
        at=now,
        groups=groups(scan, notes, wanted),
        topics=topics(scan, notes, _by_topic(enabled)),
        brokers=brokers(explainer, wanted, {(loss.cluster_id, loss.broker): loss for loss in losses}),
        clusters=clusters(explainer, wanted),
        site=site(explainer, wanted),
        explained=_explained(scan, losses),
    )


def _judged_until(now: datetime) -> datetime | None:
    done = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=now)
    return done.order_by("-until").values_list("until", flat=True).first()


def _by_topic(rules: Iterable[AlertRule]) -> Mapping[str, frozenset[Measure]]:
    found: dict[str, frozenset[Measure]] = {}
    for rule in rules:
        if rule.topic:
            found[rule.topic] = found.get(rule.topic, frozenset()) | {Measure(rule.measure)}
    return found


def _explained(scan: GroupScan, losses: Sequence[BrokerLoss]) -> dict[str, list[Subject]]:
    """By the key of what leaves them unknown; a group is counted once, with what keeps it from being read first. Those
    whose offsets are gone from a broker that is read are that broker's, too."""
    found: dict[str, list[Subject]] = {}
    read = {
        (cluster.id, broker.name): broker_subject(cluster, broker).key
        for cluster in scan.overlay.clusters.values()
        for broker in cluster.brokers
        if not scan.overlay.is_unread(broker)
    }
    for loss in losses:
        if (key := read.get((loss.cluster_id, loss.broker))) is not None:
            found[key] = [
                Subject(SubjectKind.GROUP, loss.cluster, group=name, group_id=pk) for pk, name in loss.groups.items()
            ]
    for place, row in enumerate(scan.rows):
        if row.unread_by is not None:
            key = scan.explainer.of_group(row.cluster_id, row.unread_by).key
        elif scan.explainer.nothing_is_judged and row.state == State.UNKNOWN and scan.unjudged_reason(place):
            # The others keep their last state.
            key = SITE.key
        else:
            continue
        found.setdefault(key, []).append(scan.subjects[place])
    return found
