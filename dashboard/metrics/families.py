"""Metric families of the site: clusters, alerts and clocks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import translate
from itertools import chain

from django.conf import settings
from django.utils.translation import gettext as _

from consumers.alerts.measures.scan import Explainer
from consumers.alerts.queries.deliveries import waiting_messages
from consumers.alerts.queries.incidents import firing_by_severity
from consumers.clock.status import clock_status
from consumers.clusters.pipeline_runs import PipelineStatus, pipeline_status
from consumers.clusters.queries import ClusterRow, ReadingRow, cluster_list
from consumers.groups.gauges import GroupGauges, group_gauges
from consumers.groups.overlay import Overlay
from consumers.groups.shown import UnknownWord, broker_word
from consumers.lake.store import Lake
from consumers.overview.exporter import ExporterCluster, exporter_cluster
from consumers.queries.limits import ClusterAge, Limits, evaluated
from consumers.queries.unwatched import unwatched_spans
from consumers.rebalances.flapping import DAY, episodes_within_day
from consumers.retries.volumes import minute_volumes
from dashboard.metrics import exporter, families, group_families
from dashboard.metrics.exposition import Bounds, Family, Labels
from dashboard.metrics.group_families import ages_of_name_servers, finding_samples, measured, queue_families


# The gauges of alerts: how fresh their evaluation is, what fires by it, and what waits to be told.
def alert_families(now: datetime) -> Iterator[Family]:
    """Everything is read here. What fires is known only where rules were evaluated lately."""
    evaluation, waiting = evaluated(now), waiting_messages(now)
    age = None if evaluation.at is None else max(0.0, (now - evaluation.at).total_seconds())
    yield Family(
        "consumerscope_alerts_evaluation_age_seconds", "How long ago alert rules were last evaluated.", (),
        [] if age is None else [((), age)],
    )  # fmt: skip
    yield Family(
        "consumerscope_alerts_firing", "Incidents that fire, where rules were evaluated lately.", ("severity",),
        [] if evaluation.firing is None else [((severity,), count) for severity, count in firing_by_severity().items()],
    )  # fmt: skip
    yield Family(
        "consumerscope_alerts_deliveries_waiting", "Messages that wait to be sent through the channel.", ("channel",),
        [((channel.channel,), channel.messages) for channel in waiting],
    )  # fmt: skip
    yield Family(
        "consumerscope_alerts_channel_failing_seconds", "For how long whatever was tried through it was not taken.",
        ("channel",),
        [((one.channel,), one.failing.total_seconds()) for one in waiting if one.failing is not None],
    )  # fmt: skip


# Whether clocks are trusted: a clock that was set makes ages wrong, and keeps what is old from being deleted.
def clock_families(now: datetime) -> Iterator[Family]:
    """Nothing where no worker watches a clock."""
    status = clock_status(now)
    yield Family(
        "consumerscope_clock_changes", "How often a clock of a worker's machine was set in the last 24 hours.", (),
        [((), len(status.changes))] if status.is_watched else [],
    )  # fmt: skip
    yield Family(
        "consumerscope_expiry_held_seconds",
        "For so long nothing is deleted by age: a clock is in doubt. 0: none is.",
        (),
        [((), status.hold.left.total_seconds() if status.hold else 0.0)] if status.is_watched else [],
    )  # fmt: skip


# Every family that /metrics has, read once.
# The gauges of brokers, readings and judgements: whether the other gauges are of now.

CLUSTER, BROKER = ("cluster",), ("cluster", "broker")
FINDING = ("cluster", "group", "code", "severity")
FINDINGS = "Open findings of the group, or of brokers and offset files, without a group; severity unknown: not checked."

READING = {
    "seconds": "How long the newest scrape took.",
    "calls": "Calls to brokers and name servers of the newest scrape.",
    "bytes": "Bytes of the answers of the newest scrape.",
    "complete": "1 where the newest scrape read every broker completely, else 0.",
}

Samples = Iterator[tuple[Labels, float]]


def broker_families(ages: Sequence[ClusterAge], now: datetime, limits: Limits) -> Iterator[Family]:
    yield Family(
        "consumerscope_broker_up", "1 where the newest scrape of the broker succeeded, 0 where it failed.", BROKER,
        _ups(ages, now, limits),
    )  # fmt: skip
    yield Family(
        "consumerscope_broker_reading_age_seconds", "How long ago the broker was last read whole.", BROKER,
        (
            ((cluster.name, broker.name), _age(broker.last_read_at, now))
            for cluster in ages
            for broker in cluster.brokers
            if broker.last_read_at is not None
        ),
    )  # fmt: skip
    yield Family(
        "consumerscope_broker_dispatch_behind_bytes",
        "Messages that the broker has stored and not dispatched: consumers cannot get them, no lag counts them.",
        BROKER,
        (
            ((cluster.name, broker.name), broker.dispatch_behind_bytes)
            for cluster in ages
            for broker in cluster.brokers
            if broker.dispatch_behind_bytes is not None and broker.unread_reason(now, limits) is None
        ),
    )  # fmt: skip


def reading_families(clusters: Sequence[ClusterRow], now: datetime) -> Iterator[Family]:
    newest = [(cluster.name, cluster.last_reading) for cluster in clusters if cluster.last_reading is not None]
    yield Family(
        "consumerscope_reading_age_seconds",
        "How long ago the cluster was last scraped.",
        CLUSTER,
        (((name,), _age(reading.taken_at, now)) for name, reading in newest),
    )
    for name, words in READING.items():
        yield Family(f"consumerscope_reading_{name}", words, CLUSTER, _of_readings(newest, name))


def name_server_family(name_server_ages: Mapping[str, float | None]) -> Family:
    """`name_server_ages`: seconds by the cluster's name, null where nobody asks."""
    return Family(
        "consumerscope_name_server_age_seconds",
        "How long ago name servers last reported the brokers of the cluster.",
        CLUSTER,
        (((name,), seconds) for name, seconds in name_server_ages.items() if seconds is not None),
    )


