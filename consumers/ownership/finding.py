"""What is wrong with the ownership of a group: one finding for one cause, with what it leads to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from consumers.ownership.shares.group_shares import ExpectedOwners
from consumers.rebalances.rows import LogLine
from consumers.rocketmq.allocation.strategies import QueueKey


class Level(StrEnum):
    """The worst first. NOTE: worth knowing, and no fault."""

    PROBLEM = "problem"
    WARNING = "warning"
    NOTE = "note"


class Kind(StrEnum):
    """In the order in which findings of one level stand."""

    DUPLICATE_IDS = "duplicate ids"
    BROKERS_DIFFER = "brokers differ"
    STRATEGIES = "strategies"
    SUBSCRIPTIONS = "subscriptions"
    ORDERLY_AND_CONCURRENT = "orderly and concurrent"
    SETTINGS = "settings"
    UNOWNED = "unowned"
    DOUBLY_OWNED = "doubly owned"
    UNEXPECTED = "unexpected owner"
    LOCK_LOST = "lock lost"
    SILENT = "silent"
    IDLE = "idle"
    TOO_FEW_QUEUES = "too few queues"
    SETTLING = "settling"


@dataclass(frozen=True, kw_only=True)
class OwnershipFinding:
    """`sentence` says what is wrong, `cure` what to do about it; `facts` are what it was told by, as JSON.

    `unowned` and `doubly_owned` are the queues that its cause leaves to nobody or gives to two: these are not found
    once more. `queues`: those it is about otherwise. `since` is null where that is not known.
    """

    kind: Kind
    level: Level
    sentence: str
    cure: str
    facts: dict[str, Any]
    since: datetime | None
    queues: Sequence[QueueKey] = ()
    unowned: Sequence[QueueKey] = ()
    doubly_owned: Sequence[QueueKey] = ()
    log_line: LogLine | None = None

    @property
    def place(self) -> tuple[int, int, str]:
        """For sorting, the worst first."""
        return list(Level).index(self.level), list(Kind).index(self.kind), self.sentence


@dataclass(frozen=True, kw_only=True)
class OwnershipCheck:
    """The findings, the worst first, and what they were found by: `expected` is what `expected_owners` gives.

    `why_not_compared`: why owners were not compared with what the members compute; other findings may stand all the
    same. Else `compared_queues` is how many were, %RETRY% topics left out, and `as_expected` how many of them have
    exactly their expected owner. `answered_at`: of the members' newest answers the oldest; null while one never spoke.
    `is_read`: who is in the group, and what each member says of itself, was read of late; nobody in it is known too.
    """

    findings: Sequence[OwnershipFinding]
    expected: ExpectedOwners
    members: int
    strategies: Sequence[str] = field(default_factory=list)
    answered_at: datetime | None = None
    compared_queues: int = 0
    as_expected: int = 0
    why_not_compared: str | None = None
    is_read: bool = True
