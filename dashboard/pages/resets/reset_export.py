"""A reset and a group's offsets as CSV, as REST gives them."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from consumers.models import Reset
from consumers.resets.offset_csv import queues_csv
from consumers.resets.offsets_out import group_offsets_csv
from consumers.rest.answers import csv_response
from dashboard.pages.groups.group_found import group_or_404


@require_safe
@never_cache
@login_required
def reset_export(request: HttpRequest, reset: UUID) -> HttpResponseBase:
    row = Reset.objects.filter(pk=reset).first()
    if row is None:
        raise Http404(_("There is no such reset."))
    return csv_response(queues_csv(row.pk), f"reset-{row.cluster_name}-{row.group_name}-{row.pk}")


@require_safe
@never_cache
@login_required
def group_offsets_export(request: HttpRequest, cluster: str, group: str) -> HttpResponseBase:
    found = group_or_404(cluster, group)
    return csv_response(group_offsets_csv(found, timezone.now()), f"offsets-{cluster}-{group}")
