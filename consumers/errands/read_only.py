"""The answer to whoever wants to write to a cluster that is marked read-only."""

from django.utils.translation import gettext as _

from consumers.selectors.read_only import ALL, marked_by


def why_read_only(cluster_name: str) -> str | None:
    """A sentence for whoever wanted to write; null where it may be written to."""
    marked = marked_by(cluster_name)
    if marked is None:
        return None
    if marked not in (cluster_name, ALL):
        return _(
            "The cluster %(cluster)s has a name server or broker in common with %(marked)s, which is marked read-only: "
            "nothing is changed on its brokers from here. Whoever runs Consumerscope can take %(marked)s out of "
            "CONSUMERSCOPE_READ_ONLY_CLUSTERS."
        ) % {"cluster": cluster_name, "marked": marked}
    return _(
        "The cluster %(cluster)s is marked read-only: nothing is changed on its brokers from here. Whoever runs "
        "Consumerscope can take it out of CONSUMERSCOPE_READ_ONLY_CLUSTERS."
    ) % {"cluster": cluster_name}
