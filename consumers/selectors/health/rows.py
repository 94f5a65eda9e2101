"""The health of a group: its level and the reasons for it, as lists, pages, REST and /metrics say it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from consumers.models import HealthLevel
from consumers.selectors.public import public

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
