"""The registry of measures: all that the modules of this folder declare as `MEASURES`."""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from consumers.alerts.measured import SITE, Column, ColumnKey, Measured, MeasureSpec, Subject, Table, column_key
from consumers.alerts.notes import Notes
from consumers.groups.overlay import Overlay
from consumers.models import AlertRule, Measure, PipelineRun, State, SubjectKind
from consumers.queries.queues.lost_offsets import BrokerLoss

from .clusters import BrokerScan, ClusterScan, SiteScan
from .scan import Explainer, GroupScan, broker_subject, scanned
from .topic_parts import TopicScan


def _declared() -> dict[Measure, MeasureSpec]:
    folder = import_module(str(__package__))
    modules = [import_module(f"{__package__}.{one.name}") for one in iter_modules(folder.__path__)]
    found = {spec.code: spec for module in modules for spec in getattr(module, "MEASURES", ())}
    return {code: found[code] for code in Measure}


SPECS = _declared()


NO_NOTES = Notes()


def measured(now: datetime, rules: Sequence[AlertRule]) -> Measured:
    """Measures user groups except inactive ones, their brokers, their clusters and the site, for the enabled rules of
    `rules`.

    Columns that no rule needs are left out, and so are topics that no rule names. A fixed number of queries, however
    many groups; some more for each topic.
    """
    explainer = Explainer(Overlay.at(now), _judged_until(now))
    scan, notes = scanned(explainer.overlay, explainer), Notes.of_site()
    enabled = [rule for rule in rules if rule.enabled]
    wanted = frozenset(column_key(rule) for rule in enabled if not rule.topic)
    brokers = BrokerScan(explainer)
    return Measured(
        at=now,
        groups=_table(SubjectKind.GROUP, scan, scan.subjects, wanted, notes),
        topics={topic: _of_topic(TopicScan.of(scan, topic), some, notes) for topic, some in _by_topic(enabled).items()},
        brokers=_table(SubjectKind.BROKER, brokers, brokers.subjects, wanted),
        clusters=_table(SubjectKind.CLUSTER, ClusterScan(explainer), ClusterScan(explainer).subjects, wanted),
        site=_table(SubjectKind.SITE, SiteScan(explainer), (SITE,), wanted),
        explained=_explained(scan, brokers.losses if Measure.LOST in wanted else ()),
    )


def _of_topic(of: TopicScan, wanted: Set[ColumnKey], notes: Notes) -> Table:
    return _table(SubjectKind.TOPIC, of, of.scan.subjects, wanted, notes)


def _table(
    kind: SubjectKind, scan: Any, subjects: Sequence[Subject], wanted: Set[ColumnKey], notes: Notes = NO_NOTES
) -> Table:
    """`scan`: of that kind of subject. Notes are about groups: no other subject has labels."""
    columns: dict[ColumnKey, Column] = {}
    for key in wanted:
        measure, *sought = key if isinstance(key, tuple) else (key,)
        if (read := SPECS[measure].reads.get(kind)) is not None:
            columns[key] = read(scan, *sought)
    return Table(subjects, columns, notes.labels(subjects))


def _judged_until(now: datetime) -> datetime | None:
    done = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=now)
    return done.order_by("-until").values_list("until", flat=True).first()


def _by_topic(rules: Iterable[AlertRule]) -> Mapping[str, frozenset[ColumnKey]]:
    found: dict[str, frozenset[ColumnKey]] = {}
    for rule in rules:
        if rule.topic:
            found[rule.topic] = found.get(rule.topic, frozenset()) | {column_key(rule)}
    return found


def _explained(scan: GroupScan, losses: Sequence[BrokerLoss]) -> dict[str, list[Subject]]:
    """Unknown groups by the key of the cause. A group counts once, under the first cause that keeps it from being read.
    Groups with offsets lost on a broker that is read also count for that broker.
    """
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
