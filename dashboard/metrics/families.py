"""Every family that /metrics has, read once."""

from datetime import datetime
from itertools import chain

from consumers.selectors.clusters import cluster_list
from consumers.selectors.groups.gauges import group_gauges
from consumers.selectors.groups.overlay import Overlay
from consumers.selectors.pipeline_status import pipeline_status

from . import cluster_families, group_families
from .exposition import Family

UNKNOWN = "1 for each cause that keeps a gauge of the group (or of the cluster, without a group) from being known."


def families(now: datetime) -> list[Family]:
    """Everything is read here: nothing fails once the answer has begun."""
    overlay = Overlay.at(now)
    groups = list(group_gauges(overlay))
    clusters, pipeline = cluster_list(now), pipeline_status(now)
    ages = sorted(overlay.clusters.values(), key=lambda cluster: cluster.name)
    unknown = chain(
        group_families.unknown_samples(groups),
        cluster_families.unknown_samples(ages, clusters, pipeline, now, overlay.limits),
    )
    return [
        *group_families.group_families(groups),
        Family("consumerscope_unknown", UNKNOWN, ("cluster", "group", "reason"), unknown),
        *cluster_families.broker_families(ages, now, overlay.limits),
        *cluster_families.reading_families(clusters, now),
        *cluster_families.judgement_families(pipeline, now),
    ]
