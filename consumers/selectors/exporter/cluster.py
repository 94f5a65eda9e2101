"""What rocketmq-exporter's names are filled from, of one cluster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from consumers.lake.store import Lake
from consumers.selectors.brokers import ClusterAge
from consumers.selectors.groups.gauges import GroupGauges
from consumers.selectors.groups.overlay import Overlay

from .clients import ExporterClient, exporter_clients
from .groups import ExporterGroup, cluster_names, exporter_groups
from .parts import TopicPart, broker_ends, topic_parts
from .rates import Moved, moved
from .waits import PartKey, part_waits


@dataclass(frozen=True)
class ExporterCluster:
    """`clusters`: what RocketMQ calls the cluster of each broker that is read, by its name; null: nobody told."""

    name: str
    clusters: Mapping[str, str | None]
    groups: Mapping[int, ExporterGroup]
    parts: Sequence[TopicPart]
    waits: Mapping[PartKey, float]
    ends: Mapping[tuple[str, str], int | None]
    moved: Moved
    clients: Mapping[int, Sequence[ExporterClient]]


def exporter_cluster(overlay: Overlay, age: ClusterAge, lake: Lake, gauges: Iterable[GroupGauges]) -> ExporterCluster:
    """`gauges` of groups of this cluster. Nine queries and three files at the most, however many groups there are."""
    groups = exporter_groups(overlay, gauges)
    read = {broker.name for broker in age.brokers if not overlay.is_unread(broker)}
    parts = topic_parts(age.id, groups, read)
    return ExporterCluster(
        name=age.name,
        clusters={name: cluster for name, cluster in cluster_names(age.id).items() if name in read},
        groups=groups,
        parts=parts,
        waits=part_waits(overlay, age.id, groups, parts),
        ends=broker_ends(age.id, {part.topic for part in parts}, read),
        moved=moved(lake, age.id, age.name, overlay.now, overlay.limits),
        clients=exporter_clients(age.id, groups, overlay.now, overlay.limits),
    )
