"""What somebody types into the form of an alert rule, and the fields that it makes: those of its measure."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from consumers.alerts.rules.facts import FACTS, Unit
from consumers.models import AlertRule, Comparison, Measure, Severity, State, SubjectKind
from consumers.selectors.alerts.words import MEASURES
from consumers.words.states import STATES as STATE_WORDS
from dashboard.wording.alerts import SEVERITIES

from .label_lines import labels_of, lines_of_labels
from .override_lines import lines_of_overrides, overrides_of
from .rule_numbers import length_of, number_of, typed_length, typed_number

TEXTS = ("name", "cluster", "group_pattern", "topic", "runbook_url", "note")
LENGTHS = ("for_seconds", "clear_seconds")
STATES = [state for state in State if state not in (State.OK, State.UNKNOWN)]
SIDES: dict[str, str | Promise] = {Comparison.ABOVE: gettext_lazy("above"), Comparison.BELOW: gettext_lazy("below")}
HINTS: dict[Unit, str | Promise] = {
    Unit.MESSAGES: gettext_lazy("messages, as 1,000"),
    Unit.SECONDS: gettext_lazy("a length of time, as 90 s, 30 min or 2 h"),
    Unit.SHARE: gettext_lazy("a share, as 10 %"),
    Unit.COUNT: gettext_lazy("a number"),
}


def empty() -> QueryDict:
    """The form of a rule that there is not yet."""
    said = QueryDict(mutable=True)
    said.update({"measure": Measure.TIME_LAG, "enabled": "1", "severity": Severity.WARNING})
    said.update({"for_seconds": "5 min", "clear_seconds": "5 min"})
    return said


def stored(rule: AlertRule) -> QueryDict:
    """The form of a rule as it is."""
    measure = Measure(rule.measure)
    said = QueryDict(mutable=True)
    said.update({name: getattr(rule, name) for name in TEXTS})
    said.update({"measure": measure, "comparison": rule.comparison, "severity": rule.severity})
    said.update({name: typed_length(getattr(rule, name)) for name in LENGTHS})
    said.update({name: typed_number(getattr(rule, name), measure) for name in ("threshold", "clear_threshold")})
    said.update({"labels": lines_of_labels(rule.labels), "overrides": lines_of_overrides(rule.overrides, measure)})
    said.setlist("states", rule.states or [])
    if rule.enabled:
        said["enabled"] = "1"
    return said


def measure_of(said: Mapping[str, str]) -> Measure:
    """That of an unknown name is the first that the form offers."""
    name = said.get("measure", "")
    return Measure(name) if name in Measure.values else Measure.TIME_LAG


def wish(said: QueryDict) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields of a rule, and a sentence for each that cannot be read. What its measure does not have is left out."""
    measure = measure_of(said)
    facts = FACTS[measure]
    is_of_states = facts.unit == Unit.STATE
    fields: dict[str, Any] = {name: said.get(name, "").strip() for name in TEXTS}
    fields |= {"measure": measure.value, "severity": said.get("severity", ""), "enabled": said.get("enabled") == "1"}
    fields["comparison"] = _comparison(said, measure)
    fields["states"] = said.getlist("states") if is_of_states else None
    errors: dict[str, str] = {}
    if said.get("measure") not in Measure.values:
        errors["measure"] = gettext("Choose what the rule looks at.")
    for name in ("threshold", "clear_threshold"):
        fields[name] = None
        if not is_of_states:
            _read(fields, errors, name, lambda name=name: number_of(said.get(name, ""), measure))  # type: ignore[misc]
    for name in LENGTHS:
        _read(fields, errors, name, lambda name=name: length_of(said.get(name, "")))  # type: ignore[misc]
    _read(fields, errors, "labels", lambda: labels_of(said.get("labels", "")))
    _read(fields, errors, "overrides", lambda: overrides_of(said.get("overrides", ""), measure))
    for name in _not_of(measure):
        fields[name] = {} if name == "labels" else ""
        errors.pop(name, None)
    return fields, errors


def shown_fields(said: QueryDict) -> dict[str, Any]:
    """What the template needs to show the fields of the measure."""
    measure = measure_of(said)
    facts = FACTS[measure]
    return {
        "measures": [(one.value, MEASURES[one], one == measure) for one in Measure],
        "is_of_states": facts.unit == Unit.STATE,
        "states": [(state.value, STATE_WORDS[state], state in said.getlist("states")) for state in STATES],
        "sides": [(side.value, SIDES[side], side == _comparison(said, measure)) for side in facts.comparisons]
        if facts.unit != Unit.STATE
        else [],
        "number_hint": HINTS.get(facts.unit, ""),
        "severities": [(one.value, SEVERITIES[one], one.value == said.get("severity")) for one in Severity],
        "left_out": _not_of(measure),
    }


def _comparison(said: Mapping[str, str], measure: Measure) -> str:
    """Most measures know one alone."""
    known = FACTS[measure].comparisons
    typed = said.get("comparison", "")
    return typed if typed in known else known[0].value


def _not_of(measure: Measure) -> list[str]:
    facts = FACTS[measure]
    absent = [] if facts.knows_topics else ["topic"]
    if facts.subject != SubjectKind.GROUP:
        absent += ["group_pattern", "labels"]
    return [*absent, "cluster"] if facts.subject == SubjectKind.SITE else absent


def _read(fields: dict[str, Any], errors: dict[str, str], name: str, read: Callable[[], Any]) -> None:
    try:
        fields[name] = read()
    except ValueError as wrong:
        errors[name] = str(wrong)
