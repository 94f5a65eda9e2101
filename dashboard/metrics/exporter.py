"""The families under rocketmq-exporter's names, and why some of it is not there."""

from collections.abc import Iterator

from django.conf import settings

from consumers.selectors.exporter.cluster import ExporterCluster
from consumers.selectors.unknown_words import UnknownWord

from .bounded import Bounds
from .exporter_clients import client_families
from .exporter_groups import group_families
from .exporter_topics import topic_families
from .exposition import Family, Labels


def exporter_families(cluster: ExporterCluster, bounds: Bounds) -> Iterator[Family]:
    yield from bounds.bounded(group_families(cluster))
    yield from bounds.bounded(topic_families(cluster))
    if settings.METRICS_CLIENT_SERIES:
        yield from bounds.bounded(client_families(cluster), settings.METRICS_CLIENT_SERIES)


def unknown_samples(cluster: ExporterCluster) -> Iterator[tuple[Labels, float]]:
    if None in cluster.clusters.values():
        yield (cluster.name, "", UnknownWord.CLUSTER_NAME_UNREAD), 1
    if cluster.moved.consumed is None or cluster.moved.dead_letters is None:
        yield (cluster.name, "", UnknownWord.READINGS_NOT_KEPT), 1
