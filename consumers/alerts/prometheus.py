"""Alert rules as rules for Prometheus, over the gauges of /metrics.

Unknown is absent in /metrics, so that a comparison alone would stay silent. Each rule therefore comes with a second
one, which fires where the first cannot tell, and an alert whose value becomes unknown stays until the value is known.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType

from django.utils.translation import gettext as _

from consumers.alerts.measures.registry import SPECS
from consumers.alerts.queries.words import measure_words, rule_words
from consumers.alerts.rule_terms import RuleTerms, Selection, Terms
from consumers.models import AlertRule, Comparison, Measure, State, SubjectKind
from consumers.vocabulary.findings import FindingCode, FindingSeverity

UNKNOWN, EXCLUDED, STATE = "consumerscope_unknown", "consumerscope_group_excluded", "consumerscope_group_state"
FINDING, LOST = "consumerscope_finding", "consumerscope_group_lost_queues"
# Causes of an unknown lag that lie in the group's nature: no rule waits for its lag.
BY_NATURE = "no_offsets|retired_only|outside_store|never_committed|topic_gone|queue_gone|not_reported"
# Causes for which nothing of a group is known.
UNREAD = "broker_.*|no_broker"
# Causes that unknown_seconds leaves to the rules of brokers, clusters and the site; and those that are the group's own.
OUTSIDE, OWN = (
    f"{UNREAD}|judgement_late|offset_lost",
    "consumer_ahead|no_broker_offset|slave_behind|queue_unknown",
)
# How long a value must be unknown, at the least, before Prometheus reports it.
UNKNOWN_SECONDS = 300.0
LABELS = {
    SubjectKind.GROUP: ("cluster", "group"),
    SubjectKind.BROKER: ("cluster", "broker"),
    SubjectKind.CLUSTER: ("cluster",),
    SubjectKind.SITE: (),
}


def quoted(text: str) -> str:
    """A string of PromQL and of YAML."""
    return json.dumps(text, ensure_ascii=False)


def regex(pattern: str) -> str:
    """A pattern with * and ? as RE2, which Prometheus anchors."""
    marks = {"*": ".*", "?": "."}
    return "".join(marks.get(one) or (f"\\{one}" if one in r"\.+()|[]{}^$" else one) for one in pattern)


def _matcher(label: str, pattern: str, *, negated: bool = False) -> str:
    if "*" in pattern or "?" in pattern:
        return f"{label}{'!~' if negated else '=~'}{quoted(regex(pattern))}"
    return f"{label}{'!=' if negated else '='}{quoted(pattern)}"


def _matchers(selection: Selection, *, negated: bool = False) -> list[str]:
    named = (("cluster", selection.cluster), ("group", selection.group_pattern))
    return [_matcher(label, pattern, negated=negated) for label, pattern in named if pattern]


@dataclass(frozen=True)
class Scope:
    """Subjects that all of `within` select, and none of `without`."""

    within: tuple[Selection, ...]
    without: tuple[Selection, ...] = ()

    def of(self, function: str, by: Sequence[str], name: str, *more: str) -> str:
        """The gauge `name`, aggregated by labels."""
        single = [one for one in self.without if len(_matchers(one)) == 1]
        wanted = [*more, *(matcher for one in self.within for matcher in _matchers(one))]
        wanted += [matcher for one in single for matcher in _matchers(one, negated=True)]
        labels = ", ".join(by)
        pairs = [_selector(name, [*more, *_matchers(one)]) for one in self.without if one not in single]
        parts = [
            f"{function} by ({labels}) ({_selector(name, wanted)})",
            *(f"unless on ({labels}) {one}" for one in pairs),
        ]
        return f"({' '.join(parts)})" if pairs else parts[0]


def _selector(name: str, matchers: Iterable[str]) -> str:
    wanted = ",".join(dict.fromkeys(matchers))
    return f"{name}{{{wanted}}}" if wanted else name


@dataclass(frozen=True)
class Variant:
    """A rule under one override, or beside all of them: expressions that have a value where they hold.

    `passes(threshold)`: the condition. `unknown`: nobody knows whether the condition passes.
    """

    rule: AlertRule
    terms: Terms
    scope: Scope
    number: int | None = None

    @property
    def measure(self) -> Measure:
        return Measure(self.rule.measure)

    @property
    def by(self) -> tuple[str, ...]:
        if self.measure in (Measure.LOST, Measure.FINDINGS):
            return LABELS[SubjectKind.GROUP]
        return LABELS[SPECS[self.measure].subject]

    @property
    def on(self) -> str:
        return f"on ({', '.join(self.by)})"

    @property
    def value(self) -> str:
        spec = SPECS[self.measure]
        if self.measure is Measure.STATE:
            states = "|".join(sorted(self.terms.states))
            return self.scope.of("max", self.by, STATE, f'state=~"{states}"')
        if self.measure is Measure.FINDINGS:
            return self.scope.of("sum", self.by, FINDING, *sought_matchers(self.rule.findings))
        if self.measure is Measure.LOST:
            return self.scope.of("sum", self.by, LOST)
        if spec.exported is None:
            raise LookupError(f"No gauge has {self.measure}.")
        return self.scope.of("max", self.by, spec.exported.name)

    def passes(self, threshold: float | None) -> str:
        if self.measure is Measure.UNKNOWN:
            state = self.scope.of("max", self.by, STATE, f'state="{State.UNKNOWN}"')
            own = self.scope.of("max", self.by, UNKNOWN, f'reason=~"{OWN}"')
            return f'({state} or {own}) unless {self.on} {UNKNOWN}{{reason=~"{OUTSIDE}"}}'
        if threshold is None:
            return f"{self.value} == 1"
        compared = f"{'>' if self.terms.comparison == Comparison.ABOVE else '<'} {threshold:.15g}"
        exported = SPECS[self.measure].exported
        if exported is None or not exported.bounds:
            return f"{self.value} {compared}"
        bound = f"{self.scope.of('max', self.by, exported.bounds)} {compared}"
        if exported.bounds_if:
            bound = f'({bound} and {self.on} {UNKNOWN}{{reason="{exported.bounds_if}"}})'
        return f"({self.value} {compared} or {self.on} {bound})"

    @property
    def unknown(self) -> str:
        spec = SPECS[self.measure]
        if self.measure is Measure.STATE:
            return self.scope.of("max", self.by, STATE, f'state="{State.UNKNOWN}"')
        if self.measure is Measure.UNKNOWN:
            return self.scope.of("max", self.by, UNKNOWN, 'group!=""', f'reason=~"{OUTSIDE}"')
        if self.measure is Measure.FINDINGS:
            late = self.scope.of("max", self.by, FINDING, f'severity="{FindingSeverity.UNKNOWN}"')
            unread = self.scope.of("max", self.by, UNKNOWN, 'group!=""', f'reason=~"{UNREAD}"')
            doubt = f"({late} or {self.on} {unread})"
            return f"{doubt} unless {self.on} ({self.passes(self.terms.threshold)})"
        if spec.exported is not None and spec.exported.doubts:
            doubts = "|".join(spec.exported.doubts)
            return self.scope.of("max", self.by[:1], UNKNOWN, 'group=""', f'reason=~"{doubts}"')
        nobody = self.scope.of("max", self.by, UNKNOWN, 'group!=""')
        lag = f' unless {self.on} {UNKNOWN}{{reason=~"{BY_NATURE}"}}' if needs_lag(self.measure) else ""
        absent = f"{nobody} unless {self.on} {self.value}{lag}"
        passes = f"unless {self.on} ({self.passes(self.terms.threshold)})"
        if spec.exported is not None and spec.exported.bounds:
            return f"{absent} {passes}"
        if spec.exported is None or spec.exported.bound is None:
            return absent
        bound = self.scope.of("max", self.by, *spec.exported.bound)
        return f"({absent}) or {self.on} ({bound} {passes})"

    @property
    def unless_excluded(self) -> str:
        exported = SPECS[self.measure].exported
        if exported is None or not exported.excluded_for:
            return ""
        return f'unless {self.on} {EXCLUDED}{{reason=~"{"|".join(exported.excluded_for)}"}}'

    @property
    def fires(self) -> str:
        """Also while the value lies between the two thresholds, or is unknown, of what fires already."""
        firing = f'ALERTS{{alertname={quoted(self.rule.name)},alertstate="firing"}}'
        parts = [self.passes(self.terms.threshold)]
        if self.terms.clear_threshold is not None and self.measure is not Measure.UNKNOWN:
            parts.append(f"{self.passes(self.terms.clear_threshold)} and {self.on} {firing}")
        if "group" in self.by:
            parts.append(f"max by ({', '.join(self.by)}) ({firing}) and {self.on} ({self.unknown})")
        lines = f"\nor {self.on}\n".join(parts)
        return f"({lines})\n{self.unless_excluded}".strip() if len(parts) > 1 or self.unless_excluded else lines

    @property
    def cannot_tell(self) -> str:
        return f"({self.unknown}) {self.unless_excluded}".strip()

    @property
    def words(self) -> str:
        """The rule's sentence, with the numbers of the override."""
        shown = copy(self.rule)
        shown.threshold, shown.clear_threshold = self.terms.threshold, self.terms.clear_threshold
        shown.for_seconds = self.terms.for_seconds
        return rule_words(shown)

    @property
    def for_seconds(self) -> float:
        """For so long the state or lag of a group must have been unknown: Prometheus counts that itself."""
        waits = self.terms.threshold or 0.0 if self.measure is Measure.UNKNOWN else 0.0
        return self.terms.for_seconds + waits


