"""GET groups/"""

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.models import Cluster, HealthLevel, State
from consumers.selectors.alerts.evaluated import why_not_evaluated
from consumers.selectors.groups.listing import ORDERINGS, group_list
from consumers.selectors.groups.rows import GroupFilters, GroupRow, ListKind

from .lists import Found, list_response
from .parameters import Choice, Paging
from .refusals import NotNow
from .schema import described

STALE = "Evaluations are late: the state is that of judged_at, and nothing polled since contradicts it"
ORDERING_CHOICES = [f"{sign}{column}" for column in sorted(ORDERINGS) for sign in ("", "-")]


class GroupParameters(Paging):
    cluster = serializers.CharField(required=False)
    search = serializers.CharField(required=False, help_text="A part of the group's name")
    state = Choice(State.values, required=False)
    health = Choice(HealthLevel.values, required=False)
    online = serializers.BooleanField(required=False)
    kind = Choice([kind.value for kind in ListKind], default=ListKind.USER.value, help_text="Ghosts are no longer used")
    firing = serializers.BooleanField(required=False, help_text="Whether an incident of it fires")
    ordering = Choice(ORDERING_CHOICES, required=False, help_text="`-` for descending; unknown is last either way")


class GroupListView(APIView):
    @described("groups", GroupRow, parameters=GroupParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Consumer groups; filters and order work on what is shown."""
        values = GroupParameters.of(request)
        page, page_size = values.pop("page"), values.pop("page_size")
        filters = GroupFilters(**values)
        if filters.cluster and not Cluster.objects.filter(name=filters.cluster).exists():
            raise NotFound(f"There is no cluster {filters.cluster!r}.")
        now = timezone.now()
        if filters.firing is not None and (late := why_not_evaluated(now)):
            raise NotNow(f"Which groups fire is not known: {late}.")

        def find(page: int, page_size: int) -> Found:
            found = group_list(filters, now=now, page=page, page_size=page_size)
            return Found(found.rows, found.count)

        all_rows = settings.API_CSV_ROWS
        return list_response(request, GroupRow, find, page=page, page_size=page_size, at_once=all_rows)
