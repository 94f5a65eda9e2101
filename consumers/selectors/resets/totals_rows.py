"""The sums over the queues of one reset."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class ResetTotals:
    """`queues` were chosen; of them `left_out` are not touched, `standing` are at their target already, and `moving`
    are the rest. `done` of `moving` need nothing more: read back, refused, or given up.

    `replayed_messages` and `skipped_messages` are null where one of the queues to move does not say; then
    `…_at_least` is the sum over those that do. `…_in_fact`: of the confirmed queues, from where each stood right
    before it was written. `earliest_target_time` and `latest_target_time`: of the first messages that will be
    consumed, as far as they were read, for `queues_with_target_time`. `steps` and `outcomes`: queues by each, without
    those that none has; queues that are left out are in neither. `not_restorable` of the queues to move have no
    offset to return to.
    """

    queues: int
    left_out: int
    standing: int
    moving: int
    done: int
    clipped: int
    restorable: int
    not_restorable: int
    replayed_messages: int | None
    replayed_messages_at_least: int | None
    skipped_messages: int | None
    skipped_messages_at_least: int | None
    replayed_in_fact: int | None
    skipped_in_fact: int | None
    earliest_target_time: datetime | None
    latest_target_time: datetime | None
    queues_with_target_time: int
    methods: dict[str, int]
    steps: dict[str, int]
    outcomes: dict[str, int]
    unknown: dict[str, str] = field(default_factory=dict)
