"""Acknowledges an incident, or takes that back, and shows its page again: with the reason where that was refused."""

from collections.abc import Mapping
from uuid import UUID

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.acts import acknowledge, unacknowledge
from consumers.alerts.refused import AlertRefused
from consumers.models import Incident
from dashboard.pages.common.chart_policy import with_charts
from dashboard.wording.times import absolute

from .alert_access import act
from .alert_forms import done
from .incident import incident_context


@with_charts
@act
def incident_acknowledge(request: HttpRequest, incident: UUID) -> HttpResponse:
    row = Incident.objects.filter(pk=incident).first()
    if row is None:
        raise Http404(_("There is no such incident."))
    text = request.POST.get("text", "").strip()

    @transaction.atomic
    def keep() -> str:
        _check_seen(request, row)
        if request.POST.get("take_back") == "1":
            unacknowledge(row, request.user, timezone.now())
        else:
            acknowledge(row, request.user, text, timezone.now())
        return reverse("incident", args=[row.pk])

    def shown(errors: Mapping[str, str], status: int = 200) -> HttpResponse:
        return render(
            request, "incidents/incident.html", incident_context(request, incident, errors, text), status=status
        )

    return done(keep, shown)


def _check_seen(request: HttpRequest, row: Incident) -> None:
    """Raises AlertRefused where somebody else acknowledged it since the page was opened, which nobody has seen then."""
    found = Incident.objects.select_for_update().filter(pk=row.pk).first()
    seen = request.POST.get("seen")
    if found is None or found.acknowledged_at is None or seen in (None, found.acknowledged_at.isoformat()):
        return
    if found.acknowledged_by_name != request.user.get_username():
        words = {"by": found.acknowledged_by_name, "at": absolute(found.acknowledged_at)}
        sentence = _(
            "Acknowledged by %(by)s at %(at)s meanwhile: see what they do about it, and send it again if need be."
        )
        raise AlertRefused(sentence % words)
