"""The input of one evaluation: every measure of every subject as columns, so that 10,000 groups × 20 rules are cheap.

Sentences are made only for the few subjects that a rule concerns: so columns have functions of a place instead of
texts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from consumers.alerts.preview.values import PastSource
from consumers.groups.shown import UnknownWord
from consumers.models import AlertRule, Comparison, Incident, Measure, State, SubjectKind
from consumers.vocabulary.alerts import AlertEvidence
from consumers.words.reasons import coded_reason


@dataclass(frozen=True, slots=True)
class Subject:
    """Names that the subject's kind does not have are empty. `group_id` is the row of a known group."""

    kind: SubjectKind
    cluster: str = ""
    broker: str = ""
    group: str = ""
    topic: str = ""
    group_id: int | None = None

    @classmethod
    def of_incident(cls, incident: Incident) -> "Subject":
        return cls(
            SubjectKind(incident.subject_kind),
            cluster=incident.cluster_name,
            broker=incident.broker_name,
            group=incident.group_name,
            topic=incident.topic_name,
            group_id=incident.group_id,
        )

    @property
    def key(self) -> str:
        """A unique key of the subject: neither cluster names nor RocketMQ names contain a '/'."""
        names = [self.cluster, self.broker or self.group, self.topic]
        return ":".join([self.kind, "/".join(name for name in names if name)])

    @property
    def title(self) -> str:
        """The name of the subject on pages."""
        if self.kind == SubjectKind.SITE:
            return "Consumerscope"
        if self.kind == SubjectKind.TOPIC:
            return f"{self.group} on {self.topic}"
        return self.group or self.broker or self.cluster


SITE = Subject(SubjectKind.SITE)


def evidence_parts(parts: Sequence[str]) -> str:
    """Several pieces of evidence, one beside the other."""
    return parts[0] if len(parts) == 1 else coded_reason(AlertEvidence.PARTS, parts=parts)


# A measure; or a measure with the findings that a rule seeks.
ColumnKey = Measure | tuple[Measure, tuple[str, ...]]


def column_key(rule: AlertRule) -> ColumnKey:
    measure = Measure(rule.measure)
    return (measure, tuple(rule.findings)) if measure is Measure.FINDINGS else measure


def _nothing(place: int) -> None:
    return None


def _false(place: int) -> bool:
    return False


@dataclass(frozen=True)
class Column:
    """`values[i]` belongs to `subjects[i]`; None is unknown, and `reason(i)` says why.

    `evidence(i)`: a sentence with the numbers. `since(i)`: since when the value is unchanged, where rows say.
    `suppressed(i)`: why rules exclude this subject although the value is known (paused, offline by habit …), or None.
    `is_bound(i)`: the value is the best that is possible, and the actual one may be worse. It passes a condition, and
    never fails one. `absent(i)`: why this subject has no such value, so that nothing is unknown, or None.
    """

    values: Sequence[float | State | None]
    reason: Callable[[int], str]
    evidence: Callable[[int], str]
    since: Callable[[int], datetime | None] = _nothing
    suppressed: Callable[[int], str | None] = _nothing
    is_bound: Callable[[int], bool] = _false
    absent: Callable[[int], str | None] = _nothing


@dataclass(frozen=True)
class Table:
    """Subjects of one kind in one order, with their columns. `labels[i]` are the labels that notes give subject i."""

    subjects: Sequence[Subject]
    columns: Mapping[ColumnKey, Column]
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
    suppressed: Callable[[int], str | None] = lambda _: None,
    is_bound: Callable[[int], bool] = lambda _: False,
    absent: Callable[[int], str | None] = lambda _: None,
) -> Column:
    """An unknown value has its reason as evidence."""

    def evidence(place: int) -> str:
        value = values[place]
        return reason(place) if value is None else words(value)

    return Column(values, reason, evidence, since, suppressed, is_bound, absent)


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
        suppressed=lambda place: ages[place].sentence if ages[place].is_due else None,
    )


# One measure of alert rules, declared beside the code that reads it.
#
# The evaluation, the form, the checks of rules and the preview are built from these declarations. The labels of
# measures are in consumers/alerts/queries/words.py. To add a measure, see docs/architecture.md.


class Unit(StrEnum):
    STATE = "state"
    MESSAGES = "messages"
    SECONDS = "seconds"
    SHARE = "share"
    COUNT = "count"


class Metric(NamedTuple):
    """The gauge of a measure that no other one tells. `unknown_word`: the word for an unknown value, unless one of
    the group's `others` is not known either: then their words say it. `bound`: at_least or at_most, where the value may
    be a bound: the gauge of that name has the value then, and this one has none.
    """

    name: str
    words: str
    unknown_word: UnknownWord
    others: tuple[str, ...]
    bound: str = ""

    @property
    def name_of_bound(self) -> str:
        return f"{self.name}_{self.bound}"


class Series(NamedTuple):
    """The gauge of /metrics that has the values of a measure.

    `excluded_for`: reasons of consumerscope_group_excluded for which rules exclude a group. `doubts`: reasons of
    consumerscope_unknown, without a group, for which a broker, a cluster or the site has no value. `bound`: a gauge and
    its label that tell that the value may pass a condition, and fails none. `bounds`: the gauge that has the value then
    in place of this one; `bounds_if`: only for this reason of consumerscope_unknown.
    """

    name: str
    excluded_for: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    bound: tuple[str, str] | None = None
    bounds: str = ""
    bounds_if: str = ""


@dataclass(frozen=True, kw_only=True)
class MeasureSpec:
    """`reads`: for each kind of subject, the function that makes a column from that kind's scan. A rule applies to the
    first kind. A measure that reads TOPIC also exists for groups' parts of a topic. `most`: no value is larger, and no
    threshold may be.

    `past`: null where only the newest value is stored. `note`: an addition for previews. `is_age`: the value is the
    time since its column's `since`. `is_of_waiting`: the value grows while a group waits, also by habit.
    `knows_exclusions`: the past tells what rules excluded then.
    `seeks_findings`: a rule says which findings it seeks, and the functions take that too. `series`: for the export to
    Prometheus; that of `metric` needs none.
    """

    code: Measure
    unit: Unit
    reads: Mapping[SubjectKind, Callable[..., Column]]
    comparisons: tuple[Comparison, ...] = (Comparison.ABOVE,)
    most: float | None = None
    past: PastSource | None = None
    note: Any = None
    is_age: bool = False
    is_of_waiting: bool = False
    knows_exclusions: bool = False
    seeks_findings: bool = False
    metric: Metric | None = None
    series: Series | None = None

    @property
    def exported(self) -> Series | None:
        """Null where the measure is no gauge of its own."""
        if self.metric is None:
            return self.series
        series = self.series or Series(f"consumerscope_group_{self.metric.name}")
        if self.metric.bound:
            return series._replace(bounds=f"consumerscope_group_{self.metric.name_of_bound}")
        return series

    @property
    def subject(self) -> SubjectKind:
        return next(iter(self.reads))

    @property
    def knows_topics(self) -> bool:
        return SubjectKind.TOPIC in self.reads
