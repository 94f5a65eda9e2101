"""GET groups/{cluster}/{group}/"""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.models import State, TopicKind
from consumers.selectors.groups.detail import group_detail
from consumers.vocabulary.rules import RuleCode
from consumers.vocabulary.unknown import UnknownReason

from .found import group_missing
from .groups import GroupSerializer
from .members import SUBSCRIPTIONS, MemberSerializer
from .objects import object_response
from .parameters import Parameters
from .schema import described


class TopicSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField()
    kind = serializers.ChoiceField(TopicKind.choices)
    queues = serializers.IntegerField()
    never_committed_queues = serializers.IntegerField(allow_null=True)
    lag_messages = serializers.IntegerField(allow_null=True)
    lag_messages_at_least = serializers.IntegerField(allow_null=True)
    time_lag_seconds = serializers.FloatField(allow_null=True)
    time_lag_at = serializers.DateTimeField(allow_null=True, help_text="The moment that the time lag is of")
    retired_since = serializers.DateTimeField(allow_null=True, help_text="No member subscribes to it since: no sum")
    unknown_reason = serializers.CharField(allow_null=True)
    unknown_reason_code = serializers.ChoiceField(list(UnknownReason), allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class WorstQueueSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField()
    broker = serializers.CharField()
    queue_id = serializers.IntegerField()
    state = serializers.ChoiceField(list(State))
    rule = serializers.CharField()
    rule_code = serializers.ChoiceField(list(RuleCode))


class TagSampleSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField()
    expression = serializers.CharField()
    expression_type = serializers.CharField()
    looked_at = serializers.IntegerField(allow_null=True, help_text="Messages of the topic's most lagging queue")
    matching = serializers.IntegerField(allow_null=True, help_text="By the hashes of their tags: at most so many")
    asked_at = serializers.DateTimeField(allow_null=True)
    sentence = serializers.CharField()
    unknown_reason = serializers.CharField(allow_null=True)


class AnomalySerializer(serializers.Serializer[Any]):
    """What is wrong beyond the state. Without a topic: about the group as a whole."""

    name = serializers.CharField(help_text="Stable; docs/anomalies.md lists them")
    topic = serializers.CharField(allow_null=True)
    broker = serializers.CharField(allow_null=True)
    queue_ids = serializers.ListField(child=serializers.IntegerField())
    since = serializers.DateTimeField(allow_null=True)
    sentence = serializers.CharField()
    cure = serializers.CharField()
    unknown = serializers.DictField(child=serializers.CharField())


class GroupDetailSerializer(GroupSerializer):
    rule = serializers.CharField(help_text="The rule that decided the state, or why none did")
    rule_code = serializers.ChoiceField(list(RuleCode), allow_null=True, help_text="Null: no rule decided")
    detail = serializers.DictField(help_text="The numbers that the rule looked at")
    worst_queue = WorstQueueSerializer(allow_null=True)
    topics = TopicSerializer(many=True)
    anomalies = AnomalySerializer(many=True)
    tag_samples = TagSampleSerializer(many=True, help_text="One for each subscription that leaves something out")
    subscriptions = serializers.ListField(child=serializers.DictField(), help_text=SUBSCRIPTIONS)
    clients = MemberSerializer(many=True)
    membership_at = serializers.DateTimeField(allow_null=True)
    consume_from_where = serializers.CharField(allow_null=True)
    retry_max_times = serializers.IntegerField(allow_null=True)
    retry_queue_nums = serializers.IntegerField(allow_null=True)


class GroupView(APIView):
    @described("group", GroupDetailSerializer)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """One group with its topics, subscriptions, members, and the rule that decided, with its numbers."""
        Parameters.of(request)
        detail = group_detail(cluster, group, now=timezone.now())
        if detail is None:
            raise group_missing(cluster, group)
        return object_response(request, GroupDetailSerializer, detail)
