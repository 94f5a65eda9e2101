"""One measure of alert rules, declared beside the code that reads it.

The evaluation, the form, the checks of rules and the preview are built from these declarations. The labels of measures
are in consumers/alerts/queries/words.py. To add a measure, see docs/architecture.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from consumers.alerts.measured import Column
from consumers.alerts.preview.values import PastSource
from consumers.models import Comparison, Measure, SubjectKind


class Unit(StrEnum):
    STATE = "state"
    MESSAGES = "messages"
    SECONDS = "seconds"
    SHARE = "share"
    COUNT = "count"


@dataclass(frozen=True, kw_only=True)
class MeasureSpec:
    """`reads`: for each kind of subject, the function that makes a column from that kind's scan. A rule applies to the
    first kind. A measure that reads TOPIC also exists for groups' parts of a topic.

    `past`: null where only the newest value is stored. `note`: an addition for previews. `is_of_waiting`: the value
    grows while a group waits, also by habit. `knows_exclusions`: the past tells what rules excluded then.
    """

    code: Measure
    unit: Unit
    reads: Mapping[SubjectKind, Callable[[Any], Column]]
    comparisons: tuple[Comparison, ...] = (Comparison.ABOVE,)
    past: PastSource | None = None
    note: Any = None
    is_of_waiting: bool = False
    knows_exclusions: bool = False

    @property
    def subject(self) -> SubjectKind:
        return next(iter(self.reads))

    @property
    def knows_topics(self) -> bool:
        return SubjectKind.TOPIC in self.reads
