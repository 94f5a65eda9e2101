"""GET groups/{cluster}/{group}/retries/"""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.models import ConsumerGroup
from consumers.pipeline.upkeep import STEPS
from consumers.selectors.history.window_range import RangeError
from consumers.selectors.retries.blocked import blocked_queues
from consumers.selectors.retries.conditions import conditions_of
from consumers.selectors.retries.ladder import ladder_of
from consumers.selectors.retries.volume_rows import VolumeTotals
from consumers.selectors.retries.volumes import volumes_of

from .found import group_missing
from .objects import object_response
from .parameters import Moment, Parameters
from .rate import charge
from .retry_rows import BlockedSerializer, ConditionSerializer, RungSerializer
from .retry_waiting import (
    DelayFindingSerializer,
    DueSerializer,
    LastAttemptsSerializer,
    PolicySerializer,
    WaitingSerializer,
    WheelSerializer,
)
from .schema import described

HOUR = timedelta(hours=1)


class RetryParameters(Parameters):
    to = Moment(required=False, help_text="ISO 8601; without it: this moment")

    def get_fields(self) -> dict[str, Any]:
        """`from` is a word of Python's own, so that it cannot be declared as the others are."""
        start = Moment(required=False, help_text="ISO 8601; without it: an hour before `to`")
        return {"from": start, **super().get_fields()}


class VolumesSerializer(serializers.Serializer[Any]):
    """Messages of [from, to). `into_retry` has one for each redelivery."""

    into_retry = serializers.IntegerField(allow_null=True)
    out_of_retry = serializers.IntegerField(allow_null=True)
    into_dlq = serializers.IntegerField(allow_null=True)
    consumed = serializers.IntegerField(allow_null=True, help_text="Of the group's own topics")
    unknown = serializers.DictField(child=serializers.CharField())


class VolumeTotalsSerializer(VolumesSerializer):
    to = serializers.DateTimeField(source="until", help_text="Up to what was judged last")
    at_least = serializers.SerializerMethodField(help_text="The known part of each, where there is one")
    known_since = serializers.DictField(
        child=serializers.DateTimeField(),
        help_text="Of each null: the moment from which `at_least` counts, where what came before it is not known",
    )

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.DateTimeField(source="since"), **super().get_fields()}

    def get_at_least(self, totals: VolumeTotals) -> dict[str, int]:
        return {name: known for name, known in totals.at_least.items() if known is not None}


class VolumeWindowSerializer(VolumesSerializer):
    to = serializers.DateTimeField(source="until")
    is_open = serializers.BooleanField(help_text="It is not over, as far as judged")

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.DateTimeField(source="at"), **super().get_fields()}


class RetriesSerializer(serializers.Serializer[Any]):
    """Every window of the range is there; what is not known of one is null, with the reason in its `unknown`."""

    to = serializers.DateTimeField()
    step_seconds = serializers.ChoiceField(STEPS)
    totals = VolumeTotalsSerializer()
    windows = VolumeWindowSerializer(many=True)
    ladder = RungSerializer(many=True, help_text="Empty, with a reason, while no broker has said its delay levels")
    ladder_read_at = serializers.DateTimeField(allow_null=True)
    waiting = WaitingSerializer()
    last_attempts = LastAttemptsSerializer()
    due = DueSerializer()
    wheel = WheelSerializer()
    policy = PolicySerializer(allow_null=True, help_text="Null: no broker configures one")
    delay_findings = DelayFindingSerializer(many=True)
    blocked = BlockedSerializer(many=True)
    conditions = ConditionSerializer(many=True)
    unknown = serializers.DictField(child=serializers.CharField())

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.DateTimeField(), **super().get_fields()}


class RetriesView(APIView):
    @described("group_retries", RetriesSerializer, parameters=RetryParameters)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Volumes over time, what waits on which delay level, blocked queues, and whether retries can work."""
        values, now = RetryParameters.of(request), timezone.now()
        until = values.get("to", now)
        since = values.get("from", until - HOUR)
        try:
            volumes = volumes_of(cluster, group, since, until, now)
        except RangeError as error:
            raise ValidationError({"from": [str(error)]}) from None
        except ConsumerGroup.DoesNotExist:
            raise group_missing(cluster, group) from None
        charge(request, points=len(volumes.windows))
        ladder = ladder_of(cluster, group, now)
        unknown = {"ladder": ladder.unknown["rungs"]} if not ladder.rungs else {}
        unknown |= {} if ladder.read_at else {"ladder_read_at": ladder.unknown["read_at"]}
        unknown |= {} if ladder.policy else {"policy": ladder.unknown["policy"]}
        report = {
            "from": volumes.since,
            "to": volumes.until,
            "step_seconds": volumes.step_seconds,
            "totals": volumes.totals,
            "windows": volumes.windows,
            "ladder": ladder.rungs,
            "ladder_read_at": ladder.read_at,
            "waiting": ladder,
            "last_attempts": ladder.last_attempts,
            "due": ladder.due,
            "wheel": ladder.wheel,
            "policy": ladder.policy,
            "delay_findings": ladder.findings,
            "blocked": blocked_queues(cluster, group, now),
            "conditions": conditions_of(cluster, group, now),
            "unknown": unknown,
        }
        return object_response(request, RetriesSerializer, report)
