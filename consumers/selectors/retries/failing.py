"""The retry conditions that do not hold, over all groups: one row a cause."""

from datetime import datetime

from .condition_rows import FailingGroup


def failing_groups(cluster: str | None, now: datetime) -> list[FailingGroup]:
    """Of user groups of one cluster, or of all: CRITICAL and WARNING ones and closed brokers, the worst first.

    A fixed number of queries, whatever the number of groups.
    """
    raise NotImplementedError
