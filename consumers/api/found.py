"""Finds what a path names, or says what of it is missing."""

from rest_framework.exceptions import NotFound

from consumers.models import Cluster, ConsumerGroup
from consumers.selectors.queues import find_group


def group_missing(cluster: str, group: str) -> NotFound:
    if not Cluster.objects.filter(name=cluster).exists():
        return NotFound(f"There is no cluster {cluster!r}.")
    return NotFound(f"There is no group {group!r} in cluster {cluster!r}.")


def found_group(cluster: str, group: str) -> ConsumerGroup:
    """Raises NotFound."""
    found = find_group(cluster, group)
    if found is None:
        raise group_missing(cluster, group)
    return found
