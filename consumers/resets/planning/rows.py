"""The rows of a plan: each selected queue with its target, or with the reason of its exclusion."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from consumers.models import ResetMethod, ResetQueue
from consumers.resets.facts import QueueFacts
from consumers.resets.planning.clip import amounts_of
from consumers.resets.wish import QueueKey

from .clip import Aim

NEVER_COMMITTED = "nothing was ever committed there"
NO_AMOUNT = f"{NEVER_COMMITTED}: where its members would begin is theirs to choose"


@dataclass(frozen=True)
class Planned:
    """A queue that is to move, or that stands at its target. `at`: its message's time, or why that is not known."""

    aim: Aim
    method: ResetMethod
    at: datetime | str


def planned_row(reset_id: UUID, planned: Planned) -> ResetQueue:
    aim, amounts = planned.aim, amounts_of(planned.aim)
    row = ResetQueue(
        reset_id=reset_id,
        topic=aim.key.topic,
        broker=aim.key.broker,
        queue_id=aim.key.queue_id,
        min_offset=aim.least,
        max_offset=aim.most,
        now_offset=aim.now,
        wanted=aim.wanted,
        target=aim.target,
        clipped=aim.clipped,
        target_time=None if isinstance(planned.at, str) else planned.at,
        replayed_messages=amounts.replayed,
        skipped_messages=amounts.skipped,
        restorable=aim.now is not None,
        method=planned.method,
    )
    if aim.now is None:
        row.unknown |= {"now_offset": NEVER_COMMITTED, "replayed_messages": NO_AMOUNT, "skipped_messages": NO_AMOUNT}
    if isinstance(planned.at, str):
        row.unknown |= {"target_time": planned.at}
    return row


def left_out_row(reset_id: UUID, key: QueueKey, why: str, facts: QueueFacts | None, aim: Aim | None) -> ResetQueue:
    """`facts` and `aim`: as far as they are known."""
    row = ResetQueue(reset_id=reset_id, topic=key.topic, broker=key.broker, queue_id=key.queue_id, left_out=why)
    is_read = facts is not None and facts.error is None
    if facts is not None:
        row.min_offset, row.max_offset, row.now_offset = facts.min_offset, facts.max_offset, facts.now_offset
    if aim is not None:
        row.wanted, row.target, row.clipped = aim.wanted, aim.target, aim.clipped
    reasons = {
        "min_offset": why if facts is None else facts.error,
        "max_offset": why if facts is None else facts.error,
        "now_offset": NEVER_COMMITTED if is_read else why if facts is None else facts.error,
        **dict.fromkeys(("wanted", "target", "target_time", "replayed_messages", "skipped_messages", "method"), why),
    }
    row.unknown = {name: reason for name, reason in reasons.items() if getattr(row, name) is None}
    return row
