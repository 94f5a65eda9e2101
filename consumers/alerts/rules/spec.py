"""What a rule may say: every field checked by itself, then against the others."""

from collections.abc import Iterator, Mapping
from typing import Any

from consumers.models import AlertRule, Comparison, Measure, SubjectKind

from . import fields as check
from .facts import FACTS, MeasureFacts
from .override_spec import overrides
from .refused import Check, RuleRefused, checked_fields

CHECKS: dict[str, Check] = {
    "name": check.text(100, required=True),
    "enabled": check.truth,
    "measure": check.measure,
    "comparison": check.comparison,
    "threshold": check.number_or_null,
    "states": check.states,
    "clear_threshold": check.number_or_null,
    "for_seconds": check.seconds,
    "clear_seconds": check.seconds,
    "severity": check.severity,
    "cluster": check.pattern(100),
    "group_pattern": check.pattern(255),
    "topic": check.topic,
    "labels": check.labels,
    "overrides": overrides,
    "runbook_url": check.web_address,
    "note": check.lines,
}
REQUIRED = ("name", "measure", "comparison", "severity")
_ABSENT: dict[str, Any] = {
    "enabled": True,
    "threshold": None,
    "states": None,
    "clear_threshold": None,
    "for_seconds": 0.0,
    "clear_seconds": 300.0,
    "cluster": "",
    "group_pattern": "",
    "topic": "",
    "labels": {},
    "overrides": [],
    "runbook_url": "",
    "note": "",
}
Errors = Iterator[tuple[str, str]]


def checked_rule(fields: Mapping[str, Any], rule: AlertRule | None = None) -> dict[str, Any]:
    """All fields of a rule that people write, as they are to be kept. Raises RuleRefused.

    What `fields`, in JSON's types, leaves out is as in `rule`, or as it is where nobody says. One query, for the name.
    """
    before = _ABSENT if rule is None else {name: getattr(rule, name) for name in CHECKS}
    values, errors = checked_fields(before | dict(fields), CHECKS)
    for name in REQUIRED:
        if name not in values and name not in errors:
            errors[name] = "It must be given."
    if not {"measure", "comparison"} & errors.keys():
        for name, sentence in _together(values, errors):
            errors.setdefault(name, sentence)
    if "name" not in errors and _is_taken(values["name"], rule):
        errors["name"] = "Another rule has this name."
    if errors:
        raise RuleRefused(errors)
    return values


def _is_taken(name: str, rule: AlertRule | None) -> bool:
    others = AlertRule.objects.filter(name=name)
    return (others if rule is None or rule.pk is None else others.exclude(pk=rule.pk)).exists()


def _together(values: Mapping[str, Any], errors: Mapping[str, str]) -> Errors:
    measure, comparison = values["measure"], values["comparison"]
    facts = FACTS[measure]
    if comparison not in facts.comparisons:
        yield "comparison", f"{measure} is compared by {' or '.join(facts.comparisons)}."
        return
    yield from _of_states(measure, values) if comparison == Comparison.IN else _of_numbers(measure, values, errors)
    yield from _of_selection(measure, facts, values)


def _of_states(measure: Measure, values: Mapping[str, Any]) -> Errors:
    if values.get("states", ()) is None:
        yield "states", f'{measure} is compared with a list of states, as ["STOP", "STALL"].'
    for name in ("threshold", "clear_threshold"):
        if values.get(name) is not None:
            yield name, f"{measure} is compared with states: it has no {name}."
    if any(one.keys() & {"threshold", "clear_threshold"} for one in values.get("overrides", ())):
        yield "overrides", f"{measure} is compared with states: no override has a threshold."


def _of_numbers(measure: Measure, values: Mapping[str, Any], errors: Mapping[str, str]) -> Errors:
    if values.get("states") is not None:
        yield "states", f"{measure} is compared with a threshold: it has no states."
    if {"threshold", "clear_threshold"} & errors.keys():
        return
    comparison, threshold, clear = values["comparison"], values["threshold"], values["clear_threshold"]
    if threshold is None:
        yield "threshold", f"{measure} is compared with a number: give it a threshold."
        return
    if wrong := _wrong_pair(comparison, threshold, clear):
        yield wrong
    for place, one in enumerate(values.get("overrides", ()), start=1):
        own = one.get("threshold", threshold)
        kept = clear if own == threshold else None
        if wrong := _wrong_pair(comparison, own, one.get("clear_threshold", kept)):
            yield "overrides", f"Of override {place}, {wrong[0]}: {wrong[1]}"


def _wrong_pair(comparison: Comparison, threshold: float, clear: float | None) -> tuple[str, str] | None:
    if comparison == Comparison.BELOW and threshold <= 0:
        return "threshold", "Nothing is below 0: it must be above."
    if clear is None:
        return None
    if comparison == Comparison.ABOVE and clear > threshold:
        return "clear_threshold", f"A value is over it before it is over the threshold: {threshold:g} at most."
    if comparison == Comparison.BELOW and clear < threshold:
        return "clear_threshold", f"A value is below the threshold before it is below it: {threshold:g} at least."
    return None


def _of_selection(measure: Measure, facts: MeasureFacts, values: Mapping[str, Any]) -> Errors:
    if values.get("topic") and not facts.knows_topics:
        known = ", ".join(one for one, others in FACTS.items() if others.knows_topics)
        yield "topic", f"{measure} is not known by topic; these are: {known}."
    if facts.subject == SubjectKind.GROUP:
        return
    for name in ("group_pattern", "labels"):
        if values.get(name):
            yield name, f"{measure} is not of groups, but of a {facts.subject}: it must be empty."
    if facts.subject == SubjectKind.SITE and values.get("cluster"):
        yield "cluster", f"{measure} is of the whole site: it must be empty."
    if any(one.get("group_pattern") for one in values.get("overrides", ())):
        yield "overrides", f"{measure} is not of groups, but of a {facts.subject}: an override names a cluster alone."
