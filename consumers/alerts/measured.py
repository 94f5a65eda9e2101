"""The input of one evaluation: every measure of every subject as columns, so that 10,000 groups × 20 rules are cheap.

Sentences are made only for the few subjects that a rule concerns: so columns have functions of a place instead of
texts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.alerts.subjects import Subject
from consumers.models import Measure, State


def _nothing(place: int) -> None:
    return None


@dataclass(frozen=True)
class Column:
    """`values[i]` belongs to `subjects[i]`; None is unknown, and `reason(i)` says why.

    `evidence(i)`: a sentence with the numbers. `since(i)`: since when the value is unchanged, where rows say.
    `spared(i)`: why rules exclude this subject although the value is known (paused, offline by habit …), or None.
    """

    values: Sequence[float | State | None]
    reason: Callable[[int], str]
    evidence: Callable[[int], str]
    since: Callable[[int], datetime | None] = _nothing
    spared: Callable[[int], str | None] = _nothing


@dataclass(frozen=True)
class Table:
    """Subjects of one kind in one order, with their columns. `labels[i]` are the labels that notes give subject i."""

    subjects: Sequence[Subject]
    columns: Mapping[Measure, Column]
    labels: Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Measured:
    """All measured values at `at`. `topics` has a table for each topic that a rule names.

    `explained`: subjects (a broker, a cluster, the site) that make groups unknown, with these groups.
    """

    at: datetime
    groups: Table
    topics: Mapping[str, Table]
    brokers: Table
    clusters: Table
    site: Table
    explained: Mapping[str, Sequence[Subject]] = field(default_factory=dict)


# Columns of numbers, each with the words that format its numbers.


def number_column(
    values: Sequence[float | None],
    reason: Callable[[int], str],
    words: Callable[[float], str],
    *,
    since: Callable[[int], datetime | None] = lambda _: None,
    spared: Callable[[int], str | None] = lambda _: None,
) -> Column:
    """An unknown value has its reason as evidence."""

    def evidence(place: int) -> str:
        value = values[place]
        return reason(place) if value is None else words(value)

    return Column(values, reason, evidence, since, spared)


# A column of ages since the last success, for few subjects, whose sentences are made at once.


@dataclass(frozen=True)
class Age:
    """`seconds` null: `sentence` says why the age is unknown. `since`: the start of the age.

    `is_due`: the age is within what the site's own intervals allow, however long they are.
    """

    seconds: float | None
    sentence: str
    since: datetime | None = None
    is_due: bool = False

    @classmethod
    def counted(cls, since: datetime, now: datetime, sentence: str, *, is_due: bool = False) -> "Age":
        return cls(max(0.0, (now - since).total_seconds()), sentence, since, is_due)


def age_column(ages: Sequence[Age]) -> Column:
    return Column(
        values=[one.seconds for one in ages],
        reason=lambda place: ages[place].sentence,
        evidence=lambda place: ages[place].sentence,
        since=lambda place: ages[place].since,
        spared=lambda place: ages[place].sentence if ages[place].is_due else None,
    )
