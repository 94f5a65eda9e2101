"""The rungs of a group's ladder: each level over all brokers, with what of the group was seen to wait there."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from consumers.models import Rung
from consumers.rocketmq.delay_levels import FIRST_RETRY_LEVEL

from .broker_level import BrokerLevel
from .broker_levels import BrokerLevels
from .ladder_rows import LadderRung
from .sampled_rungs import sampled_rung

Levels = Sequence[tuple[str, BrokerLevel]]  # by broker, those of one number


def ladder_rungs(brokers: Sequence[BrokerLevels], own: Iterable[Rung], now: datetime) -> list[LadderRung]:
    """`own`: the group's rows of them."""
    by_level: defaultdict[int, list[tuple[str, BrokerLevel]]] = defaultdict(list)
    for broker in brokers:
        for level in broker.levels:
            by_level[level.level].append((broker.broker, level))
    of_group: defaultdict[int, list[Rung]] = defaultdict(list)
    for rung in own:
        of_group[rung.level].append(rung)
    # Of a broker that has not said which levels it has, nobody knows whether it has this one.
    silent = next((broker.unknown["backlog"] for broker in brokers if not broker.levels), None)
    return [_rung(number, by_level[number], of_group[number], silent, now) for number in sorted(by_level)]


def _rung(number: int, levels: Levels, own: Sequence[Rung], silent: str | None, now: datetime) -> LadderRung:
    delay, no_delay = _delay(levels)
    no_backlog = silent or next((level.unknown["backlog"] for _, level in levels if level.backlog is None), None)
    overdue, no_overdue = _overdue(levels, silent)
    sampled, not_sampled = (None, silent) if silent else sampled_rung(levels, own, now)
    reasons = {
        "delay_seconds": no_delay,
        "broker_backlog": no_backlog,
        "overdue_seconds": no_overdue,
        "sampled": not_sampled if sampled is None else None,
    }
    return LadderRung(
        level=number,
        retry=number - FIRST_RETRY_LEVEL + 1 if number >= FIRST_RETRY_LEVEL else None,
        delay_seconds=delay,
        broker_backlog=None if no_backlog is not None else sum(level.backlog or 0 for _, level in levels),
        sampled=sampled,
        overdue_seconds=overdue,
        unknown={name: reason for name, reason in reasons.items() if reason is not None},
    )


def _delay(levels: Levels) -> tuple[float | None, str | None]:
    """What all brokers say, or why there is no such delay."""
    missing = next((level.unknown["delay_seconds"] for _, level in levels if level.delay_seconds is None), None)
    if missing is not None:
        return None, missing
    said = {broker: level.delay_seconds for broker, level in levels}
    if len(set(said.values())) > 1:
        named = ", ".join(f"{broker} {seconds:g} s" for broker, seconds in said.items())
        return None, f"brokers delay it differently: {named}"
    return next(iter(said.values())), None


def _overdue(levels: Levels, silent: str | None) -> tuple[float | None, str | None]:
    """One broker that is late is late, whatever the others are; that none is late is known of all or not at all."""
    longest = max((level.overdue_seconds for _, level in levels if level.overdue_seconds is not None), default=None)
    if longest:
        return longest, None
    unknown = next((level.unknown["overdue_seconds"] for _, level in levels if level.overdue_seconds is None), None)
    why = silent or unknown
    return (longest, None) if why is None else (None, why)
