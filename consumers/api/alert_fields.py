"""What incidents and the messages about them look like over REST."""

from typing import Any

from rest_framework import serializers

from consumers.models import (
    Comparison,
    DeliveryStatus,
    Ending,
    IncidentEventKind,
    IncidentStatus,
    Measure,
    Severity,
    State,
    SubjectKind,
)
from consumers.selectors.cluster_rows import Freshness


class SubjectSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(SubjectKind.choices)
    title = serializers.CharField(help_text="As people call it: `prod/billing on Orders`")
    cluster = serializers.CharField(allow_null=True)
    broker = serializers.CharField(allow_null=True)
    group = serializers.CharField(allow_null=True)
    topic = serializers.CharField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class GroupNameSerializer(serializers.Serializer[Any]):
    cluster = serializers.CharField()
    group = serializers.CharField()


class IncidentSerializer(serializers.Serializer[Any]):
    """One time that a rule held for one subject. What is not known, or has not happened, is null: `unknown` says why.

    A value that becomes unknown neither fires nor resolves it: `unknown_since` and `unknown_reason` tell of it.
    """

    id = serializers.UUIDField()
    status = serializers.ChoiceField(IncidentStatus.choices)
    severity = serializers.ChoiceField(Severity.choices)
    rule = serializers.IntegerField(allow_null=True, help_text="Its id")
    rule_name = serializers.CharField()
    measure = serializers.ChoiceField(Measure.choices)
    comparison = serializers.ChoiceField(Comparison.choices)
    threshold = serializers.FloatField(allow_null=True, help_text="In the measure's unit")
    states = serializers.ListField(child=serializers.ChoiceField(list(State)), allow_null=True)
    condition = serializers.CharField(help_text="What its rule looked for, in words")
    subject = SubjectSerializer()
    started_at = serializers.DateTimeField(help_text="Since when it holds")
    fired_at = serializers.DateTimeField(allow_null=True)
    clearing_since = serializers.DateTimeField(
        allow_null=True, help_text="Since when it does not hold, while it is open"
    )
    resolved_at = serializers.DateTimeField(allow_null=True)
    ending = serializers.ChoiceField(Ending.choices, allow_null=True)
    seconds = serializers.FloatField(help_text="From its start to its end, or until this answer")
    value = serializers.FloatField(allow_null=True, help_text="The newest known one, as of `value_at`")
    worst_value = serializers.FloatField(allow_null=True)
    state = serializers.ChoiceField(list(State), allow_null=True, help_text="The newest known one, as of `value_at`")
    evidence = serializers.CharField(allow_null=True, help_text="A sentence with the numbers, as of `value_at`")
    value_at = serializers.DateTimeField(allow_null=True)
    unknown_since = serializers.DateTimeField(allow_null=True)
    unknown_reason = serializers.CharField(allow_null=True)
    groups_count = serializers.IntegerField(allow_null=True, help_text="Groups that it leaves unknown")
    groups = GroupNameSerializer(many=True, help_text="The first of them")
    owner = serializers.CharField(allow_null=True)
    runbook_url = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_null=True)
    labels = serializers.DictField(child=serializers.CharField())
    silence = serializers.IntegerField(allow_null=True, help_text="The id of the one that keeps it from being told")
    silenced_until = serializers.DateTimeField(allow_null=True)
    acknowledged_at = serializers.DateTimeField(allow_null=True)
    acknowledged_by = serializers.CharField(allow_null=True)
    acknowledgement = serializers.CharField(allow_null=True, help_text="What was said with it")
    unknown = serializers.DictField(child=serializers.CharField())


class IncidentEventSerializer(serializers.Serializer[Any]):
    sequence = serializers.IntegerField(help_text="From 1, within the incident")
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(IncidentEventKind.choices)
    sentence = serializers.CharField()
    by = serializers.CharField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class AttemptSerializer(serializers.Serializer[Any]):
    """One try of a delivery."""

    number = serializers.IntegerField()
    at = serializers.DateTimeField()
    seconds = serializers.FloatField(allow_null=True)
    ok = serializers.BooleanField(allow_null=True)
    answer = serializers.CharField(allow_null=True, help_text="What was answered, or why nothing was")
    unknown = serializers.DictField(child=serializers.CharField())


class DeliverySerializer(serializers.Serializer[Any]):
    """One message through a channel: it bears the same id however often it is tried."""

    id = serializers.UUIDField()
    channel = serializers.IntegerField(help_text="Its id")
    channel_name = serializers.CharField()
    number = serializers.IntegerField(help_text="Of the channel, from 1: those of one incident go in this order")
    is_test = serializers.BooleanField()
    status = serializers.ChoiceField(DeliveryStatus.choices)
    created_at = serializers.DateTimeField()
    attempts = serializers.IntegerField()
    next_try_at = serializers.DateTimeField(allow_null=True)
    waits_for = serializers.IntegerField(
        allow_null=True, help_text="The number of an earlier message of one of its incidents, which goes before it"
    )
    waits_why = serializers.CharField(allow_null=True, help_text="What it waits for, in words")
    sent_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(allow_null=True, help_text="Of the newest try")
    changes = serializers.IntegerField(help_text="Of incidents, that it tells")
    incidents = serializers.ListField(child=serializers.UUIDField(), help_text="The first 20 that they are of")
    tries = AttemptSerializer(many=True)
    unknown = serializers.DictField(child=serializers.CharField())


class IncidentDetailSerializer(IncidentSerializer):
    events = IncidentEventSerializer(many=True, help_text="All its changes, in order")
    deliveries = DeliverySerializer(many=True, help_text="Messages that told of one of them, the newest first")


class EvaluationSerializer(serializers.Serializer[Any]):
    """The newest evaluation of the rules: a list of incidents is as old as it is. Counts are null where it is late."""

    at = serializers.DateTimeField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    rules = serializers.IntegerField(allow_null=True)
    groups = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True, help_text="Why the newest try failed")
    error_at = serializers.DateTimeField(allow_null=True)
    freshness = serializers.ChoiceField([freshness.value for freshness in Freshness])
    freshness_detail = serializers.CharField()
    firing = serializers.IntegerField(allow_null=True)
    pending = serializers.IntegerField(allow_null=True)
    unacknowledged = serializers.IntegerField(allow_null=True, help_text="Of those that fire")
    unknown = serializers.DictField(child=serializers.CharField())
