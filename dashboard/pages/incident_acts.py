"""Acknowledges an incident, or takes that back, and shows its page again: with the reason where that was refused."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.acts import acknowledge, unacknowledge
from consumers.models import Incident

from .alert_access import act
from .alert_forms import sent
from .chart_policy import with_charts
from .incident import incident_context


@with_charts
@act
def incident_acknowledge(request: HttpRequest, incident: UUID) -> HttpResponse:
    row = Incident.objects.filter(pk=incident).first()
    if row is None:
        raise Http404(_("There is no such incident."))
    text = request.POST.get("text", "").strip()

    def keep(fields: Mapping[str, Any]) -> str:
        if request.POST.get("take_back") == "1":
            unacknowledge(row, request.user, timezone.now())
        else:
            acknowledge(row, request.user, fields["text"], timezone.now())
        return reverse("incident", args=[row.pk])

    def shown(errors: Mapping[str, str], status: int = 200) -> HttpResponse:
        return render(request, "pages/incident.html", incident_context(request, incident, errors, text), status=status)

    return sent(({"text": text}, {}), keep, shown)
