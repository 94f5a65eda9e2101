"""GET groups/{cluster}/{group}/"""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.selectors.groups.detail import group_detail
from consumers.selectors.groups.rows import GroupDetail

from .found import group_missing
from .objects import object_response
from .parameters import Parameters
from .schema import described


class GroupView(APIView):
    @described("group", GroupDetail)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """One group with its topics, subscriptions, members, and the rule that decided, with its numbers."""
        Parameters.of(request)
        detail = group_detail(cluster, group, now=timezone.now())
        if detail is None:
            raise group_missing(cluster, group)
        return object_response(request, GroupDetail, detail)
