"""Evaluates subjects under rules; keeps only those that pass the condition or have an open incident."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from consumers.alerts.measured import Column, Measured, Table
from consumers.alerts.rules.selection import Selection
from consumers.alerts.rules.terms import RuleTerms, Terms, Value
from consumers.alerts.subjects import Subject
from consumers.models import AlertRule, Incident, Measure

from .machine import Look

# A rule's open incidents by the key of their subject.
Open = Mapping[str, Incident]


@dataclass(frozen=True, slots=True)
class Place:
    """One subject in one column."""

    column: Column
    subject: Subject
    number: int
    labels: Mapping[str, str]

    @property
    def value(self) -> Value:
        return self.column.values[self.number]

    @property
    def since(self) -> datetime | None:
        return self.column.since(self.number)

    @property
    def spared(self) -> str | None:
        return self.column.spared(self.number)

    @property
    def evidence(self) -> str:
        """The evidence; for a suppressed subject, the reason of the suppression."""
        return self.spared or self.column.evidence(self.number)

    @property
    def reason(self) -> str:
        return self.column.reason(self.number)


@dataclass(frozen=True, slots=True)
class Seen:
    """`place` and `terms` are null where the subject does not exist any more or the rule does not select it."""

    look: Look
    rule: AlertRule | None
    incident: Incident | None
    place: Place | None = None
    terms: Terms | None = None


def seen(measured: Measured, rules: Sequence[AlertRule], incidents: Iterable[Incident]) -> Iterator[Seen]:
    """`incidents`: all open incidents with their rules; `rules`: all enabled rules."""
    opened: dict[int, dict[str, Incident]] = {rule.pk: {} for rule in rules}
    for incident in incidents:
        if incident.rule_id in opened:
            opened[incident.rule_id][incident.subject_key] = incident
        else:
            yield Seen(Look.UNSELECTED, incident.rule, incident)
    places = {id(table): _places(table) for table in _tables(measured)} if any(opened.values()) else {}
    for rule in rules:
        yield from _under(rule, measured, opened[rule.pk], places)


def _under(
    rule: AlertRule, measured: Measured, opened: Open, places: Mapping[int, Mapping[str, int]]
) -> Iterator[Seen]:
    measure, found = Measure(rule.measure), set()
    for table in _tables(measured, rule.topic):
        if measure not in table.columns:
            continue
        numbers = places.get(id(table), {})
        open_at = {numbers[key]: incident for key, incident in opened.items() if key in numbers}
        found |= {incident.subject_key for incident in open_at.values()}
        yield from _in_table(rule, table, open_at)
    for key, incident in opened.items():
        if key not in found:
            look = Look.UNSELECTED if _is_of_another_kind(rule, incident) else Look.GONE
            yield Seen(look, rule, incident)


def _in_table(rule: AlertRule, table: Table, open_at: Mapping[int, Incident]) -> Iterator[Seen]:
    terms, selection = RuleTerms.of(rule), Selection.of(rule)
    column = table.columns[Measure(rule.measure)]
    for number, value in enumerate(column.values):
        incident = open_at.get(number)
        if incident is None and (value is None or (not terms.overrides and not terms.own.holds(value))):
            continue
        place = Place(column, table.subjects[number], number, table.labels[number])
        its = terms.terms(place.subject) if selection.takes(place.subject, place.labels) else None
        if its is None or (incident is not None and incident.measure != rule.measure):
            if incident is not None:
                yield Seen(Look.UNSELECTED, rule, incident)
        elif incident is not None or its.holds(value):
            yield Seen(_look(its, place), rule, incident, place, its)


def _look(terms: Terms, place: Place) -> Look:
    if place.value is None:
        return Look.UNKNOWN
    if place.spared is not None or terms.cleared(place.value):
        return Look.OVER
    return Look.HOLDS if terms.holds(place.value) else Look.BETWEEN


def _is_of_another_kind(rule: AlertRule, incident: Incident) -> bool:
    return incident.measure != rule.measure or incident.topic_name != rule.topic


def _tables(measured: Measured, topic: str | None = None) -> list[Table]:
    """The tables for a rule that names `topic` ("" is none), or all tables."""
    whole = [measured.groups, measured.brokers, measured.clusters, measured.site]
    if topic is None:
        return [*whole, *measured.topics.values()]
    if topic:
        return [measured.topics[topic]] if topic in measured.topics else []
    return whole


def _places(table: Table) -> dict[str, int]:
    return {subject.key: number for number, subject in enumerate(table.subjects)}
