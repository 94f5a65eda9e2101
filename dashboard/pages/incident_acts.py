"""Acknowledges an incident, or takes that back, and shows its page again: with the reason where that was refused."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.acts import acknowledge, unacknowledge
from consumers.alerts.refused import AlertRefused
from consumers.models import Incident

from .alert_access import act
from .chart_policy import with_charts
from .incident import incident_context


@with_charts
@act
def incident_acknowledge(request: HttpRequest, incident: UUID) -> HttpResponse:
    row = Incident.objects.filter(pk=incident).first()
    if row is None:
        raise Http404(_("There is no such incident."))
    text = request.POST.get("text", "").strip()
    try:
        if request.POST.get("take_back") == "1":
            unacknowledge(row, request.user, timezone.now())
        else:
            acknowledge(row, request.user, text, timezone.now())
    except AlertRefused as refusal:
        shown = incident_context(request, incident, str(refusal), text)
        return render(request, "pages/incident.html", shown, status=409)
    return HttpResponseRedirect(reverse("incident", args=[row.pk]))
