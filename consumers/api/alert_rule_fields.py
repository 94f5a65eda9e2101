"""What a rule looks like over REST, and what a request may say of one."""

from rest_framework import serializers

from consumers.models import Comparison, Measure, Severity, State

from .alert_wishes import Labels, Scope, Text
from .bodies import Strict


class RuleWishSerializer(Strict):
    """Numbers are in the measure's unit; docs/alerts.md has the measures, and what goes with each."""

    name = serializers.CharField(max_length=100)
    enabled = serializers.BooleanField(required=False, help_text="By default true")
    measure = serializers.ChoiceField(Measure.choices)
    comparison = serializers.ChoiceField(Comparison.choices, help_text="in: of states")
    threshold = serializers.FloatField(required=False, allow_null=True)
    states = serializers.ListField(
        child=serializers.ChoiceField(State.choices), required=False, allow_null=True, allow_empty=False
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
