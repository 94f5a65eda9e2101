"""GET groups/{cluster}/{group}/status/"""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.models import State
from consumers.selectors.status import group_status
from consumers.vocabulary.unknown import UnknownReason

from .found import group_missing
from .group import WorstQueueSerializer
from .groups import STALE, OpenIncidentsSerializer
from .objects import object_response
from .parameters import Parameters
from .schema import described


class StatusSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(list(State))
    stale = serializers.BooleanField(help_text=STALE)
    since = serializers.DateTimeField(allow_null=True)
    completeness = serializers.FloatField(allow_null=True)
    lag_messages = serializers.IntegerField(allow_null=True)
    time_lag_seconds = serializers.FloatField(allow_null=True)
    worst_queue = WorstQueueSerializer(allow_null=True)
    open_incidents = OpenIncidentsSerializer(allow_null=True)
    taken_at = serializers.DateTimeField(allow_null=True)
    judged_at = serializers.DateTimeField(allow_null=True)
    unknown_reason = serializers.CharField(allow_null=True)
    unknown_reason_code = serializers.ChoiceField(list(UnknownReason), allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class StatusView(APIView):
    @described("group_status", StatusSerializer)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Small and stable, for alert rules."""
        Parameters.of(request)
        status = group_status(cluster, group, now=timezone.now())
        if status is None:
            raise group_missing(cluster, group)
        return object_response(request, StatusSerializer, status)