def judgement_families(pipeline: PipelineStatus, now: datetime) -> Iterator[Family]:
    until = pipeline.judged_until
    yield Family(
        "consumerscope_judgement_age_seconds",
        "How long ago the newest evaluated range ended.",
        (),
        [] if until is None else [((), _age(until, now))],
    )


def unknown_samples(
    ages: Sequence[ClusterAge], clusters: Sequence[ClusterRow], pipeline: PipelineStatus,
    name_server_ages: Mapping[str, float | None], now: datetime, limits: Limits,
) -> Samples:  # fmt: skip
    """Yields what is unknown of clusters and of the site. Group and cluster are empty for what has neither."""
    for cluster in ages:
        words = {broker_word(broker, now, limits) for broker in cluster.brokers}
        for word in sorted(word for word in words if word is not None):
            yield (cluster.name, "", word), 1
    for name in (name for name, seconds in name_server_ages.items() if seconds is None):
        yield (name, "", UnknownWord.NAME_SERVER_NOT_ASKED), 1
    for row in clusters:
        if row.last_reading is None:
            yield (row.name, "", UnknownWord.NOT_READ), 1
    if pipeline.judged_until is None:
        yield ("", "", UnknownWord.NOT_JUDGED), 1


def _ups(ages: Sequence[ClusterAge], now: datetime, limits: Limits) -> Samples:
    """Of a broker that was not asked for too long nobody knows whether it is up."""
    for cluster in ages:
        for broker in cluster.brokers:
            word = broker_word(broker, now, limits)
            if word in (None, UnknownWord.BROKER_UNREACHABLE):
                yield (cluster.name, broker.name), int(word is None)


def _of_readings(newest: Sequence[tuple[str, ReadingRow]], name: str) -> Samples:
    for cluster, reading in newest:
        number = getattr(reading, name)
        yield (cluster,), int(number) if isinstance(number, bool) else number


def _age(at: datetime, now: datetime) -> float:
    return (now - at).total_seconds()


UNKNOWN = "1 for each cause that keeps a gauge of the group (or of the cluster, without a group) from being known."


