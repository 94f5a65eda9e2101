"""GET groups/{cluster}/{group}/offsets/"""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.models import TopicKind
from consumers.selectors.offset_stores.rows import OffsetRow
from consumers.selectors.offset_stores.stores import group_offsets

from .found import found_group
from .lists import list_response, whole
from .narrowed import narrowed, taken
from .parameters import PAGE, Choice, Paging
from .schema import described


class OffsetParameters(Paging):
    topic = serializers.CharField(required=False)
    broker = serializers.CharField(required=False)
    kind = Choice(TopicKind.values, required=False)


class OffsetListView(APIView):
    @described("group_offsets", OffsetRow, parameters=OffsetParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """The offset stores of a group side by side, per queue: in order of topic, broker and id."""
        filters = OffsetParameters.of(request)
        paging = taken(filters, *PAGE)
        found = found_group(cluster, group)
        wanted = taken(filters, "broker", "kind")
        rows = narrowed(group_offsets(found, now=timezone.now(), **filters).rows, wanted)
        return list_response(request, OffsetRow, whole(rows), **paging)
