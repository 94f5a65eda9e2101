"""GET groups/{cluster}/{group}/status/"""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.selectors.status import GroupStatus, group_status

from .found import group_missing
from .objects import object_response
from .parameters import Parameters
from .schema import described


class StatusView(APIView):
    @described("group_status", GroupStatus)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Small and stable, for alert rules."""
        Parameters.of(request)
        status = group_status(cluster, group, now=timezone.now())
        if status is None:
            raise group_missing(cluster, group)
        return object_response(request, GroupStatus, status)
