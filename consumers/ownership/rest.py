"""Who consumes what: GET members/, members/rates/, assignments/ and subscriptions/ of a group."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.ownership.assignments import assignments
from consumers.ownership.member_rates import MemberPoint, MemberRates, MemberSeries, member_rates
from consumers.ownership.members import member_list, members_unknown
from consumers.ownership.rows import AssignmentRow, MemberRow
from consumers.ownership.subscriptions import SubscriptionHistory, SubscriptionRow, subscription_history
from consumers.pipeline.upkeep import STEPS
from consumers.rest.access import charge
from consumers.rest.answers import list_response, object_response, whole
from consumers.rest.problems import found_group
from consumers.rest.requests import (
    MOST_ROWS,
    PAGE,
    Choice,
    Moment,
    Paging,
    Parameters,
    narrowed,
    ordering_by,
    taken,
)
from consumers.rest.schema import described, made_serializer, read_serializer


class MemberParameters(Paging):
    language = serializers.CharField(required=False)
    version = serializers.CharField(required=False)
    ordering = ordering_by("client_id", "queues", "messages_per_second", "online_since")


class MemberListView(APIView):
    @described(
        "group_members",
        MemberRow,
        parameters=MemberParameters,
        paged=True,
        beside={
            "unknown_reason": serializers.CharField(
                allow_null=True, help_text="Why these need not be all members, or are those of an older answer"
            )
        },
    )
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """The members of a group, by client id where no other order is asked for."""
        wanted, now = MemberParameters.of(request), timezone.now()
        paging = taken(wanted, *PAGE)
        found = found_group(cluster, group)
        why = members_unknown(found, now=now)
        rows = narrowed(member_list(found, now=now), wanted)
        members = whole(rows, extra={"unknown_reason": why}, incomplete=why)
        return list_response(request, MemberRow, members, **paging)


HOUR = timedelta(hours=1)


class MemberRatesParameters(Parameters):
    since = "ISO 8601; default: an hour before `to`"
    to = Moment(required=False, help_text="ISO 8601; default: now")
    step = Choice(STEPS, required=False, help_text="Seconds; without it: as fits the range")
    topic = serializers.CharField(
        required=False, help_text="What members report of this topic alone; without it: of all their topics together"
    )
    client_id = serializers.CharField(required=False, help_text="This member alone")


class MemberPointSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    consume_ok_tps = serializers.FloatField(allow_null=True, help_text="Messages consumed per second")
    consume_failed_tps = serializers.FloatField(allow_null=True, help_text="Messages that failed per second")
    consume_rt_ms = serializers.FloatField(allow_null=True, help_text="Milliseconds that a message took")
    pull_tps = serializers.FloatField(allow_null=True, help_text="Messages pulled per second")
    pull_rt_ms = serializers.FloatField(
        allow_null=True, help_text="Milliseconds that a pull took; the broker holds it until there is a message"
    )
    cached_messages = serializers.IntegerField(
        allow_null=True, help_text="Held and not finished: the most that an answer of the window counted"
    )
    cached_mib = serializers.IntegerField(
        allow_null=True, help_text="The same in MiB, at least: each queue counts whole ones"
    )
    answers = serializers.IntegerField(help_text="How often the member answered in the window")
    unknown_reason = serializers.CharField(allow_null=True, help_text="Why the window has no answer of the member")
    unknown = serializers.DictField(
        child=serializers.CharField(), help_text="Why a number of a window with answers is null"
    )

    def to_representation(self, point: MemberPoint) -> dict[str, Any]:
        """As the fields say, in a tenth of the time that they take: an answer has thousands of them."""
        return point._asdict() | {"at": point.at.isoformat().replace("+00:00", "Z"), "unknown": dict(point.unknown)}


MemberSeriesSerializer = made_serializer(MemberSeries, points=MemberPointSerializer(many=True))
MemberRatesSerializer = made_serializer(MemberRates, series=MemberSeriesSerializer(many=True))


class MemberRatesView(APIView):
    @described("group_member_rates", MemberRatesSerializer, parameters=MemberRatesParameters)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """What the members of a group reported over time: messages per second, their times, messages held.

        A value is the mean over the member's answers in a window; each answer is an average of its last minute.
        Members × windows are HISTORY_POINTS at most.
        """
        values, now = MemberRatesParameters.of(request), timezone.now()
        until = values.get("to", now)
        history = member_rates(
            found_group(cluster, group),
            since=values.get("from", until - HOUR),
            until=until,
            now=now,
            step_seconds=values.get("step"),
            **taken(values, "topic", "client_id"),
        )
        charge(request, points=sum(len(series.points) for series in history.series))
        return object_response(request, MemberRatesSerializer, history)


class AssignmentParameters(Paging):
    at = Moment(required=False, help_text="ISO 8601, a time in the past; without it: the newest")
    topic = serializers.CharField(required=False)
    broker = serializers.CharField(required=False)
    owner = serializers.CharField(required=False, help_text="Client id")


class AssignmentListView(APIView):
    @described("group_assignments", AssignmentRow, parameters=AssignmentParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Who owns which queue, or owned it at a past time: in order of topic, broker, queue and owner."""
        filters, now = AssignmentParameters.of(request), timezone.now()
        paging = taken(filters, *PAGE)
        _refuse_the_future(filters.get("at"), now)
        found = found_group(cluster, group)
        wanted = taken(filters, "broker", "owner")
        rows = narrowed(assignments(found, now=now, **filters), wanted)
        return list_response(request, AssignmentRow, whole(rows), **paging)


def _refuse_the_future(at: datetime | None, now: datetime) -> None:
    if at is not None and at > now:
        raise ValidationError(
            {"at": [gettext("%(at)s is in the future. Use a time in the past.") % {"at": at.isoformat()}]}
        )


WEEK = timedelta(days=7)


class SubscriptionParameters(Paging):
    since = "ISO 8601; default: a week before `to`"
    page_size = serializers.IntegerField(default=MOST_ROWS, min_value=1, max_value=MOST_ROWS)
    topic = serializers.CharField(required=False)
    client_id = serializers.CharField(required=False, help_text="Of subscriptions; differences are of all members")
    to = Moment(required=False, help_text="ISO 8601; default: now")


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
            raise ValidationError({"from": [gettext("The range is empty: 'from' must be before 'to'.")]})
        found = found_group(cluster, group)
        history = subscription_history(found, since=since, until=until)
        # Who differs is told by all members of the topic together.
        of_topic = {"topic": values["topic"]} if "topic" in values else {}
        shown = replace(history, differences=narrowed(history.differences, of_topic))
        rows = narrowed(history.subscriptions, of_topic | taken(values, "client_id"))
        why = history.unknown.get("subscriptions")
        paging = taken(values, *PAGE)
        find = whole(rows, read_serializer(SubscriptionHistory)(shown).data, why)
        return list_response(request, SubscriptionRow, find, **paging, under="subscriptions")
