"""GET groups/{cluster}/{group}/members/"""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.selectors.ownership.members import member_list, members_unknown
from consumers.selectors.queues import find_group

from .found import group_missing
from .lists import list_response, whole
from .narrowed import narrowed, ordering_by
from .parameters import Paging
from .schema import described

SUBSCRIPTIONS = "topic, expression, expression_type"


class QueuePlaceSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField()
    broker = serializers.CharField()
    queue_id = serializers.IntegerField()


class QueueShareSerializer(QueuePlaceSerializer):
    messages_per_second = serializers.FloatField()
    share = serializers.FloatField(allow_null=True, help_text="Of the group's messages, from 0 to 1")


class MemberSerializer(serializers.Serializer[Any]):
    """What is not known is null, and so is what is not the case: `unknown` says why."""

    client_id = serializers.CharField()
    address = serializers.CharField(help_text="Of its first connection")
    connections = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), help_text="Addresses, by the broker that lists them"
    )
    language = serializers.CharField()
    version = serializers.CharField(allow_null=True)
    online_since = serializers.DateTimeField(allow_null=True)
    seen_at = serializers.DateTimeField()
    listed_since = serializers.DateTimeField(allow_null=True, help_text="By these brokers, and no others")
    duplicated_since = serializers.DateTimeField(
        allow_null=True, help_text="One broker lists two connections under this id: two processes share it"
    )
    subscription = serializers.ListField(child=serializers.DictField(), allow_null=True, help_text=SUBSCRIPTIONS)
    sub_version = serializers.DateTimeField(
        allow_null=True, help_text="By its own clock: the last change of its queues or subscriptions"
    )
    strategy = serializers.CharField(allow_null=True)
    orderly = serializers.BooleanField(allow_null=True)
    consume_type = serializers.CharField(allow_null=True)
    message_model = serializers.CharField(allow_null=True)
    queues = serializers.IntegerField(allow_null=True)
    messages_per_second = serializers.FloatField(
        allow_null=True, help_text="Consumed of the queues that it owns, over the last whole minutes"
    )
    share = serializers.FloatField(allow_null=True, help_text="Of the group's messages, from 0 to 1")
    busiest_queue = QueueShareSerializer(allow_null=True, help_text="Of those it owns")
    never_written = serializers.ListField(
        child=QueuePlaceSerializer(), allow_null=True, help_text="Queues that it owns and that never held a message"
    )
    unknown = serializers.DictField(child=serializers.CharField())


class MemberParameters(Paging):
    language = serializers.CharField(required=False)
    version = serializers.CharField(required=False)
    ordering = ordering_by("client_id", "queues", "messages_per_second", "online_since")


class MemberListView(APIView):
    @described(
        "group_members",
        MemberSerializer,
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
        paging = {name: wanted.pop(name) for name in ("page", "page_size")}
        found = find_group(cluster, group)
        if found is None:
            raise group_missing(cluster, group)
        why = members_unknown(found, now=now)
        rows = narrowed(member_list(found, now=now), wanted)
        members = whole(rows, beside={"unknown_reason": why}, incomplete=why)
        return list_response(request, MemberSerializer, members, **paging)