def needs_lag(measure: Measure) -> bool:
    return SPECS[measure].is_of_waiting or measure is Measure.EXPIRED


def sought_matchers(sought: Sequence[str]) -> list[str]:
    """Codes and severities that a rule seeks as matchers of consumerscope_finding."""
    severities = [one for one in FindingSeverity if one in sought]
    codes = [one for one in FindingCode if one in sought]
    left_out = [one.removeprefix("-") for one in sought if one.startswith("-")]
    known = [f'severity!="{FindingSeverity.UNKNOWN}"'] if not severities else [f'severity=~"{"|".join(severities)}"']
    if codes:
        known.append(f'code=~"{"|".join(codes)}"')
    return [*known, f'code!~"{"|".join(left_out)}"'] if left_out else known


def variants(rule: AlertRule) -> list[Variant]:
    """The first override that names a subject counts for it, and one that disables the rule has no variant."""
    terms, own, before, found = RuleTerms.of(rule), Selection.of(rule), tuple[Selection, ...](), list[Variant]()
    for number, (selection, overridden) in enumerate(terms.overrides, start=1):
        if overridden is not None:
            found.append(Variant(rule, overridden, Scope((own, selection), before), number))
        before = (*before, selection)
    return [*found, Variant(rule, terms.own, Scope((own,), before))]


