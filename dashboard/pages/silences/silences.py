"""Silences: which hold, which will, which are over; one is made and ended here."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.silences import end, make
from consumers.models import AlertRule, Silence
from consumers.selectors.alerts.setting_rows import SilenceStatus
from consumers.selectors.alerts.silences import silence_list
from dashboard.pages.alerts.alert_access import act, form_page
from dashboard.pages.alerts.alert_forms import NOTHING_TYPED, sent
from dashboard.pages.alerts.alert_tabs import alert_context
from dashboard.pages.common.form_problems import problems
from dashboard.pages.common.frame import frame_of
from dashboard.pages.common.list_pages import listed

from .silence_form import CHOICES, typed, wish

ROWS = 50


@form_page
def silences(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _shown(request, typed(request.GET.dict()), {})
    now, values = timezone.now(), typed(request.POST.dict())

    def keep(fields: Mapping[str, Any]) -> str:
        make(fields, request.user, now)
        return reverse("silences")

    return sent(wish(values, now), keep, partial(_shown, request, values))


@act
def silence_end(request: HttpRequest, silence: int) -> HttpResponse:
    row = Silence.objects.filter(pk=silence).first()
    if row is None:
        raise Http404(_("There is no such silence."))

    def end_it(fields: Mapping[str, Any]) -> str:
        end(row, request.user, timezone.now())
        return reverse("silences")

    return sent(NOTHING_TYPED, end_it, partial(_shown, request, typed({})))


def _shown(
    request: HttpRequest, values: Mapping[str, str], errors: Mapping[str, str], status: int = 200
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
            (_("Coming"), coming, coming_count, True),
            (_("Past"), past, paging["count_of_all"], False),
        ],
        "values": values,
        "errors": errors,
        "problems": problems(errors),
        "lengths": CHOICES,
        "rules": [
            ("", _("all rules"), not values["rule"]),
            *((pk, name, str(pk) == values["rule"]) for pk, name in AlertRule.objects.values_list("pk", "name")),
        ],
        **paging,
    }
    return render(request, "silences/silences.html", alert_context(frame, **shown), status=status)
