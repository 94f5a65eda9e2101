"""All delay levels of a broker, from its rows, and whether it delivers what is due."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils.translation import gettext, ngettext

from consumers.models import Broker, DelayLevel
from consumers.rocketmq.bodies.delay_levels import level_delays
from consumers.rocketmq.wire.errors import RemoteProtocolError
from consumers.selectors.clusters.brokers import BrokerAge
from consumers.selectors.limits import Limits
from consumers.selectors.public import INSIDE, answer, public
from consumers.selectors.queues.overlay import iso
from consumers.selectors.text.measures import age, messages

from .broker_level import BrokerLevel, Told, broker_level
from .ladder_rows import DelayFinding

# A broker whose delayed messages do not come when they are due: retries wait on, and no lag shows them.

# RocketMQ 5.4.0, ScheduleMessageService: what it logs when a round of deliveries fails.
LOGGED = "ScheduleMessageService, executeOnTimeUp exception"


def late_finding(broker: str, late: Sequence[BrokerLevel]) -> DelayFinding:
    """`late`: the levels that are, one at least."""
    worst = max(late, key=_overdue)
    waiting = sum(level.backlog or 0 for level in late)
    words = {"broker": broker, "level": worst.level, "age": age(_overdue(worst)), "messages": messages(waiting)}
    return DelayFinding(
        broker=broker,
        sentence=f"{_what(words)} {_how_much(words, len(late))}",
        cure=gettext(
            "See whether the broker is the master and can store messages (its disk, its load), and look into its log: "
            "a delayed message is delivered by storing it once more, and those behind it wait until that succeeds."
        ),
        facts={
            "levels": sorted(level.level for level in late),
            "overdue_seconds": round(_overdue(worst), 1),
            "waiting_messages": waiting,
        },
        since=worst.next_due_at,
        grep=LOGGED,
    )


def _overdue(level: BrokerLevel) -> float:
    return level.overdue_seconds or 0.0


def _what(words: dict[str, object]) -> str:
    text = gettext(
        "%(broker)s delivers delayed messages late: "
        "the first of level %(level)d was due %(age)s before the newest reading."
    )
    return text % words


def _how_much(words: dict[str, object], levels: int) -> str:
    text = ngettext(
        "%(messages)s wait at the level that is late.", "%(messages)s wait at the %(n)d levels that are late.", levels
    )
    return text % (words | {"n": levels})


NO_LEVELS = "it has not said which levels it has"


@answer(
    "Where failed messages wait for their next try, delayed ones of applications among them.",
    last=("levels", "unknown"),
)
@dataclass(frozen=True, kw_only=True)
class BrokerLevels:
    """`configured` is how many levels the broker has; null while it has not said. `backlog`: of all of them."""

    broker: str
    levels: Sequence[BrokerLevel]
    configured: int | None = field(metadata=public("How many levels it has"))
    backlog: int | None = field(metadata=public("Messages of all levels"))
    read_at: datetime | None
    findings: Sequence[DelayFinding] = field(metadata=INSIDE)
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
    told = _told(broker, age, clock, now, limits)
    stored = {row.level: row for row in rows}
    configured = range(1, len(told.delays) + 1)
    further = (level for level, row in stored.items() if not told.delays or _waits(row))
    levels = [broker_level(level, stored.get(level), told) for level in sorted({*configured, *further})]
    why = next((level.unknown["backlog"] for level in levels if level.backlog is None), None)
    no_backlog = why if levels else told.unread or NO_LEVELS
    reasons = {
        "backlog": no_backlog,
        "configured": None if told.delays else told.no_delays,
        "read_at": None if broker.delays_at else told.unread,
    }
    return BrokerLevels(
        broker=broker.name,
        levels=levels,
        configured=len(told.delays) or None,
        backlog=None if no_backlog is not None else sum(level.backlog or 0 for level in levels),
        read_at=broker.delays_at,
        findings=_findings(broker.name, levels),
        unknown={name: reason for name, reason in reasons.items() if reason is not None},
    )


def _told(broker: Broker, age: BrokerAge, clock: Sequence[float | None], now: datetime, limits: Limits) -> Told:
    delays, no_delays = _delays(broker)
    # Of the reading itself, which began no earlier: what was due before then had its time.
    read_at = None if broker.delays_at is None else broker.delays_at + _ahead(clock, limits)
    return Told(delays, no_delays, _unread(broker, age, now, limits), read_at)


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


def _findings(broker: str, levels: Sequence[BrokerLevel]) -> list[DelayFinding]:
    late = [level for level in levels if level.is_late]
    return [late_finding(broker, late)] if late else []
