"""How regularly something was done that is due every so many seconds."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise


def missed(times: Sequence[datetime], interval_seconds: float, until: datetime) -> int:
    """How many were due between the first of `times` (ascending) and `until`, and not done.

    Half an interval of delay is forgiven each time.
    """
    gaps = pairwise([*times, until])
    return sum(max(0, int((after - before).total_seconds() / interval_seconds - 0.5)) for before, after in gaps)
