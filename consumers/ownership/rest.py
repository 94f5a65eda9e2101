"""Who consumes what: GET members/, assignments/ and subscriptions/ of groups/{cluster}/{group}/."""

from dataclasses import replace
from datetime import datetime, timedelta

from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.ownership.assignments import assignments
from consumers.ownership.members import member_list, members_unknown
from consumers.ownership.rows import AssignmentRow, MemberRow
from consumers.ownership.subscriptions import SubscriptionHistory, SubscriptionRow, subscription_history
from consumers.rest.answers import found_group, list_response, whole
from consumers.rest.requests import MOST_ROWS, PAGE, Moment, Paging, narrowed, ordering_by, taken
from consumers.rest.schema.described import described, read_serializer


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
        members = whole(rows, beside={"unknown_reason": why}, incomplete=why)
        return list_response(request, MemberRow, members, **paging)


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
