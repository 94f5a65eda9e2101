"""What one evaluation looks at: every measure of every subject as columns, so that 10,000 groups × 20 rules are cheap.

Sentences are made only for the few subjects that a rule concerns: hence functions of a place, not columns of text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import Measure, State

from .subjects import Subject


def _nothing(place: int) -> None:
    return None


@dataclass(frozen=True)
class Column:
    """`values[i]` is of `subjects[i]`; None is not known, and `reason(i)` says why.

    `evidence(i)`: a sentence with the numbers. `since(i)`: since when the value is as it is, where rows tell.
    `spared(i)`: why rules leave this subject alone although the value is known (paused, offline by habit …), or None.
    """

    values: Sequence[float | State | None]
    reason: Callable[[int], str]
    evidence: Callable[[int], str]
    since: Callable[[int], datetime | None] = _nothing
    spared: Callable[[int], str | None] = _nothing


@dataclass(frozen=True)
class Table:
    """Subjects of one kind in one order, with their columns. `labels[i]` are those that notes give subject i."""

    subjects: Sequence[Subject]
    columns: Mapping[Measure, Column]
    labels: Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Measured:
    """All that is evaluated at `at`. `topics` holds a table for each topic that a rule names.

    `explained`: subjects (a broker, a cluster, the site) that leave groups unknown, with those groups.
    """

    at: datetime
    groups: Table
    topics: Mapping[str, Table]
    brokers: Table
    clusters: Table
    site: Table
    explained: Mapping[str, Sequence[Subject]] = field(default_factory=dict)
