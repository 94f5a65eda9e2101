"""The fields of a rule: each is checked by itself, then against the others."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext, gettext_lazy as _

from consumers.alerts import fields as check
from consumers.alerts.measures.registry import SPECS
from consumers.models import AlertRule, Comparison, Measure, Severity, State, SubjectKind
from consumers.words.marks import listed

from .fields import (
    CLUSTER_SCOPE,
    AlertRefused,
    Check,
    EntryField,
    Shape,
    WrongValue,
    checked_fields,
    checks_of,
    defaults_of,
)
from .measured import MeasureSpec

Errors = Iterator[tuple[str, str]]

# Overrides: the subjects that each one names, and the values that apply to them instead.

MOST_OVERRIDES = 500
OVERRIDE_CHECKS: dict[str, Check] = {
    "cluster": check.pattern(100),
    "group_pattern": check.pattern(255),
    "enabled": check.truth,
    "threshold": check.number,
    "clear_threshold": check.number_or_null,
    "for_seconds": check.seconds,
    "severity": check.severity,
}
SELECTS = ("cluster", "group_pattern")


def overrides(value: Any) -> list[dict[str, Any]]:
    """The overrides, ready to be stored; the check of the whole rule compares their thresholds with the rule's own."""
    if not isinstance(value, list | tuple) or len(value) > MOST_OVERRIDES:
        raise WrongValue(gettext("Must be a list of at most %s overrides.") % MOST_OVERRIDES)
    return [_override(place, one) for place, one in enumerate(value, start=1)]


