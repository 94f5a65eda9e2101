"""The rows of a plan: each selected queue with its target, or with the stored reason of its exclusion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from consumers.models import ResetMethod, ResetQueue
from consumers.resets.targets.values import QueueKey
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason, RowReason

# Facts about a group whose offsets are to be reset, read from the cluster's masters at one time and never estimated.


@dataclass(frozen=True)
class BrokerSetup:
    """A master. `server_side`: it moves offsets itself (its useServerSideResetOffset); null where it did not report it.

    `permission` is a sum of 4 (read) and 2 (write). `error`: why it, or its configuration, could not be read.
    """

    name: str
    version: str | None
    server_side: bool | None
    permission: int | None
    error: str | None = None
    address: str | None = None


@dataclass(frozen=True)
class QueueOffsets:
    """`now_offset` null and no `error`: nothing was ever committed there. With an `error` all three may be null."""

    key: QueueKey
    min_offset: int | None
    max_offset: int | None
    now_offset: int | None
    error: str | None = None


@dataclass(frozen=True)
class GroupSetup:
    """`members` are client ids, united over all masters; null, with `members_error`, unless each of them answered.

    `message_model` and `consume_type` are RocketMQ's words (CLUSTERING, CONSUME_PASSIVELY); null for a group without
    members. `orderly` is null where no member reported it. `pop_topics`: topics that the group pops; null: unknown.
    """

    taken_at: datetime
    members: tuple[str, ...] | None
    members_error: str | None
    message_model: str | None
    consume_type: str | None
    orderly: bool | None
    languages: tuple[str, ...]
    pop_topics: frozenset[str] | None
    brokers: Mapping[str, BrokerSetup]
    queues: Mapping[QueueKey, QueueOffsets]

    @property
    def online(self) -> bool | None:
        return None if self.members is None else bool(self.members)


# Targets within the range of a queue: clipped to the nearer end where the request allows it, else refused.


@dataclass(frozen=True)
class Aim:
    """One queue with its target; `wanted` is the target before clipping. All its offsets but the consumer's
    are known.
    """

    key: QueueKey
    now: int | None
    least: int
    most: int
    wanted: int

    @property
    def target(self) -> int:
        return min(max(self.wanted, self.least), self.most)

    @property
    def clipped(self) -> bool:
        return self.target != self.wanted


def aim(queue: QueueOffsets, wanted: int) -> Aim:
    if queue.min_offset is None or queue.max_offset is None:
        raise ValueError(f"{queue.key} was not read, so that it has no target")
    return Aim(queue.key, queue.now_offset, queue.min_offset, queue.max_offset, wanted)


def why_not_clipped(aims: Sequence[Aim]) -> str | None:
    """The refusal of a request that does not allow clipping. Null where every target is within its queue."""
    outside = [one for one in aims if one.clipped]
    if not outside:
        return None
    worst = max(outside, key=lambda one: abs(one.target - one.wanted))
    return stored_reason(
        PlanReason.OUTSIDE_RANGE,
        n=len(outside),
        all=len(aims),
        queue=str(worst.key),
        wanted=worst.wanted,
        least=worst.least,
        most=worst.most,
    )


# How many messages a moved offset makes a group consume again, or skip.


@dataclass(frozen=True)
class Amounts:
    """Both are null where the group never committed: its members choose where to start."""

    replayed: int | None
    skipped: int | None


def amounts_of(aim: Aim) -> Amounts:
    """Only messages that the queue holds count: expired ones cannot be redelivered, and are already lost. One of the
    two numbers is always 0.
    """
    if aim.now is None:
        return Amounts(None, None)
    now = min(max(aim.now, aim.least), aim.most)
    return Amounts(max(now - aim.target, 0), max(aim.target - now, 0))


NEVER_COMMITTED = stored_reason(RowReason.NOTHING_COMMITTED)
NO_AMOUNT = stored_reason(RowReason.START_IS_MEMBERS)


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


def left_out_row(reset_id: UUID, key: QueueKey, why: str, facts: QueueOffsets | None, aim: Aim | None) -> ResetQueue:
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
