"""What a plan adds up to. What one queue does not say is counted apart, and never as none."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from consumers.models import ResetMethod, ResetQueue


@dataclass(frozen=True)
class Totals:
    """Over the queues that are to move. `replayed` and `skipped` are the known sums; of `uncounted` queues nobody can
    tell. `earliest`: when the first message that comes again was stored, as far as the targets' messages were read."""

    queues: int
    replayed: int
    skipped: int
    replaying: int
    skipping: int
    uncounted: int
    clipped: int
    not_restorable: int
    methods: Mapping[ResetMethod, int]
    left_out: Sequence[tuple[str, int]]
    earliest: datetime | None


def totals_of(rows: Iterable[ResetQueue]) -> Totals:
    every = list(rows)
    moving = [row for row in every if row.left_out is None and row.method != ResetMethod.NOTHING]
    times = [row.target_time for row in moving if row.replayed_messages and row.target_time is not None]
    return Totals(
        queues=len(moving),
        replayed=sum(row.replayed_messages or 0 for row in moving),
        skipped=sum(row.skipped_messages or 0 for row in moving),
        replaying=sum(bool(row.replayed_messages) for row in moving),
        skipping=sum(bool(row.skipped_messages) for row in moving),
        uncounted=sum(row.replayed_messages is None for row in moving),
        clipped=sum(row.clipped for row in moving),
        not_restorable=sum(not row.restorable for row in moving),
        methods=Counter(ResetMethod(row.method) for row in moving if row.method is not None),
        left_out=Counter(row.left_out for row in every if row.left_out is not None).most_common(),
        earliest=min(times, default=None),
    )