def _override(place: int, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise WrongValue(
            gettext("Override %(place)s must be an object with at least one of %(names)s.")
            % {"place": place, "names": listed(OVERRIDE_CHECKS)}
        )
    found, errors = checked_fields(value, OVERRIDE_CHECKS)
    if errors:
        name, sentence = next(iter(errors.items()))
        raise WrongValue(_of_override(place, name, sentence))
    if not any(found.get(name) for name in SELECTS):
        raise WrongValue(gettext("Override %s must name a cluster, a group_pattern or both.") % place)
    if not found.keys() - set(SELECTS):
        raise WrongValue(
            gettext("Override %(place)s changes nothing: set at least one of %(names)s.")
            % {"place": place, "names": listed(list(OVERRIDE_CHECKS)[2:])}
        )
    return found


def _of_override(place: int, name: str, error: str) -> str:
    return gettext("Override %(place)s, %(name)s: %(error)s") % {"place": place, "name": name, "error": error}


RULE_FIELDS = (
    EntryField(
        name="name",
        shape=Shape.TEXT,
        check=check.text(100, required=True),
        longest=100,
        label=_("Name"),
        hint=_("shown in incidents and notifications"),
    ),
    EntryField(
        name="enabled",
        label=_("Enabled"),
        shape=Shape.TRUTH,
        check=check.truth,
        default=True,
        help_text="By default true",
    ),
    EntryField(name="measure", label=_("Measure"), shape=Shape.CHOICE, check=check.measure, choices=Measure),
    EntryField(
        name="comparison",
        label=_("Condition"),
        shape=Shape.CHOICE,
        check=check.comparison,
        choices=Comparison,
        help_text="in: of states",
    ),
    EntryField(name="threshold", label=_("Threshold"), shape=Shape.NUMBER, check=check.number_or_null, default=None),
    EntryField(name="states", label=_("States"), shape=Shape.STATES, check=check.states, default=None, choices=State),
    EntryField(
        name="findings",
        label=_("Findings"),
        hint=_("codes or severities, one on each line: critical; or critical, -lost_offsets"),
        shape=Shape.FINDINGS,
        check=check.findings,
        default=[],
        help_text="Codes and severities; with `-` before a code: not this one",
    ),
    EntryField(
        name="clear_threshold",
        label=_("Resolve threshold"),
        hint=_("the incident resolves only beyond this value; empty: the threshold"),
        shape=Shape.NUMBER,
        check=check.number_or_null,
        default=None,
        help_text="Resolves only when the value is not beyond this one; null: the threshold",
    ),
    EntryField(
        name="for_seconds",
        label=_("Pending time"),
        hint=_("the condition must pass for so long, such as 5 min; 0 s: fires at once"),
        shape=Shape.SECONDS,
        check=check.seconds,
        default=0.0,
        help_text="By default 0",
    ),
    EntryField(
        name="clear_seconds",
        label=_("Resolve time"),
        hint=_("the condition must fail for so long, such as 5 min"),
        shape=Shape.SECONDS,
        check=check.seconds,
        default=300.0,
        help_text="By default 300",
    ),
    EntryField(name="severity", label=_("Severity"), shape=Shape.CHOICE, check=check.severity, choices=Severity),
    CLUSTER_SCOPE,
    check.group_scope(_("a name, or a pattern with * and ?; empty: all")),
    check.topic_scope(_("evaluates each group's part of this topic; empty: whole groups")),
    check.labels_field(_("team=payments, one per line; the notes about a group must set all of them")),
    EntryField(
        name="overrides",
        label=_("Overrides"),
        hint=_(
            "one per line, the first match applies: audit* on prod: threshold=10 min, clear=5 min, for=2 min, "
            "severity=critical; or audit*: off"
        ),
        shape=Shape.OVERRIDES,
        check=overrides,
        default=[],
        help_text="[{cluster, group_pattern, and any of enabled, threshold, clear_threshold, for_seconds, severity}]",
    ),
    check.runbook_field(_("https://…; a note about the group takes precedence")),
    check.note_field(_("meaning, and the first steps")),
)
CHECKS = checks_of(RULE_FIELDS)


def checked_rule(fields: Mapping[str, Any], rule: AlertRule | None = None) -> dict[str, Any]:
    """All fields of a rule that people write, ready to be stored. Raises AlertRefused.

    A field that `fields` (in JSON's types) leaves out is taken from `rule`, or has its default. One query, for the
    name.
    """
    before = defaults_of(RULE_FIELDS) if rule is None else {name: getattr(rule, name) for name in CHECKS}
    values, errors = checked_fields(before | dict(fields), CHECKS)
    for field in RULE_FIELDS:
        if field.is_required and field.name not in values:
            errors.setdefault(field.name, gettext("Required."))
    if not {"measure", "comparison"} & errors.keys():
        for name, sentence in _together(values, errors):
            errors.setdefault(name, sentence)
    if "name" not in errors and _is_taken(values["name"], rule):
        errors["name"] = gettext("Another rule has this name.")
    if errors:
        raise AlertRefused(errors)
    return values


def _is_taken(name: str, rule: AlertRule | None) -> bool:
    others = AlertRule.objects.filter(name=name)
    return (others if rule is None or rule.pk is None else others.exclude(pk=rule.pk)).exists()


def _together(values: Mapping[str, Any], errors: Mapping[str, str]) -> Errors:
    measure, comparison = values["measure"], values["comparison"]
    spec = SPECS[measure]
    if comparison not in spec.comparisons:
        yield (
            "comparison",
            gettext("%(measure)s needs one of these comparisons: %(comparisons)s.")
            % {
                "measure": measure,
                "comparisons": listed(spec.comparisons),
            },
        )
        return
    yield from _of_states(measure, values) if comparison == Comparison.IN else _of_numbers(measure, values, errors)
    if spec.most is not None:
        yield from _of_limits(spec.most, values)
    yield from _of_findings(measure, spec, values)
    yield from _of_selection(measure, spec, values)


def _of_states(measure: Measure, values: Mapping[str, Any]) -> Errors:
    if values.get("states", ()) is None:
        yield "states", gettext('%s is compared with a list of states, as ["STOP", "STALL"].') % measure
    for name in ("threshold", "clear_threshold"):
        if values.get(name) is not None:
            yield (
                name,
                gettext("%(measure)s is compared with states: it has no %(name)s.")
                % {"measure": measure, "name": name},
            )
    if any(one.keys() & {"threshold", "clear_threshold"} for one in values.get("overrides", ())):
        yield "overrides", gettext("%s is compared with states: no override has a threshold.") % measure


def _of_numbers(measure: Measure, values: Mapping[str, Any], errors: Mapping[str, str]) -> Errors:
    if values.get("states") is not None:
        yield "states", gettext("%s is compared with a threshold: it has no states.") % measure
    if {"threshold", "clear_threshold"} & errors.keys():
        return
    comparison, threshold, clear = values["comparison"], values["threshold"], values["clear_threshold"]
    if threshold is None:
        yield "threshold", gettext("%s is compared with a number: give it a threshold.") % measure
        return
    if wrong := _wrong_pair(comparison, threshold, clear):
        yield wrong
    for place, one in enumerate(values.get("overrides", ()), start=1):
        own = one.get("threshold", threshold)
        own_clear = clear if own == threshold else None
        if wrong := _wrong_pair(comparison, own, one.get("clear_threshold", own_clear)):
            yield "overrides", _of_override(place, *wrong)


def _of_limits(most: float, values: Mapping[str, Any]) -> Errors:
    wrong = gettext("No value is above %s: enter at most that.") % f"{most:,.10g}"
    for name in ("threshold", "clear_threshold"):
        if (values.get(name) or 0) > most:
            yield name, wrong
    for place, one in enumerate(values.get("overrides", ()), start=1):
        for name in ("threshold", "clear_threshold"):
            if (one.get(name) or 0) > most:
                yield "overrides", _of_override(place, name, wrong)


def _of_findings(measure: Measure, spec: MeasureSpec, values: Mapping[str, Any]) -> Errors:
    if spec.seeks_findings and values.get("findings", ("",)) == []:
        yield "findings", gettext('Name the findings to select, such as ["critical"].')
    if not spec.seeks_findings and values.get("findings"):
        yield "findings", gettext("%s selects no findings: this must be empty.") % measure


def _wrong_pair(comparison: Comparison, threshold: float, clear: float | None) -> tuple[str, str] | None:
    if comparison == Comparison.BELOW and threshold <= 0:
        return "threshold", gettext("No value is below 0: enter a value above 0.")
    if clear is None:
        return None
    if comparison == Comparison.ABOVE and clear > threshold:
        return "clear_threshold", gettext(
            "An incident resolves at or below the threshold: enter at most %s."
        ) % f"{threshold:g}"
    if comparison == Comparison.BELOW and clear < threshold:
        return "clear_threshold", gettext(
            "An incident resolves at or above the threshold: enter at least %s."
        ) % f"{threshold:g}"
    return None


def _of_selection(measure: Measure, spec: MeasureSpec, values: Mapping[str, Any]) -> Errors:
    if values.get("topic") and not spec.knows_topics:
        known = listed(one for one, others in SPECS.items() if others.knows_topics)
        yield (
            "topic",
            gettext("%(measure)s is not known by topic; these are: %(known)s.") % {"measure": measure, "known": known},
        )
    if spec.subject == SubjectKind.GROUP:
        return
    words = {"measure": measure, "subject": spec.subject}
    for name in ("group_pattern", "labels"):
        if values.get(name):
            yield name, gettext("%(measure)s is a measure of a %(subject)s, not of groups: this must be empty.") % words
    if spec.subject == SubjectKind.SITE and values.get("cluster"):
        yield "cluster", gettext("%s is a measure of the site: this must be empty.") % measure
    if any(one.get("group_pattern") for one in values.get("overrides", ())):
        yield (
            "overrides",
            gettext("%(measure)s is a measure of a %(subject)s, not of groups: an override can name a cluster only.")
            % words,
        )
