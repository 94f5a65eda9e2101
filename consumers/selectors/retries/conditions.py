"""Whether what a group's retries need is there: pure rules over rows, no socket."""

from datetime import datetime

from .condition_rows import Condition


def conditions_of(cluster: str, group: str, now: datetime) -> list[Condition]:
    """One for each ConditionName; what does not hold first, the worst of it before the rest. A handful of queries.

    Raises ConsumerGroup.DoesNotExist.
    """
    raise NotImplementedError
