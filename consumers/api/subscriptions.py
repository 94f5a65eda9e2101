"""GET groups/{cluster}/{group}/subscriptions/"""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.selectors.ownership.subscriptions import subscription_history
from consumers.selectors.queues import find_group

from .found import group_missing
from .parameters import Parameters
from .schema import described

WEEK = timedelta(days=7)


class SubscriptionParameters(Parameters):
    to = serializers.DateTimeField(required=False, help_text="ISO 8601; without it: this moment")

    def get_fields(self) -> dict[str, Any]:
        """`from` is a word of Python's own, so that it cannot be declared as the others are."""
        start = serializers.DateTimeField(required=False, help_text="ISO 8601; without it: a week before `to`")
        return {"from": start, **super().get_fields()}


class SubscriptionSerializer(serializers.Serializer[Any]):
    client_id = serializers.CharField()
    topic = serializers.CharField()
    expression = serializers.CharField()
    expression_type = serializers.CharField(allow_null=True)
    seen_since = serializers.DateTimeField(help_text="The first answer that said so")
    last_seen = serializers.DateTimeField(help_text="The last answer that said so")
    gone_by = serializers.DateTimeField(allow_null=True, help_text="The answer that said it no more; null: none did")
    unknown = serializers.DictField(child=serializers.CharField())


class WantedSerializer(serializers.Serializer[Any]):
    expression = serializers.CharField(allow_null=True, help_text="Null: not subscribed")
    expression_type = serializers.CharField(allow_null=True)
    client_ids = serializers.ListField(child=serializers.CharField())
    unknown = serializers.DictField(child=serializers.CharField())


class DifferenceSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField()
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True, help_text="Null: still at the end of the range")
    wanted = WantedSerializer(many=True, help_text="That of most members first")
    unknown = serializers.DictField(child=serializers.CharField())


class SubscriptionHistorySerializer(serializers.Serializer[Any]):
    """What members subscribed to, each interval whole, and from when to when they differed within the range."""

    to = serializers.DateTimeField(source="until")
    subscriptions = SubscriptionSerializer(many=True)
    differences = DifferenceSerializer(many=True)
    unknown = serializers.DictField(child=serializers.CharField(), help_text="Why either need not be all")

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.DateTimeField(source="since"), **super().get_fields()}


class SubscriptionView(APIView):
    @described("group_subscriptions", SubscriptionHistorySerializer, parameters=SubscriptionParameters)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Who subscribed to what since when, and when members of the group differed in it."""
        values = SubscriptionParameters.of(request)
        until = values.get("to", timezone.now())
        since = values.get("from", until - WEEK)
        if since >= until:
            raise ValidationError({"from": ["The range is empty: 'from' must be before 'to'."]})
        found = find_group(cluster, group)
        if found is None:
            raise group_missing(cluster, group)
        return Response(SubscriptionHistorySerializer(subscription_history(found, since=since, until=until)).data)
