"""Which clusters are never written to: the setting CONSUMERSCOPE_READ_ONLY_CLUSTERS names them."""

from django.conf import settings

ALL = "*"


def is_read_only(cluster_name: str) -> bool:
    named = settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS
    return ALL in named or cluster_name in named
