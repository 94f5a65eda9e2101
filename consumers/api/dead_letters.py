"""GET groups/{cluster}/{group}/dlq/"""

from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.selectors.dead_letters.filter_query import TEXTS, TIMES
from consumers.selectors.dead_letters.filters import DeadLetterFilters
from consumers.selectors.dead_letters.listing import dead_letter_list
from consumers.selectors.dead_letters.rows import Completeness, DeadLetterRow

from .derived import read_serializer
from .found import found_group
from .lists import Found, list_response
from .narrowed import taken
from .parameters import PAGE, Paging, Ranged
from .schema import described


class DeadLetterParameters(Paging, Ranged):
    """`from` and `to`: when it was stored."""

    key = serializers.CharField(required=False, help_text="One whole key")
    key_part = serializers.CharField(required=False, help_text="A part of any key")
    tag = serializers.CharField(required=False)
    message_id = serializers.CharField(
        required=False, help_text="Its producer's id, the first message's, or that of the place where it is stored"
    )
    origin_topic = serializers.CharField(required=False)
    resent = serializers.BooleanField(required=False, help_text="true: it was, or may have been, sent again")


class DeadLetterListView(APIView):
    @described(
        "group_dead_letters",
        DeadLetterRow,
        parameters=DeadLetterParameters,
        paged=True,
        beside={"completeness": read_serializer(Completeness)()},
    )
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Dead letters of a group, newest first, without their bodies; and how complete the list is."""
        values = DeadLetterParameters.of(request)
        found = found_group(cluster, group)
        filters = DeadLetterFilters(
            **{field: values.get(name) for name, field in TIMES.items()},
            **{name: values.get(name) for name in (*TEXTS, "resent")},
        )
        paging = taken(values, *PAGE)

        def find(page: int, page_size: int) -> Found:
            part = dead_letter_list(found, filters, page=page, page_size=page_size)
            beside = {"completeness": read_serializer(Completeness)(part.completeness).data}
            return Found(part.rows, part.count, beside, part.completeness.unknown_reason)

        return list_response(request, DeadLetterRow, find, **paging)