class UnknownCluster(LookupError):
    """No cluster of that name is registered."""


@dataclass(frozen=True)
class Scrape:
    """`remark`: what a reader should know that no metric says."""

    families: list[Family]
    remark: str = ""


def scrape(now: datetime, cluster: str | None = None) -> Scrape:
    """Of one cluster, or of all. Everything is read here: nothing fails once the answer has begun.

    The names of rocketmq-exporter, which have no place for two clusters, are there for one only.
    """
    overlay = Overlay.at(now)
    ages = sorted(overlay.clusters.values(), key=lambda age: age.name)
    if cluster is not None:
        ages = [age for age in ages if age.name == cluster]
        if not ages:
            raise UnknownCluster(_("There is no cluster %r.") % cluster)
    bounds = Bounds(settings.METRICS_SERIES)
    return Scrape([*_bounded(bounds, overlay, ages, cluster), bounds.left_out()], _remark(ages))


def _bounded(bounds: Bounds, overlay: Overlay, ages: list[ClusterAge], cluster: str | None) -> Iterator[Family]:
    now, wanted = overlay.now, re.compile("|".join(map(translate, settings.METRICS_GROUPS)))
    every = list(group_gauges(overlay, cluster))
    groups = [group for group in every if wanted.match(group.name)]
    pipeline = pipeline_status(now)
    is_late = pipeline.judged_until is None or pipeline.judged_until < overlay.limits.judged_since(now)
    volumes = None if is_late or pipeline.judged_until is None else minute_volumes(pipeline.judged_until)
    explainer = Explainer(overlay, pipeline.judged_until)
    name_server_ages = ages_of_name_servers(explainer, {age.name for age in ages})
    happened, texts = (
        group_families.Happened(
            measured(explainer, groups),
            episodes_within_day(now),
            unwatched_spans({group.id for group in groups}, now - DAY, now),
            volumes,
        ),
        group_families.texts_of(groups),
    )
    only = _only(overlay, ages, groups)
    clusters = cluster_list(now, name=cluster)
    unknown = chain(
        group_families.unknown_samples(overlay, groups, texts, happened),
        unknown_samples(ages, clusters, pipeline, name_server_ages, now, overlay.limits),
        exporter.unknown_samples(only) if only else (),
    )
    yield from bounds.bounded(group_families.group_families(groups, texts, happened, now))
    found = finding_samples(explainer, groups, {age.id: age.name for age in ages})
    yield from bounds.bounded([Family("consumerscope_finding", FINDINGS, FINDING, found)])
    yield from queue_families(bounds, overlay, groups, cluster)
    yield from bounds.bounded([Family("consumerscope_unknown", UNKNOWN, ("cluster", "group", "reason"), unknown)])
    yield from broker_families(ages, now, overlay.limits)
    yield from reading_families(clusters, now)
    yield name_server_family(name_server_ages)
    yield from judgement_families(pipeline, now)
    yield from families.alert_families(now)
    yield from families.clock_families(now)
    yield _left_out_groups(every, groups)
    if only is not None:
        yield from exporter.exporter_families(only, bounds)


def _only(overlay: Overlay, ages: list[ClusterAge], groups: list[GroupGauges]) -> ExporterCluster | None:
    return exporter_cluster(overlay, ages[0], Lake.at(settings.CONSUMERSCOPE_LAKE), groups) if len(ages) == 1 else None


def _left_out_groups(every: list[GroupGauges], groups: list[GroupGauges]) -> Family:
    counts = {group.cluster: 0 for group in every}
    for group in every:
        counts[group.cluster] += 1
    for group in groups:
        counts[group.cluster] -= 1
    return Family(
        "consumerscope_left_out_groups", "Groups whose names match no pattern of METRICS_GROUPS.", ("cluster",),
        (((name,), count) for name, count in counts.items() if count),
    )  # fmt: skip


def _remark(ages: list[ClusterAge]) -> str:
    if len(ages) < 2:
        return ""
    names = ", ".join(age.name for age in ages)
    return f"The names of rocketmq-exporter have no place for two clusters: ask with ?cluster= and one of {names}."
