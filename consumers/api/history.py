"""GET groups/{cluster}/{group}/history/"""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.selectors.history.series import group_history
from consumers.selectors.history.window_range import STEPS, RangeError

from .found import group_missing
from .objects import object_response
from .parameters import Choice, Parameters
from .schema import described

HOUR = timedelta(hours=1)


class HistoryParameters(Parameters):
    to = serializers.DateTimeField(required=False, help_text="ISO 8601; without it: this moment")
    step = Choice(STEPS, required=False, help_text="Seconds; without it: as fits the range")
    by = Choice(("group", "topic", "queue"), default="group")

    def get_fields(self) -> dict[str, Any]:
        """`from` is a word of Python's own, so that it cannot be declared as the others are."""
        start = serializers.DateTimeField(required=False, help_text="ISO 8601; without it: an hour before `to`")
        return {"from": start, **super().get_fields()}


class PointSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    lag_messages = serializers.IntegerField(allow_null=True)
    time_lag_seconds = serializers.FloatField(allow_null=True)
    consume_rate = serializers.FloatField(allow_null=True)
    produce_rate = serializers.FloatField(allow_null=True)
    readings = serializers.IntegerField(allow_null=True)
    unknown_reason = serializers.CharField(allow_null=True, help_text="Why the window has no lag, and nothing else")
    unknown = serializers.DictField(child=serializers.CharField(), help_text="Why a window with a lag lacks others")
    complete = serializers.BooleanField(
        help_text="Aggregated to its end; otherwise it holds what was read of it so far"
    )


class SeriesSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField(allow_null=True)
    broker = serializers.CharField(allow_null=True)
    queue_id = serializers.IntegerField(allow_null=True)
    points = PointSerializer(many=True)


class HistorySerializer(serializers.Serializer[Any]):
    """Every window of the range is there; one of which nothing is known holds nulls and the reason."""

    to = serializers.DateTimeField(source="until")
    step_seconds = serializers.ChoiceField(STEPS)
    series = SeriesSerializer(many=True)

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.DateTimeField(source="since"), **super().get_fields()}


class HistoryView(APIView):
    @described("group_history", HistorySerializer, parameters=HistoryParameters)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Lag, time lag and rates over time, of the group, its topics or its queues."""
        values, now = HistoryParameters.of(request), timezone.now()
        until = values.get("to", now)
        since = values.get("from", until - HOUR)
        try:
            history = group_history(
                cluster, group, since=since, until=until, now=now, step_seconds=values.get("step"), by=values["by"]
            )
        except RangeError as error:
            raise ValidationError({"from": [str(error)]}) from None
        if history is None:
            raise group_missing(cluster, group)
        return object_response(request, HistorySerializer, history)
