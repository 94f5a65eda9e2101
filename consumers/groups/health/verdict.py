"""The health of a group, computed from its findings. Pure. docs/judging.md has the table."""

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
    # Only the beginning of the recreated topic has been seen.
    State.RECREATED: HealthLevel.UNKNOWN,
    State.OK: HealthLevel.OK,
}


@dataclass(frozen=True)
class HealthLimits:
    """Older findings say nothing about now: `noted` for dead-letter messages, blocked queues and rebalances, `checked`
    for ownership and retry health checks.
    """

    noted: timedelta
    checked: timedelta


@dataclass(frozen=True)
class Findings:
    """The findings of one group besides its state, and when they were made; null where it was never checked."""

    noticed: tuple[Reason, ...] = ()
    checked: tuple[Reason, ...] = ()
    noted_at: datetime | None = None
    checked_at: datetime | None = None


NOT_CHECKED = Findings()


def health(state: State, rule: str | None, findings: Findings, now: datetime, limits: HealthLimits) -> Health:
    """Old findings are still reported: they are more likely to persist than not. Without a recent check, OK becomes
    unknown.
    """
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
    """The maximum age of a finding, by the site's settings."""
    return HealthLimits(
        noted=timedelta(seconds=max(60.0, 4 * settings.HEALTH_SECONDS)),
        checked=timedelta(seconds=settings.JUDGE["evidence_seconds"]),
    )
