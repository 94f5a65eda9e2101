"""Silences: the list, and the form of a new one."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.alerts.queries.rows import SilenceStatus
from consumers.alerts.queries.settings import silence_list
from consumers.alerts.silences import SILENCE_FIELDS, end, make
from consumers.models import AlertRule, Silence
from dashboard.pages.alerts.alert_forms import AlertForm, done, sent
from dashboard.pages.alerts.alert_tabs import act, alert_context, form_page
from dashboard.pages.common.access import problems
from dashboard.pages.common.frame import frame_of
from dashboard.pages.common.list_pages import listed

LENGTHS = {"1h": timedelta(hours=1), "4h": timedelta(hours=4), "1d": timedelta(days=1)}

AT = "at"

CHOICES: list[tuple[str, str | Promise]] = [
    ("1h", gettext_lazy("1 hour")),
    ("4h", gettext_lazy("4 hours")),
    ("1d", gettext_lazy("1 day")),
    (AT, gettext_lazy("until a time")),
]


class SilenceForm(AlertForm):
    """The form that silences incidents: what it selects, and an end that is chosen as a length or entered as a time."""

    def __init__(
        self, now: datetime, data: Mapping[str, Any] | None = None, stored: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(SILENCE_FIELDS, data, stored)
        self.now = now
        self.fields["length"] = forms.CharField(required=False)

    @property
    def length(self) -> str:
        return self.value("length") or (AT if self.value("ends_at") else "1h")

    def clean(self) -> dict[str, Any]:
        """The end, of the start and the length."""
        fields: dict[str, Any] = super().clean() or self.cleaned_data
        if self.length in LENGTHS:
            self.errors.pop("ends_at", None)
            fields["ends_at"] = (fields.get("starts_at") or self.now) + LENGTHS[self.length]
        elif self.length != AT:
            self.add_error("length", _("Choose for how long."))
        elif fields.get("ends_at") is None and "ends_at" not in self.errors:
            self.add_error("ends_at", _("This is no time: write 2026-03-14 06:00, in UTC."))
        return fields

    def entered(self) -> dict[str, Any]:
        entered = {name: value for name, value in self.cleaned_data.items() if name != "length"}
        return entered | {"starts_at": entered["starts_at"] or self.now}


# Silences: which hold, which will, which are over; one is made and ended here.
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
