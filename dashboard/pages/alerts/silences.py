"""Silences: the list, and the form of a new one."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from consumers.alerts.edits import remove_note, save_note
from consumers.alerts.fields import MAY_MANAGE, AlertRefused, cluster_of
from consumers.alerts.notes import NOTE_FIELDS
from consumers.alerts.queries.rows import SilenceStatus
from consumers.alerts.queries.settings import groups_named, note_list, silence_list, silence_words
from consumers.alerts.queries.words import DAY_WORDS
from consumers.alerts.silences import SILENCE_FIELDS, SilenceMatch, end, make, matched
from consumers.jobs.permissions import check, why_not, why_nowhere
from consumers.models import AlertRule, GroupNote, Silence
from consumers.words.alerts import rule_name_words
from consumers.words.times import example_time
from dashboard.pages.common.frame import frame_of, page, problems, row_or_404
from dashboard.pages.common.list_pages import held, held_as_seen, listed, version_shown
from dashboard.pages.common.removal import Removal, removal

from .alert_forms import AlertForm, Done, ManyField, alert_context, cluster_form_page, sent

LENGTHS = {"1h": timedelta(hours=1), "4h": timedelta(hours=4), "1d": timedelta(days=1)}

AT = "at"

CHOICES: list[tuple[str, str | Promise]] = [
    ("1h", gettext_lazy("1 hour")),
    ("4h", gettext_lazy("4 hours")),
    ("1d", gettext_lazy("1 day")),
    (AT, gettext_lazy("until a time")),
]

WEEKLY = "weekly"
WEEKLY_FIELDS = ("days", "start", "end", "time_zone")
LONGEST_WEEKLY = timedelta(days=365)
REPEATING = [*CHOICES, (WEEKLY, gettext_lazy("each week, until (empty: 1 year)"))]


class SilenceForm(AlertForm):
    """The form that silences incidents: what it selects, and an end that is chosen as a length or entered as a time."""

    def __init__(
        self, now: datetime, data: Mapping[str, Any] | None = None, stored: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__([entry for entry in SILENCE_FIELDS if entry.name != "weekly"], data, stored)
        self.now = now
        self.fields["length"] = forms.CharField(required=False)
        self.fields["days"] = ManyField()
        for name in ("start", "end", "time_zone"):
            self.fields[name] = forms.CharField(required=False)

    @property
    def length(self) -> str:
        return self.value("length") or (AT if self.value("ends_at") else "1h")

    def clean(self) -> dict[str, Any]:
        """The end, of the start and the length."""
        fields: dict[str, Any] = super().clean() or self.cleaned_data
        if self.length == WEEKLY:
            fields["weekly"] = {name: fields.get(name) for name in WEEKLY_FIELDS}
            if not self.value("ends_at"):
                fields["ends_at"] = (fields.get("starts_at") or self.now) + LONGEST_WEEKLY
        elif self.length in LENGTHS:
            self.errors.pop("ends_at", None)
            fields["ends_at"] = (fields.get("starts_at") or self.now) + LENGTHS[self.length]
        elif self.length != AT:
            self.add_error("length", _("Choose for how long."))
        elif fields.get("ends_at") is None and "ends_at" not in self.errors:
            self.add_error("ends_at", _("Not a time: write %s (UTC, unless it names a zone).") % example_time())
        return fields

    def entered(self) -> dict[str, Any]:
        entered = {name: value for name, value in self.cleaned_data.items() if name not in ("length", *WEEKLY_FIELDS)}
        return entered | {"starts_at": entered["starts_at"] or self.now}


# Silences: which hold, which will, which are over; one is made and ended here.
ROWS = 50


@cluster_form_page
def silences(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    if request.method != "POST":
        return _shown(request, SilenceForm(now, None, request.GET.dict()), {})
    form = SilenceForm(now, request.POST)

    if "preview" in request.POST:
        return _previewed(request, form, now)

    def keep(fields: Mapping[str, Any]) -> Done:
        make(fields, request.user, now)
        return Done(reverse("silences"), _("Created the silence."))

    return sent(request, form, keep, partial(_shown, request, form))


def _previewed(request: HttpRequest, form: SilenceForm, now: datetime) -> HttpResponse:
    """The form again, with what the silence would suppress. Nothing is stored."""
    if not form.is_valid():
        return _shown(request, form, form.sentences(), 400)
    try:
        return _shown(request, form, {}, match=matched(form.entered(), now))
    except AlertRefused as refusal:
        return _shown(request, form, refusal.errors, 400)


@removal
def silence_end(request: HttpRequest, silence: int) -> Removal:
    row = row_or_404(Silence, silence, _("There is no such silence."))
    check(request.user, MAY_MANAGE, cluster_of(row.cluster))
    selects = {"what": silence_words(row)}
    return Removal(
        title=_("End the silence of %(what)s?") % selects,
        effect=_("Its incidents are notified again at the next evaluation."),
        label=_("End silence"),
        done=_("Ended the silence of %(what)s.") % selects,
        back=reverse("silences"),
        after=reverse("silences"),
        remove=lambda: end(row, request.user, timezone.now()),
    )


def _shown(
    request: HttpRequest,
    form: SilenceForm,
    errors: Mapping[str, str],
    status: int = 200,
    match: SilenceMatch | None = None,
) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    active, active_count = silence_list(frame.now, status=SilenceStatus.ACTIVE, page_size=ROWS)
    coming, coming_count = silence_list(frame.now, status=SilenceStatus.COMING, page_size=ROWS)
    past, paging = listed(
        frame, ROWS, lambda number: silence_list(frame.now, status=SilenceStatus.PAST, page=number, page_size=ROWS)
    )
    shown: dict[str, Any] = {
        "kinds": [
            (_("Active"), active, active_count, True),
            (_("Scheduled"), coming, coming_count, True),
            (_("Past"), past, paging["count_of_all"], False),
        ],
        "may_end": {row.id for row in (*active, *coming) if _why_not(request, row.cluster) is None},
        "against": why_nowhere(request.user, MAY_MANAGE),
        "form_lines": form.lines(errors),
        "length": form.length,
        "weekly": _weekly_shown(form),
        "match": match,
        "errors": errors,
        "problems": problems(errors),
        "lengths": REPEATING,
        "rules": [
            ("", _("all rules"), not form.value("rule")),
            *(
                (pk, rule_name_words(name), str(pk) == form.value("rule"))
                for pk, name in AlertRule.objects.values_list("pk", "name")
            ),
        ],
        **paging,
    }
    return render(request, "notifications/silences.html", alert_context(frame, **shown), status=status)


def _why_not(request: HttpRequest, scope: str | None) -> str | None:
    """Null where the reader may manage what has this scope of clusters."""
    return why_not(request.user, MAY_MANAGE, cluster_of(scope or ""))


def _weekly_shown(form: SilenceForm) -> dict[str, Any]:
    chosen = form.value("days")
    return {name: form.value(name) or "" for name in WEEKLY_FIELDS} | {
        "days": [(day, word, day in chosen) for day, word in DAY_WORDS.items()]
    }


# Notes about groups: who owns them, where their runbook is, what to know, and labels that select them.


@page
def alert_notes(request: HttpRequest) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    rows, paging = listed(frame, ROWS, lambda number: note_list(page=number, page_size=ROWS))
    shown: dict[str, Any] = {
        "lines": [(row, "" if _why_not(request, row.cluster) else frame.to("alert_note", str(row.id))) for row in rows],
        "against": why_nowhere(request.user, MAY_MANAGE),
        "add_href": frame.to("alert_note_add"),
        **paging,
    }
    return render(request, "alerts/alert_notes.html", alert_context(frame, **shown))


@cluster_form_page
def alert_note_add(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _shown_note(request, None, AlertForm(NOTE_FIELDS, None, {"position": 0} | request.GET.dict()), {})
    return _sent(request, None)


@cluster_form_page
def alert_note(request: HttpRequest, note: int) -> HttpResponse:
    row = note_or_404(note)
    if request.method != "POST":
        stored = {field.name: getattr(row, field.name) for field in NOTE_FIELDS}
        return _shown_note(request, row, AlertForm(NOTE_FIELDS, None, stored), {})
    return _sent(request, row)


@removal
def alert_note_remove(request: HttpRequest, note: int) -> Removal:
    row = note_or_404(note)
    check(request.user, MAY_MANAGE, cluster_of(row.cluster))
    about = {"groups": row.group_pattern}
    return Removal(
        title=_("Remove the note about %(groups)s?") % about,
        effect=_("Its owner, runbook and labels no longer apply to the groups that it matches."),
        label=_("Remove the note"),
        done=_("Removed the note about %(groups)s.") % about,
        back=reverse("alert_note", args=[note]),
        after=reverse("alert_notes"),
        remove=lambda: remove_note(held(row), request.user, timezone.now()),
    )


def note_or_404(note_id: int) -> GroupNote:
    return row_or_404(GroupNote, note_id, _("There is no such note."))


def _sent(request: HttpRequest, row: GroupNote | None) -> HttpResponse:
    form = AlertForm(NOTE_FIELDS, request.POST)

    @transaction.atomic
    def keep(fields: Mapping[str, Any]) -> Done:
        saved = save_note(fields, held_as_seen(row, request.POST), request.user, timezone.now())
        sentence = _("Saved the note about %(groups)s.") if row else _("Added the note about %(groups)s.")
        return Done(reverse("alert_notes"), sentence % {"groups": saved.group_pattern})

    return sent(request, form, keep, partial(_shown_note, request, row, form))


def _shown_note(
    request: HttpRequest, row: GroupNote | None, form: AlertForm, errors: Mapping[str, str], status: int = 200
) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    cluster, group_pattern = (str(form.value(name)).strip() for name in ("cluster", "group_pattern"))
    shown = {
        "note": row,
        "against": why_nowhere(request.user, MAY_MANAGE) if row is None else _why_not(request, row.cluster),
        "version": version_shown(row, form.data, errors),
        "lines": form.lines(errors),
        "errors": errors,
        "problems": problems(errors),
        "groups": groups_named(cluster, group_pattern) if group_pattern else None,
    }
    return render(request, "alerts/alert_note.html", alert_context(frame, **shown), status=status)
