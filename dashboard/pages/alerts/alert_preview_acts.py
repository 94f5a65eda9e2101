"""Cancels a preview, and shows its page again: with the reason where that was refused."""

from collections.abc import Mapping
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from consumers.alerts.preview.request import cancel, why_not_permitted
from consumers.models import RulePreview

from .alert_forms import done
from .alert_preview import preview_context


@require_POST
@login_required
def alert_preview_cancel(request: HttpRequest, preview: UUID) -> HttpResponse:
    row = RulePreview.objects.filter(pk=preview).first()
    if row is None:
        raise Http404(_("There is no such preview."))
    if against := why_not_permitted(row, request.user):
        raise PermissionDenied(against)

    def keep() -> str:
        cancel(row, request.user, timezone.now())
        return reverse("alert_preview", args=[preview])

    def shown(errors: Mapping[str, str], status: int = 200) -> HttpResponse:
        return render(request, "alerts/alert_preview.html", preview_context(request, preview, errors), status=status)

    return done(keep, shown)
