"""GET groups/{cluster}/{group}/queues/"""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.models import State, TimeLagKind, TopicKind
from consumers.selectors.queues import find_group, queue_list
from consumers.vocabulary.rules import RuleCode
from consumers.vocabulary.unknown import UnknownReason

from .found import group_missing
from .groups import STALE
from .lists import list_response, whole
from .narrowed import narrowed, ordering_by, taken
from .parameters import Choice, Paging
from .schema import described


class QueueParameters(Paging):
    topic = serializers.CharField(required=False)
    kind = Choice(TopicKind.values, required=False)
    with_lag = serializers.BooleanField(required=False, help_text="true: has lag, or its lag is not known")
    broker = serializers.CharField(required=False)
    state = Choice(list(State), required=False)
    owner = serializers.CharField(required=False, help_text="Client id")
    ordering = ordering_by("lag_messages", "time_lag_seconds", "since", "topic", "broker")


class QueueSerializer(serializers.Serializer[Any]):
    """What is not known is null: `unknown_reason` says why the lag is, `unknown` why other fields are."""

    topic = serializers.CharField()
    broker = serializers.CharField()
    queue_id = serializers.IntegerField()
    kind = serializers.ChoiceField(TopicKind.choices)
    min_offset = serializers.IntegerField(allow_null=True)
    broker_offset = serializers.IntegerField(allow_null=True)
    pull_offset = serializers.IntegerField(allow_null=True)
    consumer_offset = serializers.IntegerField(allow_null=True)
    lost_offset = serializers.IntegerField(
        allow_null=True, help_text="The last offset that was read, of a queue whose offset is gone from its broker"
    )
    lost_at = serializers.DateTimeField(allow_null=True, help_text="The last reading that had it")
    would_start_at = serializers.IntegerField(allow_null=True, help_text="Where a member starts without an offset")
    would_start_rule = serializers.CharField(allow_null=True)
    would_skip_messages = serializers.IntegerField(allow_null=True, help_text="From lost_offset to would_start_at")
    would_redeliver_messages = serializers.IntegerField(allow_null=True, help_text="From would_start_at to lost_offset")
    lag_messages = serializers.IntegerField(allow_null=True)
    in_flight = serializers.IntegerField(allow_null=True)
    ready = serializers.IntegerField(allow_null=True)
    expired_messages = serializers.IntegerField(allow_null=True)
    unacked_messages = serializers.IntegerField(
        allow_null=True, help_text="Popped and not acknowledged by present members; POP groups only"
    )
    time_lag_seconds = serializers.FloatField(allow_null=True)
    time_lag_kind = serializers.ChoiceField(TimeLagKind.choices)
    time_lag_error_seconds = serializers.FloatField(allow_null=True)
    time_lag_at = serializers.DateTimeField(allow_null=True, help_text="The moment that the time lag is of")
    state = serializers.ChoiceField(list(State), allow_null=True, help_text="Null: dead letters, retired topics")
    stale = serializers.BooleanField(help_text=STALE)
    rule = serializers.CharField(allow_null=True)
    rule_code = serializers.ChoiceField(list(RuleCode), allow_null=True)
    state_detail = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    provisional = serializers.BooleanField(allow_null=True)
    owner = serializers.CharField(allow_null=True, help_text="Client id; several, with commas, where several hold it")
    expected_owner = serializers.CharField(allow_null=True)
    taken_at = serializers.DateTimeField(allow_null=True)
    judged_at = serializers.DateTimeField(allow_null=True)
    unknown_reason = serializers.CharField(allow_null=True)
    unknown_reason_code = serializers.ChoiceField(list(UnknownReason), allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class QueueListView(APIView):
    @described("group_queues", QueueSerializer, parameters=QueueParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """The queues of a group, in order of topic, broker and id where no other is asked for."""
        filters = QueueParameters.of(request)
        paging = {name: filters.pop(name) for name in ("page", "page_size")}
        if find_group(cluster, group) is None:
            raise group_missing(cluster, group)
        wanted = taken(filters, "broker", "state", "owner", "ordering")
        rows = narrowed(queue_list(cluster, group, now=timezone.now(), **filters), wanted)
        return list_response(request, QueueSerializer, whole(rows), **paging)
