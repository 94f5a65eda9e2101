"""Silences: which hold, which will, which are over; one is made and ended here."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.refused import AlertRefused
from consumers.alerts.silences import end, make
from consumers.models import AlertRule, Silence
from consumers.selectors.alerts.silences import SilenceStatus, silence_list

from .alert_access import act, form_page
from .alert_tabs import alert_context
from .form_problems import problems
from .frame import frame_of
from .groups_query import page_links, page_number
from .silence_form import CHOICES, typed, wish

ROWS = 50


@form_page
def silences(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _shown(request, typed(request.GET.dict()), {})
    now, values = timezone.now(), typed(request.POST.dict())
    fields, errors = wish(values, now)
    if errors:
        return _shown(request, values, errors, status=400)
    try:
        make(fields, request.user, now)
    except AlertRefused as refusal:
        return _shown(request, values, refusal.errors, status=400)
    return HttpResponseRedirect(reverse("silences"))


@act
def silence_end(request: HttpRequest, silence: int) -> HttpResponse:
    row = Silence.objects.filter(pk=silence).first()
    if row is None:
        raise Http404(_("There is no such silence."))
    try:
        end(row, request.user, timezone.now())
    except AlertRefused as refusal:
        return _shown(request, typed({}), refusal.errors, status=409)
    return HttpResponseRedirect(reverse("silences"))


def _shown(
    request: HttpRequest, values: Mapping[str, str], errors: Mapping[str, str], status: int = 200
) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    number = page_number(request)
    active, active_count = silence_list(frame.now, status=SilenceStatus.ACTIVE, page_size=ROWS)
    coming, coming_count = silence_list(frame.now, status=SilenceStatus.COMING, page_size=ROWS)
    past, count = silence_list(frame.now, status=SilenceStatus.PAST, page=number, page_size=ROWS)
    first = (number - 1) * ROWS
    shown: dict[str, Any] = {
        "kinds": [
            (_("Active"), active, active_count, True),
            (_("Coming"), coming, coming_count, True),
            (_("Past"), past, count, False),
        ],
        "values": values,
        "errors": errors,
        "problems": problems(errors),
        "lengths": CHOICES,
        "rules": [(str(pk), name) for pk, name in AlertRule.objects.values_list("pk", "name")],
        "links": page_links(frame, number, max(1, -(-count // ROWS))),
        "count_of_all": count,
        "first": first + 1,
        "last": first + len(past),
    }
    return render(request, "pages/silences.html", alert_context(frame, **shown), status=status)
