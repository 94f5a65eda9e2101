"""Alert rules: the list, and the form of one."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from consumers.alerts.edits import remove_rule, save_rule, why_not_removed
from consumers.alerts.fields import MAY_MANAGE, EntryField, Shape, defaults_of
from consumers.alerts.measured import Unit
from consumers.alerts.measures.registry import SPECS
from consumers.alerts.preview.request import why_no_history
from consumers.alerts.queries.previews import unfinished_of
from consumers.alerts.queries.settings import find_rule, rule_list
from consumers.alerts.queries.words import MEANINGS, MEASURES
from consumers.alerts.rule_fields import RULE_FIELDS
from consumers.jobs.permissions import check
from consumers.models import AlertRule, Comparison, Measure, Severity, State, SubjectKind
from consumers.queries.codes import SEVERITIES
from consumers.words.alerts import (
    BUILT_IN_NAMES,
    BUILT_IN_NOTES,
    rule_name_words,
    rule_note_words,
    stored_rule_text,
)
from consumers.words.states import STATES as STATE_WORDS
from dashboard.pages.common.frame import frame_of, page, problems, row_or_404
from dashboard.pages.common.list_pages import held, held_as_seen, listed, version_shown, whole_number
from dashboard.pages.common.removal import Removal, removal

from .alert_forms import AlertForm, Done, TypedField, alert_context, done, field_of, form_page, sent
from .typed_values import length_of, lines_of_overrides, number_of, overrides_of, typed_length, typed_number

# What the form shows in the reader's language, and stores as it was made.
BUILT_IN = {"name": BUILT_IN_NAMES, "note": BUILT_IN_NOTES}

# The form of an alert rule: the fields that its measure has, with numbers in the measure's unit.

STATES = [state for state in State if state not in (State.OK, State.UNKNOWN)]
SIDES: dict[str, str | Promise] = {Comparison.ABOVE: gettext_lazy("above"), Comparison.BELOW: gettext_lazy("below")}
HINTS: dict[Unit, str | Promise] = {
    Unit.MESSAGES: gettext_lazy("messages, as 1,000"),
    Unit.SECONDS: gettext_lazy("a length of time, as 90 s, 30 min or 2 h"),
    Unit.SHARE: gettext_lazy("a share, as 10 %"),
    Unit.COUNT: gettext_lazy("a number"),
}


class RuleForm(AlertForm):
    """Fields that the measure does not have are left out, and stored empty."""

    def __init__(self, data: QueryDict | None = None, stored: Mapping[str, Any] | None = None) -> None:
        shown = (data if data is not None else stored) or {}
        self.measure = measure_of(shown)
        self.left_out = _left_out(self.measure)
        super().__init__([entry for entry in RULE_FIELDS if entry.name not in self.left_out], data, stored)

    def field_of(self, entry: EntryField) -> forms.Field:
        options: dict[str, Any] = {"label": entry.label, "help_text": entry.hint}
        if entry.shape == Shape.NUMBER:
            options["help_text"] = entry.hint or HINTS.get(SPECS[self.measure].unit, "")
            return TypedField(
                partial(number_of, measure=self.measure), partial(typed_number, measure=self.measure), **options
            )
        if entry.shape == Shape.SECONDS:
            return TypedField(length_of, typed_length, **options)
        if entry.shape == Shape.OVERRIDES:
            read = partial(overrides_of, measure=self.measure)
            return TypedField(read, partial(lines_of_overrides, measure=self.measure), 3, **options)
        field = field_of(entry)
        if isinstance(field, TypedField) and entry.name in BUILT_IN:
            field.read = partial(stored_rule_text, built_in=BUILT_IN[entry.name])
        return field

    def clean_measure(self) -> str:
        name: str = self.cleaned_data["measure"]
        if name not in Measure.values:
            raise forms.ValidationError(_("Choose a measure."))
        return name

    def entered(self) -> dict[str, Any]:
        defaults = {name: value for name, value in defaults_of(RULE_FIELDS).items() if name in self.left_out}
        return {**defaults, **self.cleaned_data, "comparison": self.comparison}

    @property
    def comparison(self) -> str:
        """Most measures know one alone."""
        known = SPECS[self.measure].comparisons
        typed = self.value("comparison")
        return typed if typed in known else known[0].value

    def shown(self) -> dict[str, Any]:
        """What the template offers to choose from."""
        spec = SPECS[self.measure]
        sides = [] if spec.unit == Unit.STATE else spec.comparisons
        states = self.value("states") if spec.unit == Unit.STATE else ()
        return {
            "measures": [(one.value, MEASURES[one], one == self.measure) for one in Measure],
            "measure_meaning": MEANINGS[self.measure],
            "is_of_states": spec.unit == Unit.STATE,
            "states": [(state.value, STATE_WORDS[state], state in states) for state in STATES],
            "sides": [(side.value, SIDES[side], side == self.comparison) for side in sides],
            "severities": [(one.value, SEVERITIES[one], one.value == self.value("severity")) for one in Severity],
        }


def empty() -> dict[str, Any]:
    """The form of a new rule."""
    return {
        "measure": Measure.TIME_LAG,
        "enabled": True,
        "severity": Severity.WARNING,
        "for_seconds": 300.0,
        "clear_seconds": 300.0,
    }


def stored(rule: AlertRule) -> dict[str, Any]:
    """With the name and the note of a built-in rule in the reader's language."""
    fields = {entry.name: getattr(rule, entry.name) for entry in RULE_FIELDS}
    return fields | {"name": rule_name_words(rule.name), "note": rule_note_words(rule.note)}


