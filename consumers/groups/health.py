"""Health of a group: its level, and its reasons as codes and words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext

from consumers.models import HealthLevel, State
from consumers.queries.declared import public
from consumers.queries.findings import queue_count
from consumers.rebalances.events import rebalance_counts
from consumers.rebalances.flapping import LEVEL_WORDS
from consumers.words.findings import TITLES
from consumers.words.marks import listed
from consumers.words.spans import count, when

# The health of a group: its level and the reasons for it, as lists, pages, REST and /metrics say it.
LEVELS = list(HealthLevel)


class HealthCode(StrEnum):
    """What a reason is about, in the order in which reasons of one level stand."""

    STATE = "state"
    OWNERSHIP = "ownership"
    RETRY_CHECK = "retry_check"
    LATE_RETRIES = "late_retries"
    BLOCKED_QUEUES = "blocked_queues"
    DLQ_INFLOW = "dlq_inflow"
    REBALANCES = "rebalances"
    OWNERSHIP_UNKNOWN = "ownership_unknown"
    RETRY_CHECKS_UNKNOWN = "retry_checks_unknown"
    DLQ_UNKNOWN = "dlq_unknown"
    REBALANCES_UNKNOWN = "rebalances_unknown"
    EVALUATION_LATE = "evaluation_late"
    CHECKS_LATE = "checks_late"


@dataclass(frozen=True)
class Reason:
    """Stored as JSON, without words: those come from words.py. A reason of the level `ok` is worth knowing, and no
    fault."""

    code: HealthCode
    level: HealthLevel
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> tuple[int, int]:
        return LEVELS.index(self.level), list(HealthCode).index(self.code)

    def as_json(self) -> dict[str, Any]:
        return {"code": self.code.value, "level": self.level.value, "parameters": self.parameters}

    @classmethod
    def of_json(cls, stored: dict[str, Any]) -> "Reason":
        return cls(HealthCode(stored["code"]), HealthLevel(stored["level"]), stored["parameters"])


@dataclass(frozen=True)
class HealthReason:
    """A reason as it is shown: `text` is short, in the language of the request."""

    code: HealthCode
    level: HealthLevel = field(metadata=public("`ok`: worth knowing, and no fault"))
    parameters: dict[str, Any] = field(metadata=public("The numbers and names of the text"))
    text: str


@dataclass(frozen=True)
class Health:
    """`reasons`: the worst first. Empty only where everything that health looks at is known and nothing was found."""

    level: HealthLevel
    reasons: Sequence[Reason]


def worst_level(reasons: Iterable[Reason]) -> HealthLevel:
    return LEVELS[min((LEVELS.index(reason.level) for reason in reasons), default=len(LEVELS) - 1)]


Parameters = Mapping[str, Any]


def shown(reason: Reason) -> HealthReason:
    """The short text of each reason, in the language of the request."""
    return HealthReason(reason.code, reason.level, reason.parameters, WRITERS[reason.code](reason.parameters))


def _state(parameters: Parameters) -> str:
    return gettext("State %(state)s") % parameters


def _finding(parameters: Parameters) -> str:
    title = str(TITLES.get(parameters["finding"], parameters["finding"]))
    where = queue_count(parameters["queues"]) if parameters.get("queues") else listed(parameters.get("brokers", ()))
    return gettext("%(title)s (%(where)s)") % {"title": title, "where": where} if where else title


def _late_retries(parameters: Parameters) -> str:
    return gettext("Retries delivered late by %s") % listed(parameters["brokers"])


def _blocked(parameters: Parameters) -> str:
    queues = int(parameters["queues"])
    return ngettext("%(n)s blocked queue", "%(n)s blocked queues", queues) % {"n": count(queues)}


def _dlq(parameters: Parameters) -> str:
    per_minute, day = parameters.get("per_minute"), int(parameters["day_messages"])
    template = (
        gettext("%(day)s dead-lettered in 24 h") if parameters.get("is_whole_day") else gettext("≥ %(day)s in 24 h")
    )
    in_a_day = template % {"day": count(day)}
    if per_minute is None:
        return in_a_day if parameters.get("is_whole_day") else gettext("≥ %s dead-lettered in 24 h") % count(day)
    rate = gettext("DLQ inflow %(rate)s/min") % {"rate": f"{per_minute:g}"}
    return f"{rate} · {in_a_day}"


def _rebalances(parameters: Parameters) -> str:
    span, hours = ("hour", 1) if parameters.get("rebalances_hour") else ("day", 24)
    rebalances, episodes = int(parameters[f"rebalances_{span}"]), int(parameters[f"episodes_{span}"])
    counted = rebalance_counts(rebalances, episodes)
    return gettext("%(level)s: %(rebalances)s, %(hours)s h") % {
        "hours": hours,
        "level": capfirst(str(LEVEL_WORDS[parameters["level"]])),
        "rebalances": f"≥ {counted}" if parameters.get("is_at_least") else counted,
    }


def _checks_late(parameters: Parameters) -> str:
    if not parameters.get("since"):
        return gettext("Ownership, retries and DLQ inflow not checked yet")
    return gettext("Ownership, retries and DLQ inflow not checked since %s") % _since(parameters)


def _evaluation_late(parameters: Parameters) -> str:
    if not parameters.get("since"):
        return gettext("DLQ inflow and rebalances not evaluated yet")
    return gettext("DLQ inflow and rebalances not evaluated since %s") % _since(parameters)


def _since(parameters: Parameters) -> str:
    return when(datetime.fromisoformat(parameters["since"]))


WRITERS: dict[HealthCode, Callable[[Parameters], str]] = {
    HealthCode.STATE: _state,
    HealthCode.OWNERSHIP: _finding,
    HealthCode.RETRY_CHECK: _finding,
    HealthCode.LATE_RETRIES: _late_retries,
    HealthCode.BLOCKED_QUEUES: _blocked,
    HealthCode.DLQ_INFLOW: _dlq,
    HealthCode.REBALANCES: _rebalances,
    HealthCode.OWNERSHIP_UNKNOWN: lambda said: gettext("Ownership unknown"),
    HealthCode.RETRY_CHECKS_UNKNOWN: lambda said: gettext("Retry health checks unknown"),
    HealthCode.DLQ_UNKNOWN: lambda said: gettext("DLQ inflow unknown"),
    HealthCode.REBALANCES_UNKNOWN: lambda said: gettext("Unknown whether members have settled"),
    HealthCode.EVALUATION_LATE: _evaluation_late,
    HealthCode.CHECKS_LATE: _checks_late,
}


# The health of a group, computed from its findings. Pure. docs/evaluation.md has the table.

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
