"""Of groups/{cluster}/{group}/: GET offsets/, and POST lost-offsets/acknowledge/."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.models import LossAcknowledgement, TopicKind
from consumers.offsets.stores import group_offsets
from consumers.resets.acts import acknowledge_loss
from consumers.resets.rest import MayReset
from consumers.rest.answers import list_response, whole
from consumers.rest.problems import found_group
from consumers.rest.requests import PAGE, Choice, NothingSerializer, Paging, body_of, narrowed, taken
from consumers.rest.schema import acted, described

from .clients import OffsetRow


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


class LostQueueSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField()
    broker = serializers.CharField()
    queue_id = serializers.IntegerField()
    lost_offset = serializers.IntegerField(allow_null=True, help_text="Null: its last known offset is not known")
    lost_at = serializers.DateTimeField(allow_null=True, help_text="Null: when it was last read is not known")


class LossAcknowledgementSerializer(serializers.Serializer[Any]):
    cluster = serializers.CharField(source="group.cluster.name")
    group = serializers.CharField(source="group.name")
    at = serializers.DateTimeField()
    by = serializers.CharField(source="by_name")
    queues = LostQueueSerializer(many=True)
    applied_at = serializers.DateTimeField(allow_null=True, help_text="Null until the next poll has taken note of it")


class AcknowledgeLossView(APIView):
    permission_classes = [IsAuthenticated, MayReset]

    @acted("acknowledge_loss", NothingSerializer, LossAcknowledgementSerializer, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, cluster: str, group: str) -> Response:
        """Takes note of every offset that the group has lost by now: its queues count as never committed from the next
        poll on. Nothing is changed on brokers."""
        body_of(NothingSerializer, request)
        found = found_group(cluster, group)
        made: LossAcknowledgement = acknowledge_loss(found, request.user, timezone.now())
        return Response(LossAcknowledgementSerializer(made).data, status=status.HTTP_202_ACCEPTED)
