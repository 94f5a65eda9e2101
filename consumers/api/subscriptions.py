"""GET groups/{cluster}/{group}/subscriptions/"""

from dataclasses import replace
from datetime import timedelta

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.selectors.history.window_range import RangeError
from consumers.selectors.ownership.subscription_rows import SubscriptionHistory, SubscriptionRow
from consumers.selectors.ownership.subscriptions import subscription_history

from .derived import read_serializer
from .found import found_group
from .lists import list_response, whole
from .narrowed import narrowed, taken
from .parameters import MOST_ROWS, PAGE, Moment, Paging
from .schema import described

WEEK = timedelta(days=7)


class SubscriptionParameters(Paging):
    since = "ISO 8601; without it: a week before `to`"
    page_size = serializers.IntegerField(default=MOST_ROWS, min_value=1, max_value=MOST_ROWS)
    topic = serializers.CharField(required=False)
    client_id = serializers.CharField(required=False, help_text="Of subscriptions; differences are of all members")
    to = Moment(required=False, help_text="ISO 8601; without it: this moment")


class SubscriptionView(APIView):
    @described(
        "group_subscriptions",
        SubscriptionRow,
        parameters=SubscriptionParameters,
        paged=True,
        under="subscriptions",
        beside=read_serializer(SubscriptionHistory)().get_fields(),
    )
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Who subscribed to what since when, and when members of the group differed in it."""
        values = SubscriptionParameters.of(request)
        until = values.get("to", timezone.now())
        since = values.get("from", until - WEEK)
        if since >= until:
            raise ValidationError({"from": ["The range is empty: 'from' must be before 'to'."]})
        found = found_group(cluster, group)
        try:
            history = subscription_history(found, since=since, until=until)
        except RangeError as error:
            raise ValidationError({"from": [str(error)]}) from None
        # Who differs is told by all members of the topic together.
        of_topic = {"topic": values["topic"]} if "topic" in values else {}
        shown = replace(history, differences=narrowed(history.differences, of_topic))
        rows = narrowed(history.subscriptions, of_topic | taken(values, "client_id"))
        why = history.unknown.get("subscriptions")
        paging = taken(values, *PAGE)
        find = whole(rows, read_serializer(SubscriptionHistory)(shown).data, why)
        return list_response(request, SubscriptionRow, find, **paging, under="subscriptions")
