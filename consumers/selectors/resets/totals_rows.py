"""The sums over the queues of one reset."""

from dataclasses import dataclass, field
from datetime import datetime

from consumers.queries.declared import answer, public


@answer("Sums over the queues of a reset. One that some queue does not give is null; `…_at_least` is what is known.")
@dataclass(frozen=True)
class ResetTotals:
    """`replayed_messages` and `skipped_messages` are null where one of the queues to move does not say. Target times
    are of the first messages that will be consumed, as far as they were read. `steps` and `outcomes` leave out what no
    queue has, and queues that are not touched.
    """

    queues: int = field(metadata=public("Chosen"))
    left_out: int = field(metadata=public("Of them are not touched"))
    standing: int = field(metadata=public("Of them are at their target already"))
    moving: int = field(metadata=public("Of them are to be moved: the rest"))
    done: int = field(metadata=public("Of those to be moved are over with, well or not"))
    clipped: int = field(metadata=public("Their targets were moved to the nearer end of the queue"))
    restorable: int
    not_restorable: int = field(metadata=public("To be moved, and without an offset to return to"))
    replayed_messages: int | None
    replayed_messages_at_least: int | None
    skipped_messages: int | None
    skipped_messages_at_least: int | None
    replayed_in_fact: int | None = field(
        metadata=public("Of the confirmed queues, from where each stood right before it was written")
    )
    skipped_in_fact: int | None
    earliest_target_time: datetime | None
    latest_target_time: datetime | None
    queues_with_target_time: int = field(metadata=public("Of so many queues the message at the target was read"))
    methods: dict[str, int] = field(metadata=public("{method: queues}"))
    steps: dict[str, int] = field(metadata=public("{step: queues}"))
    outcomes: dict[str, int] = field(metadata=public("{outcome: queues}"))
    unknown: dict[str, str] = field(default_factory=dict)
