"""The health of a group out of what is known of it: pure. docs/judging.md has the table."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from consumers.models import HealthLevel, State

from .rows import Health, HealthCode, Reason, worst_level

OF_STATE = {
    State.LOSS: HealthLevel.CRITICAL,
    State.STOP: HealthLevel.CRITICAL,
    State.STALL: HealthLevel.CRITICAL,
    State.REWIND: HealthLevel.WARNING,
    State.WARN: HealthLevel.WARNING,
    State.UNKNOWN: HealthLevel.UNKNOWN,
    # Nothing but the begin of the topic's new life has been seen.
    State.RECREATED: HealthLevel.UNKNOWN,
    State.OK: HealthLevel.OK,
}


@dataclass(frozen=True)
class HealthLimits:
    """What was found longer ago says nothing about now: `noted` of dead-letter messages, blocked queues and rebalances,
    `checked` of ownership and retry health checks."""

    noted: timedelta
    checked: timedelta


@dataclass(frozen=True)
class Findings:
    """What was found of one group beside its state, and when; null where nobody has looked yet."""

    noticed: tuple[Reason, ...] = ()
    checked: tuple[Reason, ...] = ()
    noted_at: datetime | None = None
    checked_at: datetime | None = None


NOT_CHECKED = Findings()


def health(state: State, rule: str | None, findings: Findings, now: datetime, limits: HealthLimits) -> Health:
    """Old findings are still said: they are likelier to hold than not. That nobody looked since makes unknown what
    would be OK."""
    found = [*_of_state(state, rule), *findings.noticed, *findings.checked, *_late(findings, now, limits)]
    return Health(worst_level(found), sorted(found, key=lambda reason: reason.place))


def _of_state(state: State, rule: str | None) -> Iterable[Reason]:
    if OF_STATE[state] != HealthLevel.OK:
        yield Reason(HealthCode.STATE, OF_STATE[state], {"state": state.value} | ({"rule": rule} if rule else {}))


def _late(findings: Findings, now: datetime, limits: HealthLimits) -> Iterable[Reason]:
    for at, longest in ((findings.noted_at, limits.noted), (findings.checked_at, limits.checked)):
        if at is None or at < now - longest:
            since = {} if at is None else {"since": at.isoformat()}
            yield Reason(HealthCode.CHECKS_LATE, HealthLevel.UNKNOWN, since)
            return


def health_limits() -> HealthLimits:
    """How old a finding may be before it says nothing about now, by the site's settings."""
    return HealthLimits(
        noted=timedelta(seconds=max(60.0, 4 * settings.HEALTH_SECONDS)),
        checked=timedelta(seconds=settings.JUDGE["evidence_seconds"]),
    )