def measure_of(shown: Mapping[str, Any]) -> Measure:
    """That of an unknown name is the first that the form offers."""
    name = shown.get("measure", "")
    return Measure(name) if name in Measure.values else Measure.TIME_LAG


def _left_out(measure: Measure) -> list[str]:
    spec = SPECS[measure]
    absent = ["threshold", "clear_threshold"] if spec.unit == Unit.STATE else ["states"]
    if not spec.seeks_findings:
        absent.append("findings")
    if not spec.knows_topics:
        absent.append("topic")
    if spec.subject != SubjectKind.GROUP:
        absent += ["group_pattern", "labels"]
    return [*absent, "cluster"] if spec.subject == SubjectKind.SITE else absent


# One rule of alerts: added, changed, switched on or off, removed. Other pages link here with what is known already.
SWITCHES = {"on": True, "off": False}


@form_page
def alert_rule_add(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return form_shown(request, None, _prefilled(request, _copied(request) or empty()), {})
    return _sent(request, None)


@form_page
def alert_rule(request: HttpRequest, rule: int) -> HttpResponse:
    row = rule_or_404(rule)
    if request.method != "POST":
        return form_shown(request, row, _prefilled(request, stored(row)), {})
    if request.POST.get("switch") in SWITCHES:
        switched = {"enabled": SWITCHES[request.POST["switch"]]}
        shown = partial(form_shown, request, row, RuleForm(None, stored(row)))
        return done(request, partial(_keep, request, row, switched), shown)
    return _sent(request, row)


@removal
def alert_rule_remove(request: HttpRequest, rule: int) -> Removal:
    row = rule_or_404(rule)
    check(request.user, MAY_MANAGE, "")
    name = rule_name_words(row.name)
    return Removal(
        title=_("Remove the rule %(name)s?") % {"name": name},
        effect=_("Its open incidents resolve at the next evaluation. Resolved incidents stay."),
        label=_("Remove the rule"),
        done=_("Removed the rule %(name)s.") % {"name": name},
        back=reverse("alert_rule", args=[rule]),
        after=reverse("alert_rules"),
        remove=lambda: remove_rule(held(row), request.user, timezone.now()),
    )


def _copied(request: HttpRequest) -> dict[str, Any] | None:
    """The rule that `copy` names, under another name."""
    text = request.GET.get("copy", "")
    if not text:
        return None
    shown = stored(rule_or_404(whole_number(text) or 0))
    return shown | {"name": _("Copy of %(name)s") % {"name": shown["name"]}}


def rule_or_404(rule_id: int) -> AlertRule:
    return row_or_404(AlertRule, rule_id, _("There is no such rule."))


def _no_preview(form: RuleForm) -> str:
    """Why there is none; empty where there is. Without the codes of measures, which the answer of REST lists."""
    topic = form.value("topic") if "topic" in form.entries else ""
    if why_no_history(form.measure, topic) is None:
        return ""
    if why_no_history(form.measure, "") is None:
        return _("No preview: this measure has no history by topic.")
    return _("No preview: this measure has no history.")


def form_shown(
    request: HttpRequest, row: AlertRule | None, form: RuleForm, errors: Mapping[str, str], status: int = 200
) -> HttpResponse:
    now = timezone.now()
    # What was set on the way is not what is stored.
    stored = None if row is None else find_rule(row.pk, now)
    shown = {
        "rule": stored,
        "version": version_shown(row, form.data, errors),
        "lines": form.lines(errors),
        "errors": errors,
        "problems": problems(errors),
        "keeps": None if row is None else why_not_removed(row),
        "no_preview": _no_preview(form),
        "unfinished": unfinished_of(request.user),
        **form.shown(),
    }
    return render(request, "alerts/alert_rule.html", alert_context(frame_of(request, now), **shown), status=status)


def _prefilled(request: HttpRequest, shown: dict[str, Any]) -> RuleForm:
    """Returns the values that a link gives in place of the stored ones. `cluster` is the page's own."""
    for name, values in request.GET.lists():
        if name not in ("cluster", "range", "copy"):
            shown[name] = values if name == "states" else values[-1]
    if "of_cluster" in request.GET:
        shown["cluster"] = request.GET["of_cluster"]
    return RuleForm(None, shown)


def _sent(request: HttpRequest, row: AlertRule | None) -> HttpResponse:
    form = RuleForm(request.POST)
    shown = partial(form_shown, request, row, form)
    if request.POST.get("look") == "1":
        return shown({})
    return sent(request, form, partial(_keep, request, row), shown)


@transaction.atomic
def _keep(request: HttpRequest, row: AlertRule | None, fields: Mapping[str, Any]) -> Done:
    saved = save_rule(fields, held_as_seen(row, request.POST), request.user, timezone.now())
    sentence = _("Saved the rule %(name)s.") if row else _("Added the rule %(name)s.")
    return Done(reverse("alert_rules"), sentence % {"name": rule_name_words(saved.name)})


ROWS = 100


@page
def alert_rules(request: HttpRequest) -> HttpResponse:
    """Rules of alerts: what each looks for, of what, and what fires by it at the moment."""
    frame = frame_of(request, timezone.now())
    rows, paging = listed(frame, ROWS, lambda number: rule_list(frame.now, page=number, page_size=ROWS))
    shown: dict[str, Any] = {
        "lines": [(row, frame.to("alert_rule", str(row.id)), frame.to("alerts", rule=str(row.id))) for row in rows],
        "switched_on": AlertRule.objects.filter(enabled=True).count(),
        "add_href": frame.to("alert_rule_add"),
        **paging,
    }
    return render(request, "alerts/alert_rules.html", alert_context(frame, **shown))
