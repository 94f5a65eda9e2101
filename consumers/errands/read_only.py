"""The answer to whoever wants to write to a cluster that is marked read-only."""

from django.utils.translation import gettext as _

from consumers.selectors.read_only import is_read_only


def why_read_only(cluster_name: str) -> str | None:
    """A sentence for whoever wanted to write; null where it may be written to."""
    if not is_read_only(cluster_name):
        return None
    return _(
        "The cluster %(cluster)s is marked read-only: nothing is changed on its brokers from here. Whoever runs "
        "Consumerscope can take it out of CONSUMERSCOPE_READ_ONLY_CLUSTERS."
    ) % {"cluster": cluster_name}
