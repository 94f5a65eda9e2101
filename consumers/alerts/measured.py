"""What one evaluation looks at: every measure of every subject as columns, so that 10,000 groups × 20 rules are cheap.

Sentences are made only for the few subjects that a rule concerns: hence functions of a place, not columns of text.
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


# Columns of numbers, each with the words that its numbers are said in.


def number_column(
    values: Sequence[float | None],
    reason: Callable[[int], str],
    words: Callable[[float], str],
    *,
    since: Callable[[int], datetime | None] = lambda _: None,
    spared: Callable[[int], str | None] = lambda _: None,
) -> Column:
    """What is not known has its reason for evidence."""

    def evidence(place: int) -> str:
        value = values[place]
        return reason(place) if value is None else words(value)

    return Column(values, reason, evidence, since, spared)


# A column of how long ago something last went well, of a few subjects whose sentences are made at once.


@dataclass(frozen=True)
class Age:
    """`seconds` null: `sentence` says why it is not known. `since`: the moment that it is counted from.

    `is_due`: it is no older than the site's own intervals make it, however long these are.
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
