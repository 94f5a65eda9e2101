"""The terms of a rule for one subject: the rule's own, or those of the first override that names the subject. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from consumers.models import AlertRule, Comparison, Severity, State

from .measured import Subject

_NO_LABELS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Selection:
    """An empty selection selects everything. Patterns have * and ?, and are case-sensitive.

    A group pattern selects groups and their parts of topics; a topic selects only these parts; labels select only
    subjects that have all of them.
    """

    cluster: str = ""
    group_pattern: str = ""
    topic: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Any) -> "Selection":
        """The selection of a rule, a silence, or a channel, which has no topic."""
        return cls(row.cluster, row.group_pattern, getattr(row, "topic", ""), row.labels)

    def takes(self, subject: Subject, labels: Mapping[str, str] = _NO_LABELS) -> bool:
        """`labels`: those that notes give the subject."""
        return (
            _fits(self.cluster, subject.cluster)
            and _fits(self.group_pattern, subject.group)
            and _fits(self.topic, subject.topic)
            and (not self.labels or all(labels.get(name) == value for name, value in self.labels.items()))
        )


def _fits(pattern: str, name: str) -> bool:
    """A name that the subject does not have matches the empty pattern only."""
    return not pattern or (name != "" and (pattern == name or fnmatchcase(name, pattern)))


Value = float | State | None


@dataclass(frozen=True)
class Terms:
    """`clear_threshold` null is the threshold itself. An unknown value neither passes nor clears the condition."""

    comparison: Comparison
    threshold: float | None
    clear_threshold: float | None
    states: frozenset[State]
    for_seconds: float
    clear_seconds: float
    severity: Severity

    def for_seconds_since(self, *, is_age: bool) -> float:
        """For how long the condition must pass, counted from the `since` of the value: an age passes it only once it is
        as old as the threshold."""
        return self.for_seconds + (self.threshold or 0 if is_age else 0)

    def holds(self, value: Value) -> bool:
        return value is not None and self._is_beyond(value, self.threshold)

    def cleared(self, value: Value) -> bool:
        """Whether the value is beyond neither threshold."""
        if value is None or self.holds(value):
            return False
        return self.clear_threshold is None or not self._is_beyond(value, self.clear_threshold)

    def _is_beyond(self, value: float | State, threshold: float | None) -> bool:
        if self.comparison == Comparison.IN:
            return value in self.states
        if threshold is None or isinstance(value, State):
            raise TypeError(f"A number is compared with a threshold: got {value!r} and {threshold!r}.")
        return value > threshold if self.comparison == Comparison.ABOVE else value < threshold


@dataclass(frozen=True)
class RuleTerms:
    """The terms of one rule for all subjects, made once: `overrides` in their order, null where one disables
    the rule.
    """

    own: Terms
    overrides: tuple[tuple[Selection, Terms | None], ...]

    @classmethod
    def of(cls, rule: AlertRule) -> "RuleTerms":
        own = _own(rule)
        return cls(own, tuple((_selection(one), _overridden(own, one)) for one in rule.overrides))

    def terms(self, subject: Subject) -> Terms | None:
        """None where the rule is disabled for the subject."""
        for selection, terms in self.overrides:
            if selection.takes(subject):
                return terms
        return self.own


def _own(rule: AlertRule) -> Terms:
    return Terms(
        comparison=Comparison(rule.comparison),
        threshold=rule.threshold,
        clear_threshold=rule.clear_threshold,
        states=frozenset(State(state) for state in rule.states or ()),
        for_seconds=rule.for_seconds,
        clear_seconds=rule.clear_seconds,
        severity=Severity(rule.severity),
    )


def _selection(override: Mapping[str, Any]) -> Selection:
    return Selection(override.get("cluster", ""), override.get("group_pattern", ""))


def _overridden(own: Terms, override: Mapping[str, Any]) -> Terms | None:
    """An override with its own threshold drops the rule's clear threshold, which may lie on the wrong side of it."""
    if override.get("enabled") is False:
        return None
    threshold = override.get("threshold", own.threshold)
    clear_threshold = own.clear_threshold if threshold == own.threshold else None
    return Terms(
        comparison=own.comparison,
        threshold=threshold,
        clear_threshold=override.get("clear_threshold", clear_threshold),
        states=own.states,
        for_seconds=override.get("for_seconds", own.for_seconds),
        clear_seconds=own.clear_seconds,
        severity=Severity(override.get("severity", own.severity)),
    )
