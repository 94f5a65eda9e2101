"""One delay level of one broker, and all levels of a broker: what waits, since when it should have come, why unknown.

Whether a level is late is said of the moment of its newest reading. What became of it since, nobody knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from consumers.models import Broker, DelayLevel
from consumers.rocketmq.delay_levels import level_delays
from consumers.rocketmq.errors import RemoteProtocolError
from consumers.selectors.brokers import BrokerAge
from consumers.selectors.limits import Limits
from consumers.selectors.overlay import iso

from .delay_findings import late_finding
from .ladder_rows import DelayFinding

# A broker looks every 0.1 s at the head of each level (RocketMQ 5.4.0, ScheduleMessageService).
LATE_SECONDS = 10
TOPIC_ANEW = (
    "it delivered up to {delivered}, and the level ends at {end}: one of them is from before it was created anew"
)


@dataclass(frozen=True, kw_only=True)
class BrokerLevel:
    """Nulls: `unknown`. `next_due_at` is null too where nothing waits, `overdue_seconds` is 0 then.

    `row`: as it is stored; null where the broker has not said anything of the level.
    """

    level: int
    delay_seconds: float | None
    backlog: int | None
    next_due_at: datetime | None
    overdue_seconds: float | None
    row: DelayLevel | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BrokerLevels:
    """`configured` is how many levels the broker has; null while it has not said. `backlog`: of all of them."""

    broker: str
    levels: Sequence[BrokerLevel]
    configured: int | None
    backlog: int | None
    read_at: datetime | None
    findings: Sequence[DelayFinding]
    unknown: Mapping[str, str] = field(default_factory=dict)


def broker_levels(
    broker: Broker,
    age: BrokerAge,
    rows: Sequence[DelayLevel],
    clock: Sequence[float | None],
    now: datetime,
    limits: Limits,
) -> BrokerLevels:
    """`rows` of this broker; `clock`: the bounds of how far its clock is ahead of this host's, null where not known."""
    unread = _unread(broker, age, now, limits)
    delays, no_delays = _delays(broker)
    stored = {row.level: row for row in rows}
    shown = sorted({*range(1, len(delays) + 1), *(level for level, row in stored.items() if not delays or _waits(row))})
    # Of the reading itself, which began no earlier: what was due before then had its time.
    told_at = None if broker.delays_at is None else broker.delays_at + _ahead(clock, limits)
    levels = [_level(level, stored.get(level), delays, no_delays, unread, told_at) for level in shown]
    known = [level.backlog for level in levels if level.backlog is not None]
    nothing = unread or (None if levels else "it has not said which levels it has")
    backlog = sum(known) if levels and len(known) == len(levels) else None
    why = nothing or next((level.unknown["backlog"] for level in levels if level.backlog is None), None)
    unknown = {} if backlog is not None else {"backlog": why or ""}
    unknown |= {} if delays else {"configured": no_delays}
    unknown |= {} if broker.delays_at else {"read_at": unread or ""}
    return BrokerLevels(
        broker=broker.name,
        levels=levels,
        configured=len(delays) or None,
        backlog=backlog,
        read_at=broker.delays_at,
        findings=_findings(broker, levels),
        unknown=unknown,
    )


def _unread(broker: Broker, age: BrokerAge, now: datetime, limits: Limits) -> str | None:
    if (reason := age.unread_reason(now, limits)) is not None:
        return reason
    if broker.delays_error is not None:
        return f"{broker.name} did not give its delay levels: {broker.delays_error}"
    if broker.delays_at is None:
        return f"the delay levels of {broker.name} have not been read yet"
    if broker.delays_at < limits.read_since(now):
        return f"the delay levels of {broker.name} have not been read since {iso(broker.delays_at)}"
    return None


def _delays(broker: Broker) -> tuple[tuple[int, ...], str]:
    """Seconds by level, and why there are none."""
    if broker.delay_levels is None:
        said = broker.config_error or "its configuration does not say how long its levels delay"
        return (), f"{broker.name}: {said}"
    try:
        return level_delays(broker.delay_levels), ""
    except RemoteProtocolError as wrong:
        return (), f"{broker.name}: {wrong}"


def _waits(row: DelayLevel) -> bool:
    """Levels beyond the configured ones are shown only where something lies in them."""
    return row.broker_offset is None or row.delay_offset is None or row.broker_offset != row.delay_offset


def _ahead(clock: Sequence[float | None], limits: Limits) -> timedelta:
    """The least that the broker's clock is ahead by: as much behind as is allowed for, unless store times prove more
    or less."""
    low, high = clock
    ahead = -limits.clock_error_seconds
    ahead = ahead if low is None else max(ahead, low)
    return timedelta(seconds=ahead if high is None else min(ahead, high))


def _level(
    level: int,
    row: DelayLevel | None,
    delays: Sequence[int],
    no_delays: str,
    unread: str | None,
    told_at: datetime | None,
) -> BrokerLevel:
    unknown: dict[str, str] = {}
    delay = delays[level - 1] if level <= len(delays) else None
    if delay is None:
        unknown["delay_seconds"] = no_delays or "it is not among the levels that the broker is configured with"
    backlog, why = _backlog(row, unread)
    if backlog is None or row is None:
        unknown |= dict.fromkeys(("backlog", "next_due_at", "overdue_seconds"), why)
        return _of(level, delay, None, None, None, row, unknown)
    if backlog == 0:
        return _of(level, delay, 0, None, 0.0, row, unknown | {"next_due_at": "nothing waits at this level"})
    if row.next_due_at is None or told_at is None:
        why = row.next_error or "it was not asked when its first message is due"
        return _of(
            level, delay, backlog, None, None, row, unknown | dict.fromkeys(("next_due_at", "overdue_seconds"), why)
        )
    overdue = max(0.0, (told_at - row.next_due_at).total_seconds())
    return _of(level, delay, backlog, row.next_due_at, overdue, row, unknown)


def _of(
    level: int,
    delay: float | None,
    backlog: int | None,
    next_due_at: datetime | None,
    overdue_seconds: float | None,
    row: DelayLevel | None,
    unknown: Mapping[str, str],
) -> BrokerLevel:
    return BrokerLevel(
        level=level,
        delay_seconds=delay,
        backlog=backlog,
        next_due_at=next_due_at,
        overdue_seconds=overdue_seconds,
        row=row,
        unknown=unknown,
    )


def _backlog(row: DelayLevel | None, unread: str | None) -> tuple[int | None, str]:
    if unread is not None:
        return None, unread
    if row is None or row.delay_offset is None or row.broker_offset is None:
        return None, "the broker gave no offsets of this level"
    if row.broker_offset < row.delay_offset:
        return None, TOPIC_ANEW.format(delivered=row.delay_offset, end=row.broker_offset)
    return row.broker_offset - row.delay_offset, ""


def _findings(broker: Broker, levels: Sequence[BrokerLevel]) -> list[DelayFinding]:
    late = [
        (level.next_due_at, level.level, level.overdue_seconds, level.backlog)
        for level in levels
        if level.overdue_seconds is not None and level.overdue_seconds > LATE_SECONDS
        if level.next_due_at is not None and level.backlog is not None
    ]
    return [late_finding(broker.name, late)] if late else []
