"""Admin pages: everything that polls and the pipeline write can be looked at, and not changed."""

from . import (  # noqa: F401 - each registers its pages
    alerts,
    audit,
    cluster,
    entities,
    rebalances,
    records,
    resets,
    retries,
    samples,
    states,
    thresholds,
    token,
    users,
)