def why_not_exported(rule: AlertRule) -> str | None:
    """Why Prometheus cannot evaluate the rule; None where it can."""
    if not rule.enabled:
        return _("disabled")
    if rule.topic:
        return _("/metrics has no values of a group's part of a topic")
    if rule.labels:
        return _("/metrics does not have the labels that notes give groups")
    if rule.measure == Measure.LOST and (rule.threshold or any("threshold" in one for one in rule.overrides)):
        return _("/metrics counts lost offsets by group, not by broker")
    sought = set(rule.findings)
    if sought & set(FindingSeverity) and sought & set(FindingCode):
        return _("it selects findings by severity and by code: create a rule for each")
    is_special = rule.measure in (Measure.STATE, Measure.UNKNOWN, Measure.FINDINGS, Measure.LOST)
    if not is_special and SPECS[Measure(rule.measure)].exported is None:
        return _("/metrics does not have %s") % measure_words(rule.measure)
    return None


# The file of rules, in YAML. A text in quotation marks is written as JSON, which YAML takes.


def rules_file(rules: Iterable[AlertRule], clusters: Sequence[str]) -> str:
    """All rules, in order of their names; those that cannot be exported as comments. `clusters`: all registered."""
    lines = [*_comment(_("Alert rules of Consumerscope, for a Prometheus that scrapes its /metrics.")), "groups:"]
    lines += ["  - name: consumerscope", "    rules:"]
    for rule in sorted(rules, key=lambda one: one.name):
        why = why_not_exported(rule)
        comment = _("%(rule)s: not exported, %(why)s") % {"rule": rule.name, "why": why}
        lines += [f"      {line}" for line in (_of_rule(rule) if why is None else _comment(comment))]
    lines += [f"      {line}" for line in _missing_series_alerts(clusters)]
    return "\n".join(lines) + "\n"


