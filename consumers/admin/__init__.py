"""Admin pages: everything that polls and the pipeline write can be looked at, and not changed."""

from . import cluster, entities, rebalances, records, retries, samples, states, token  # noqa: F401 - each registers its pages
