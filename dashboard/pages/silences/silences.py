"""Silences: which hold, which will, which are over; one is made and ended here."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.queries.rows import SilenceStatus
from consumers.alerts.queries.settings import silence_list
from consumers.alerts.silences import end, make
from consumers.models import AlertRule, Silence
from dashboard.pages.alerts.alert_access import act, form_page
from dashboard.pages.alerts.alert_forms import done, sent
from dashboard.pages.alerts.alert_tabs import alert_context
from dashboard.pages.common.form_problems import problems
from dashboard.pages.common.frame import frame_of
from dashboard.pages.common.list_pages import listed

from .silence_form import CHOICES, SilenceForm

ROWS = 50


@form_page
def silences(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    if request.method != "POST":
        return _shown(request, SilenceForm(now, None, request.GET.dict()), {})
    form = SilenceForm(now, request.POST)

    def keep(fields: Mapping[str, Any]) -> str:
        make(fields, request.user, now)
        return reverse("silences")

    return sent(form, keep, partial(_shown, request, form))


@act
def silence_end(request: HttpRequest, silence: int) -> HttpResponse:
    row = Silence.objects.filter(pk=silence).first()
    if row is None:
        raise Http404(_("There is no such silence."))

    def end_it() -> str:
        end(row, request.user, timezone.now())
        return reverse("silences")

    return done(end_it, partial(_shown, request, SilenceForm(timezone.now())))


def _shown(request: HttpRequest, form: SilenceForm, errors: Mapping[str, str], status: int = 200) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    active, active_count = silence_list(frame.now, status=SilenceStatus.ACTIVE, page_size=ROWS)
    coming, coming_count = silence_list(frame.now, status=SilenceStatus.COMING, page_size=ROWS)
    past, paging = listed(
        frame, ROWS, lambda number: silence_list(frame.now, status=SilenceStatus.PAST, page=number, page_size=ROWS)
    )
    shown: dict[str, Any] = {
        "kinds": [
            (_("Active"), active, active_count, True),
            (_("Coming"), coming, coming_count, True),
            (_("Past"), past, paging["count_of_all"], False),
        ],
        "form_lines": form.lines(errors),
        "length": form.length,
        "errors": errors,
        "problems": problems(errors),
        "lengths": CHOICES,
        "rules": [
            ("", _("all rules"), not form.value("rule")),
            *((pk, name, str(pk) == form.value("rule")) for pk, name in AlertRule.objects.values_list("pk", "name")),
        ],
        **paging,
    }
    return render(request, "silences/silences.html", alert_context(frame, **shown), status=status)
