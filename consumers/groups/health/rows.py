"""Health of a group: its level, and its reasons as codes and words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, ngettext, ngettext_lazy

from consumers.models import HealthLevel
from consumers.ownership.finding import Kind
from consumers.queries.declared import public
from consumers.queries.texts import count
from consumers.rebalances.events import rebalance_counts
from consumers.rebalances.flapping import Level
from consumers.retries.checks.condition_rows import ConditionName

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
    PIPELINE_LATE = "pipeline_late"
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

OF_KIND: dict[str, str | Promise] = {
    Kind.DUPLICATE_IDS: gettext_lazy("Several processes share a client id"),
    Kind.BROKERS_DIFFER: gettext_lazy("Brokers list different members"),
    Kind.STRATEGIES: gettext_lazy("Members use different strategies"),
    Kind.SUBSCRIPTIONS: gettext_lazy("Members' subscriptions differ"),
    Kind.ORDERLY_AND_CONCURRENT: gettext_lazy("Orderly and concurrent members in one group"),
    Kind.SETTINGS: gettext_lazy("Members' settings differ"),
    Kind.SILENT: gettext_lazy("A member does not answer"),
    Kind.IDLE: gettext_lazy("Members without a queue"),
}

OF_QUEUES: dict[str, Any] = {
    Kind.UNOWNED: ngettext_lazy("%(n)s queue without an owner", "%(n)s queues without an owner", "queues"),
    Kind.DOUBLY_OWNED: ngettext_lazy("%(n)s queue with two owners", "%(n)s queues with two owners", "queues"),
    Kind.UNEXPECTED: ngettext_lazy(
        "%(n)s queue not with its expected owner", "%(n)s queues not with their expected owners", "queues"
    ),
    Kind.LOCK_LOST: ngettext_lazy("Lock lost on %(n)s queue", "Lock lost on %(n)s queues", "queues"),
}

OF_CHECK: dict[str, str | Promise] = {
    ConditionName.KEPT: gettext_lazy("Failed messages are discarded"),
    ConditionName.ACCEPTED: gettext_lazy("No broker takes failed messages"),
    ConditionName.GROUP_EXISTS: gettext_lazy("Group missing on a broker"),
    ConditionName.RETRY_QUEUES: gettext_lazy("Retry queues are not read"),
    ConditionName.RETRY_READABLE: gettext_lazy("Retry topic not readable"),
    ConditionName.RETRY_WRITABLE: gettext_lazy("Retry topic not writable"),
    ConditionName.ENABLED: gettext_lazy("Consumption disabled by configuration"),
    ConditionName.DLQ_READABLE: gettext_lazy("DLQ not readable"),
    ConditionName.TAKES_BACK: gettext_lazy("A broker takes no failed messages back"),
    ConditionName.ROUTED: gettext_lazy("Name servers route no writes to a broker"),
    ConditionName.RETRIED: gettext_lazy("Failed messages are not retried"),
    ConditionName.TIMEOUT: gettext_lazy("Messages run into consumeTimeout"),
}

OF_LEVEL: dict[str, str | Promise] = {
    Level.FLAPPING: gettext_lazy("Flapping"),
    Level.UNSETTLED: gettext_lazy("Does not settle"),
    Level.RESTLESS: gettext_lazy("Restless"),
}


def shown(reason: Reason) -> HealthReason:
    """The short text of each reason, in the language of the request."""
    return HealthReason(reason.code, reason.level, reason.parameters, WRITERS[reason.code](reason.parameters))


def _state(said: Parameters) -> str:
    return gettext("State %(state)s") % said


def _ownership(said: Parameters) -> str:
    kind, queues = str(said["kind"]), int(said.get("queues", 0))
    if kind in OF_QUEUES:
        return str(OF_QUEUES[kind] % {"queues": queues, "n": count(queues)})
    return str(OF_KIND.get(kind, kind))


def _retry_check(said: Parameters) -> str:
    name = str(said["check"])
    text = str(OF_CHECK.get(name, gettext("Retry check failed: %s") % name))
    return f"{text} ({', '.join(said['brokers'])})" if said.get("brokers") else text


def _late_retries(said: Parameters) -> str:
    return gettext("Retries delivered late by %s") % ", ".join(said["brokers"])


def _blocked(said: Parameters) -> str:
    queues = int(said["queues"])
    return ngettext("%(n)s blocked queue", "%(n)s blocked queues", queues) % {"n": count(queues)}


def _dlq(said: Parameters) -> str:
    per_minute, day = said.get("per_minute"), int(said["day_messages"])
    template = gettext("%(day)s dead-lettered in 24 h") if said.get("is_whole_day") else gettext("≥ %(day)s in 24 h")
    in_a_day = template % {"day": count(day)}
    if per_minute is None:
        return in_a_day if said.get("is_whole_day") else gettext("≥ %s dead-lettered in 24 h") % count(day)
    rate = gettext("DLQ inflow %(rate)s/min") % {"rate": f"{per_minute:g}"}
    return f"{rate} · {in_a_day}"


def _rebalances(said: Parameters) -> str:
    span, hours = ("hour", 1) if said.get("rebalances_hour") else ("day", 24)
    rebalances, episodes = int(said[f"rebalances_{span}"]), int(said[f"episodes_{span}"])
    return gettext("%(level)s: %(rebalances)s, %(hours)s h") % {
        "hours": hours,
        "level": OF_LEVEL[said["level"]],
        "rebalances": rebalance_counts(rebalances, episodes),
    }


def _checks_late(said: Parameters) -> str:
    at = parse_datetime(said["since"]) if said.get("since") else None
    if at is None:
        return gettext("Ownership, retries and DLQ inflow not checked yet")
    return gettext("Ownership, retries and DLQ inflow not checked since %s UTC") % f"{at:%Y-%m-%d %H:%M}"


def _pipeline_late(said: Parameters) -> str:
    return gettext("DLQ inflow and rebalances unknown: the pipeline is late")


WRITERS: dict[HealthCode, Callable[[Parameters], str]] = {
    HealthCode.STATE: _state,
    HealthCode.OWNERSHIP: _ownership,
    HealthCode.RETRY_CHECK: _retry_check,
    HealthCode.LATE_RETRIES: _late_retries,
    HealthCode.BLOCKED_QUEUES: _blocked,
    HealthCode.DLQ_INFLOW: _dlq,
    HealthCode.REBALANCES: _rebalances,
    HealthCode.OWNERSHIP_UNKNOWN: lambda said: gettext("Ownership unknown"),
    HealthCode.RETRY_CHECKS_UNKNOWN: lambda said: gettext("Retry health checks unknown"),
    HealthCode.DLQ_UNKNOWN: lambda said: gettext("DLQ inflow unknown"),
    HealthCode.REBALANCES_UNKNOWN: lambda said: gettext("Unknown whether members have settled"),
    HealthCode.PIPELINE_LATE: _pipeline_late,
    HealthCode.CHECKS_LATE: _checks_late,
}
