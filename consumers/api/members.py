"""GET groups/{cluster}/{group}/members/"""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.selectors.ownership.members import member_list, members_unknown
from consumers.selectors.ownership.rows import MemberRow

from .found import found_group
from .lists import list_response, whole
from .narrowed import narrowed, ordering_by, taken
from .parameters import PAGE, Paging
from .schema import described

SUBSCRIPTIONS = "topic, expression, expression_type"


class MemberParameters(Paging):
    language = serializers.CharField(required=False)
    version = serializers.CharField(required=False)
    ordering = ordering_by("client_id", "queues", "messages_per_second", "online_since")


class MemberListView(APIView):
    @described(
        "group_members",
        MemberRow,
        parameters=MemberParameters,
        paged=True,
        beside={
            "unknown_reason": serializers.CharField(
                allow_null=True, help_text="Why these need not be all members, or are those of an older answer"
            )
        },
    )
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """The members of a group, by client id where no other order is asked for."""
        wanted, now = MemberParameters.of(request), timezone.now()
        paging = taken(wanted, *PAGE)
        found = found_group(cluster, group)
        why = members_unknown(found, now=now)
        rows = narrowed(member_list(found, now=now), wanted)
        members = whole(rows, beside={"unknown_reason": why}, incomplete=why)
        return list_response(request, MemberRow, members, **paging)
