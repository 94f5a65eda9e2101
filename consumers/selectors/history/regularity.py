"""How regularly something was done that is due every so many seconds."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise


def missed(
    times: Sequence[datetime], interval_seconds: float, until: datetime, *, since: datetime | None = None
) -> int:
    """How many were due between `since` and `until`, and not done at one of `times` (ascending).

    Without `since`: since the first of `times`. Half an interval of delay is forgiven each time.
    """
    gaps = pairwise([*([] if since is None else [since]), *times, until])
    return sum(max(0, int((after - before).total_seconds() / interval_seconds - 0.5)) for before, after in gaps)
