"""GET groups/{cluster}/{group}/offsets/"""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.models import TopicKind
from consumers.selectors.offset_stores.rows import STORE_KINDS
from consumers.selectors.offset_stores.stores import group_offsets
from consumers.selectors.queues import find_group

from .found import group_missing
from .lists import list_response, whole
from .narrowed import narrowed, taken
from .parameters import Choice, Paging
from .schema import described


class OffsetParameters(Paging):
    topic = serializers.CharField(required=False)
    broker = serializers.CharField(required=False)
    kind = Choice(TopicKind.values, required=False)


class StoreSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(STORE_KINDS)
    offset = serializers.IntegerField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True, help_text="When the store was read last")
    # A field's own `source` is another: declared fields are taken off the class.
    source = serializers.CharField(  # type: ignore[assignment]
        allow_null=True, help_text="The broker, the file's path, or the client id"
    )
    finding = serializers.CharField(allow_null=True, help_text="Why there is no offset, or what is wrong with it")
    client_id = serializers.CharField(allow_null=True)
    persisted_at = serializers.DateTimeField(allow_null=True, help_text="When a file was last written; null in memory")
    usual_period_seconds = serializers.FloatField(allow_null=True, help_text="How often the store is usually written")
    lag_messages = serializers.IntegerField(allow_null=True, help_text="Counted from this offset")


class ExposureSerializer(serializers.Serializer[Any]):
    """Messages that would be consumed again. A null has its reason in the queue's `unknown`, as `exposure.low`."""

    low = serializers.IntegerField(allow_null=True, help_text="If the consumer dies: at least")
    high = serializers.IntegerField(allow_null=True, help_text="If the consumer dies: at most")
    finished_out_of_order = serializers.IntegerField(
        allow_null=True, help_text="Finished beyond the first unfinished one, at most; lies between low and high"
    )
    broker_dies = serializers.IntegerField(
        allow_null=True, help_text="If the broker dies and the owners keep the queue: they commit again"
    )
    both_die_low = serializers.IntegerField(allow_null=True, help_text="If both die: at least")
    both_die_high = serializers.IntegerField(allow_null=True, help_text="If both die, from the broker's file: at most")
    as_of = serializers.DateTimeField(allow_null=True, help_text="When the owners spoke; null with the numbers")
    notes = serializers.ListField(child=serializers.CharField())


class OffsetSerializer(serializers.Serializer[Any]):
    """`would_start_at`: the first message that a member would get that took the queue over at this moment."""

    topic = serializers.CharField()
    broker = serializers.CharField(
        allow_null=True, help_text="Null for a queue of a file that does not tell its broker"
    )
    queue_id = serializers.IntegerField()
    kind = serializers.ChoiceField(TopicKind.choices)
    min_offset = serializers.IntegerField(allow_null=True)
    broker_offset = serializers.IntegerField(allow_null=True)
    stores = StoreSerializer(many=True)
    exposure = ExposureSerializer()
    would_start_at = serializers.IntegerField(allow_null=True)
    would_start_rule = serializers.CharField(allow_null=True)
    never_committed = serializers.BooleanField(
        allow_null=True, help_text="The group has the topic, but no offset of this queue"
    )
    taken_at = serializers.DateTimeField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class OffsetListView(APIView):
    @described("group_offsets", OffsetSerializer, parameters=OffsetParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """The offset stores of a group side by side, per queue: in order of topic, broker and id."""
        filters = OffsetParameters.of(request)
        paging = {name: filters.pop(name) for name in ("page", "page_size")}
        found = find_group(cluster, group)
        if found is None:
            raise group_missing(cluster, group)
        wanted = taken(filters, "broker", "kind")
        rows = narrowed(group_offsets(found, now=timezone.now(), **filters).rows, wanted)
        return list_response(request, OffsetSerializer, whole(rows), **paging)
