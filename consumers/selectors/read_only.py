"""Which clusters are never written to: the setting CONSUMERSCOPE_READ_ONLY_CLUSTERS names them."""

from django.conf import settings

from consumers.models import Cluster

ALL = "*"


def is_read_only(cluster_name: str) -> bool:
    named = settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS
    return ALL in named or cluster_name in named


def names_of_no_cluster() -> list[str]:
    """Of those that the setting has: misspelt, or not registered yet. One query."""
    named = {name for name in settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS if name != ALL}
    return sorted(named - set(Cluster.objects.filter(name__in=named).values_list("name", flat=True)))
