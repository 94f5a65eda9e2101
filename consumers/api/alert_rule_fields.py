"""What a rule looks like over REST, and what a request may say of one."""

from typing import Any

from rest_framework import serializers

from consumers.models import Comparison, Measure, Severity, State

from .alert_wishes import Labels, Scope, Text
from .reset_wishes import Strict


class RuleSerializer(serializers.Serializer[Any]):
    """What is null selects everything, or is as `unknown` says."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    key = serializers.CharField(allow_null=True, help_text="Of a rule that the site came with")
    is_default = serializers.BooleanField(help_text="The site came with it: it can be switched off, not removed")
    enabled = serializers.BooleanField()
    measure = serializers.ChoiceField(Measure.choices)
    comparison = serializers.ChoiceField(Comparison.choices)
    threshold = serializers.FloatField(allow_null=True)
    states = serializers.ListField(child=serializers.ChoiceField(list(State)), allow_null=True)
    clear_threshold = serializers.FloatField(allow_null=True)
    for_seconds = serializers.FloatField()
    clear_seconds = serializers.FloatField()
    severity = serializers.ChoiceField(Severity.choices)
    cluster = serializers.CharField(allow_null=True)
    group_pattern = serializers.CharField(allow_null=True)
    topic = serializers.CharField(allow_null=True)
    labels = serializers.DictField(child=serializers.CharField())
    overrides = serializers.ListField(child=serializers.DictField())
    runbook_url = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_null=True)
    sentence = serializers.CharField(help_text="The rule in words")
    selects = serializers.CharField(help_text="What it looks at, in words")
    firing = serializers.IntegerField(allow_null=True, help_text="Its incidents that fire")
    pending = serializers.IntegerField(allow_null=True)
    changed_at = serializers.DateTimeField()
    changed_by = serializers.CharField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class RuleWishSerializer(Strict):
    """Numbers are in the measure's unit; docs/alerts.md has the measures, and what goes with each."""

    name = serializers.CharField(max_length=100)
    enabled = serializers.BooleanField(required=False, help_text="By default true")
    measure = serializers.ChoiceField(Measure.choices)
    comparison = serializers.ChoiceField(Comparison.choices, help_text="in: of states")
    threshold = serializers.FloatField(required=False, allow_null=True)
    states = serializers.ListField(
        child=serializers.ChoiceField(list(State)), required=False, allow_null=True, allow_empty=False
    )
    clear_threshold = serializers.FloatField(
        required=False, allow_null=True, help_text="Over only when it is not beyond this either; null: the threshold"
    )
    for_seconds = serializers.FloatField(required=False, min_value=0, help_text="By default 0")
    clear_seconds = serializers.FloatField(required=False, min_value=0, help_text="By default 300")
    severity = serializers.ChoiceField(Severity.choices)
    cluster = Scope(max_length=100)
    group_pattern = Scope(max_length=255, help_text="With * and ?")
    topic = Scope(max_length=255)
    labels = Labels()
    overrides = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="[{cluster, group_pattern, and any of enabled, threshold, clear_threshold, for_seconds, severity}]",
    )
    runbook_url = Text(max_length=500)
    note = Text()


# What a rule that replaces another need not say.
OPTIONAL = (
    *("enabled", "threshold", "states", "clear_threshold", "for_seconds", "clear_seconds", "cluster", "group_pattern"),
    *("topic", "labels", "overrides", "runbook_url", "note"),
)
