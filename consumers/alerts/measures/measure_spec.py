"""One measure of alert rules: all that the site knows of it, declared beside the code that reads it.

The evaluation, the form, the checks of rules and the preview are made of these declarations; what a measure is called
is in consumers/alerts/queries/words.py. Add a measure: docs/architecture.md.
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
    """`reads`: a column of the subjects of each kind, made of the scan of that kind; the first kind is the one that a
    rule is of. A measure that reads TOPIC is known of groups' parts of a topic, too.

    `past`: null where nothing is stored but the newest value. `note`: what a preview has to add. `is_of_waiting`: it
    grows while a group waits, be it by habit. `knows_exclusions`: the past tells what rules excluded then.
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