def _missing_series_alerts(clusters: Sequence[str]) -> Iterator[str]:
    """Alerts for what leaves the rules without series to look at."""
    age = "consumerscope_reading_age_seconds"
    scraped = [f"absent({age}{{cluster={quoted(name)}}})" for name in clusters] or [f"absent({age})"]
    found = (
        ("no metrics", "\nor\n".join(scraped), "critical"),
        ("nothing read", f'{UNKNOWN}{{group="",reason=~"not_read|not_judged|no_broker"}}', "critical"),
        ("groups left out", "max by (cluster) (consumerscope_left_out_groups) > 0", "warning"),
        ("series left out", f"max by (family) (consumerscope_series_left_out{{{OF_RULES}}}) > 0", "warning"),
    )
    summary = _("/metrics lacks what rules compare.")
    for name, expression, severity in found:
        yield from _alert(f"Consumerscope: {name}", expression, UNKNOWN_SECONDS, 0, {"severity": severity}, summary)


# Families that rules compare.
OF_RULES = 'family!~"consumerscope_queue_.*|rocketmq_.*"'


def _of_rule(rule: AlertRule) -> Iterator[str]:
    found = variants(rule)
    for one in found:
        labels = {"severity": str(one.terms.severity)} | ({"override": str(one.number)} if one.number else {})
        where = " · ".join(f"{{{{ $labels.{label} }}}}" for label in one.by)
        summary = ": ".join(filter(None, (where, literal(one.words))))
        more = {"description": literal(rule.note), "runbook_url": rule.runbook_url}
        yield from _alert(rule.name, one.fires, one.for_seconds, one.terms.clear_seconds, labels, summary, more)
    unknown = "\nor\n".join(one.cannot_tell for one in found)
    waits = max(UNKNOWN_SECONDS, *(one.for_seconds for one in found))
    labels = {"severity": "warning", "rule": literal(rule.name)}
    summary = literal(_("%s: the value is unknown") % rule.name) + " · {{ $labels.cluster }} · {{ $value }}"
    yield from _alert(f"{rule.name}: unknown", f"count by (cluster) (\n{unknown}\n)", waits, 0, labels, summary)


def _alert(
    name: str,
    expression: str,
    for_seconds: float,
    clear_seconds: float,
    labels: dict[str, str],
    summary: str,
    more: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    yield f"- alert: {quoted(name)}"
    yield "  expr: |-"
    yield from (f"    {line}" for line in expression.splitlines())
    for field, seconds in (("for", for_seconds), ("keep_firing_for", clear_seconds)):
        if seconds:
            yield f"  {field}: {math.ceil(seconds)}s"
    for field, texts in (("labels", labels), ("annotations", {"summary": summary, **more})):
        yield f"  {field}:"
        yield from (f"    {key}: {quoted(text)}" for key, text in texts.items() if text)


def literal(text: str) -> str:
    """A text that Prometheus' templates leave as it is."""
    return text.replace("{{", '{{"{{"}}')


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in text.splitlines()]
