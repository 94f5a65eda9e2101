"""Admin pages that show, read-only, everything the poll and the pipeline write."""

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
