"""Notes about groups: who owns them, where their runbook is, what to know, and labels that select them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.edits import keep_note, remove_note
from consumers.alerts.notes import NOTE_FIELDS
from consumers.alerts.queries.settings import groups_named, note_list
from consumers.models import GroupNote
from dashboard.pages.common.access import page, problems
from dashboard.pages.common.frame import frame_of
from dashboard.pages.common.list_pages import held, held_as_seen, listed, version_shown

from .alert_forms import AlertForm, sent
from .alert_tabs import act, alert_context, form_page

ROWS = 50


@page
def alert_notes(request: HttpRequest) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    rows, paging = listed(frame, ROWS, lambda number: note_list(page=number, page_size=ROWS))
    shown: dict[str, Any] = {
        "lines": [(row, frame.to("alert_note", str(row.id))) for row in rows],
        "add_href": frame.to("alert_note_add"),
        **paging,
    }
    return render(request, "alerts/alert_notes.html", alert_context(frame, **shown))


@form_page
def alert_note_add(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _shown(request, None, AlertForm(NOTE_FIELDS, None, {"position": 0} | request.GET.dict()), {})
    return _sent(request, None)


@form_page
def alert_note(request: HttpRequest, note: int) -> HttpResponse:
    row = note_or_404(note)
    if request.method != "POST":
        stored = {field.name: getattr(row, field.name) for field in NOTE_FIELDS}
        return _shown(request, row, AlertForm(NOTE_FIELDS, None, stored), {})
    return _sent(request, row)


@act
def alert_note_remove(request: HttpRequest, note: int) -> HttpResponse:
    with transaction.atomic():
        remove_note(held(note_or_404(note)), request.user, timezone.now())
    return HttpResponseRedirect(reverse("alert_notes"))


def note_or_404(note_id: int) -> GroupNote:
    row = GroupNote.objects.filter(pk=note_id).first()
    if row is None:
        raise Http404(_("There is no such note."))
    return row


def _sent(request: HttpRequest, row: GroupNote | None) -> HttpResponse:
    form = AlertForm(NOTE_FIELDS, request.POST)

    @transaction.atomic
    def keep(fields: Mapping[str, Any]) -> str:
        keep_note(fields, held_as_seen(row, request.POST), request.user, timezone.now())
        return reverse("alert_notes")

    return sent(form, keep, partial(_shown, request, row, form))


def _shown(
    request: HttpRequest, row: GroupNote | None, form: AlertForm, errors: Mapping[str, str], status: int = 200
) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    cluster, group_pattern = (str(form.value(name)).strip() for name in ("cluster", "group_pattern"))
    shown = {
        "note": row,
        "version": version_shown(row, form.data, errors),
        "lines": form.lines(errors),
        "errors": errors,
        "problems": problems(errors),
        "groups": groups_named(cluster, group_pattern) if group_pattern else None,
    }
    return render(request, "alerts/alert_note.html", alert_context(frame, **shown), status=status)
