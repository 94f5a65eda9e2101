"""One delay level of one broker: what waits, since when it should have come, and why that is not known.

Whether a level is late is said of the moment of its newest reading. What became of it since, nobody knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import DelayLevel
from consumers.selectors.public import INSIDE, answer, public

# A broker looks every 0.1 s at the head of each level (RocketMQ 5.4.0, ScheduleMessageService).
LATE_SECONDS = 10
NO_OFFSETS = "the broker gave no offsets of this level"
NOT_CONFIGURED = "it is not among the levels that the broker is configured with"
NOTHING_WAITS = "nothing waits at this level"
NOT_ASKED = "it was not asked when its first message is due"


@answer(name="Level")
@dataclass(frozen=True, kw_only=True)
class BrokerLevel:
    """Nulls: `unknown`. `next_due_at` is null too where nothing waits, `overdue_seconds` is 0 then.

    `row`: as it is stored; null where the broker has not said anything of the level.
    """

    level: int
    delay_seconds: float | None
    backlog: int | None = field(metadata=public("Messages of all groups"))
    next_due_at: datetime | None = field(metadata=public("Null too where nothing waits"))
    overdue_seconds: float | None = field(
        metadata=public("How long before the newest reading its first message should have come, at least")
    )
    row: DelayLevel | None = field(metadata=INSIDE)
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_late(self) -> bool:
        return self.overdue_seconds is not None and self.overdue_seconds > LATE_SECONDS


@dataclass(frozen=True)
class Told:
    """What all levels of a broker share. `delays` by level, or `no_delays`; `unread`: why no offset of it counts.

    `read_at`: the least that the broker's own clock showed when its levels were read.
    """

    delays: Sequence[int]
    no_delays: str
    unread: str | None
    read_at: datetime | None


def broker_level(level: int, row: DelayLevel | None, told: Told) -> BrokerLevel:
    delay = told.delays[level - 1] if level <= len(told.delays) else None
    backlog, no_backlog = _backlog(row, told.unread)
    due, no_due = _due(row, backlog, no_backlog)
    overdue = 0.0 if backlog == 0 else _overdue(due, told)
    reasons = {
        "delay_seconds": None if delay is not None else told.no_delays or NOT_CONFIGURED,
        "backlog": None if backlog is not None else no_backlog,
        "next_due_at": None if due is not None else no_due,
        "overdue_seconds": None if overdue is not None else no_due,
    }
    return BrokerLevel(
        level=level,
        delay_seconds=delay,
        backlog=backlog,
        next_due_at=due,
        overdue_seconds=overdue,
        row=row,
        unknown={name: reason for name, reason in reasons.items() if reason is not None},
    )


def _backlog(row: DelayLevel | None, unread: str | None) -> tuple[int | None, str]:
    if unread is not None:
        return None, unread
    if row is None or row.delay_offset is None or row.broker_offset is None:
        return None, NO_OFFSETS
    if row.broker_offset < row.delay_offset:
        ends = f"it delivered up to {row.delay_offset}, and the level ends at {row.broker_offset}"
        return None, f"{ends}: one of them is from before it was created anew"
    return row.broker_offset - row.delay_offset, ""


def _due(row: DelayLevel | None, backlog: int | None, no_backlog: str) -> tuple[datetime | None, str]:
    if backlog is None or row is None:
        return None, no_backlog
    if backlog == 0:
        return None, NOTHING_WAITS
    return row.next_due_at, row.next_error or NOT_ASKED


def _overdue(due: datetime | None, told: Told) -> float | None:
    return None if due is None or told.read_at is None else max(0.0, (told.read_at - due).total_seconds())
