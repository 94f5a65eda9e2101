"""GET groups/{cluster}/{group}/history/"""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.pipeline.upkeep import STEPS
from consumers.selectors.history.rows import History, Point, Series
from consumers.selectors.history.series import group_history
from consumers.selectors.history.window_range import MOST_WINDOWS, RangeError, TooManyPoints

from .http.objects import object_response
from .http.parameters import Choice, Moment, Parameters, taken
from .http.problems import group_missing
from .http.rate import charge
from .schema.derived import made_serializer
from .schema.described import described

HOUR = timedelta(hours=1)
QUEUE_NAMES = ("topic", "broker", "queue_id")
# A sum over some queues of a topic is no sum of the topic.
NAMED_BY: dict[str, tuple[str, ...]] = {"group": (), "topic": ("topic",), "queue": QUEUE_NAMES}
MOST_QUEUE_ID = 2**31 - 1


class HistoryParameters(Parameters):
    since = "ISO 8601; without it: an hour before `to`"
    to = Moment(required=False, help_text="ISO 8601; without it: this moment")
    step = Choice(STEPS, required=False, help_text="Seconds; without it: as fits the range and its queues")
    by = Choice(("group", "topic", "queue"), default="group")
    topic = serializers.CharField(required=False, help_text="By topic or queue: of this topic alone")
    broker = serializers.CharField(required=False, help_text="By queue: of queues on this broker alone")
    queue_id = serializers.IntegerField(
        required=False, min_value=0, max_value=MOST_QUEUE_ID, help_text="By queue: of queues with this id alone"
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        values = super().validate(attrs)
        odd = [name for name in QUEUE_NAMES if name in values and name not in NAMED_BY[values["by"]]]
        if odd:
            sentence = f"It does not go with by={values['by']}: ask for by=queue, or leave it out."
            raise serializers.ValidationError({odd[0]: [sentence]})
        return values


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

    def to_representation(self, point: Point) -> dict[str, Any]:
        """As the fields say, in a tenth of the time that they take: an answer has tens of thousands of them."""
        said = point._asdict()
        return said | {"at": _iso(point.at), "unknown": dict(point.unknown)}


@lru_cache(maxsize=MOST_WINDOWS)
def _iso(at: datetime) -> str:
    """Each series has the same times."""
    return at.isoformat().replace("+00:00", "Z")


SeriesSerializer = made_serializer(Series, points=PointSerializer(many=True))
HistorySerializer = made_serializer(History, series=SeriesSerializer(many=True))


class HistoryView(APIView):
    @described("group_history", HistorySerializer, parameters=HistoryParameters)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Lag, time lag and rates over time, of the group, its topics or its queues.

        Queues × windows are HISTORY_POINTS at most, also by topic.
        """
        values, now = HistoryParameters.of(request), timezone.now()
        until = values.get("to", now)
        since = values.get("from", until - HOUR)
        try:
            history = group_history(
                cluster,
                group,
                since=since,
                until=until,
                now=now,
                step_seconds=values.get("step"),
                by=values["by"],
                named=taken(values, *QUEUE_NAMES),
            )
        except TooManyPoints as error:
            raise ValidationError({"step": [str(error)]}) from None
        except RangeError as error:
            raise ValidationError({"from": [str(error)]}) from None
        if history is None:
            raise group_missing(cluster, group)
        charge(request, points=sum(len(series.points) for series in history.series))
        return object_response(request, HistorySerializer, history)
