"""GET groups/{cluster}/{group}/assignments/"""

from datetime import datetime

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.selectors.ownership.assignments import assignments
from consumers.selectors.ownership.rows import AssignmentRow

from .found import found_group
from .lists import list_response, whole
from .narrowed import narrowed, taken
from .parameters import PAGE, Moment, Paging
from .schema import described


class AssignmentParameters(Paging):
    at = Moment(required=False, help_text="ISO 8601, a time in the past; without it: the newest")
    topic = serializers.CharField(required=False)
    broker = serializers.CharField(required=False)
    owner = serializers.CharField(required=False, help_text="Client id")


class AssignmentListView(APIView):
    @described("group_assignments", AssignmentRow, parameters=AssignmentParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Who owns which queue, or owned it at a past time: in order of topic, broker, queue and owner."""
        filters, now = AssignmentParameters.of(request), timezone.now()
        paging = taken(filters, *PAGE)
        _refuse_the_future(filters.get("at"), now)
        found = found_group(cluster, group)
        wanted = taken(filters, "broker", "owner")
        rows = narrowed(assignments(found, now=now, **filters), wanted)
        return list_response(request, AssignmentRow, whole(rows), **paging)


def _refuse_the_future(at: datetime | None, now: datetime) -> None:
    if at is not None and at > now:
        raise ValidationError({"at": [f"{at.isoformat()} lies in the future: nothing is known of it."]})
