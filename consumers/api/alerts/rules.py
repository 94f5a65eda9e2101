"""What a rule looks like over REST, and what a request may say of one."""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits.rules import keep_rule, remove_rule
from consumers.models import AlertRule, Comparison, Measure, Severity, State
from consumers.rest.answers import Found, list_response
from consumers.rest.requests import PAGE, Choice, Paging, Strict, taken
from consumers.rest.schema.described import acted, described
from consumers.selectors.alerts.rules import find_rule, rule_list
from consumers.selectors.alerts.setting_rows import RuleRow

from .kept import Kept
from .requests import Labels, MayManageAlerts, Scope, Text


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


RULES = Kept("alert rule", AlertRule, RuleRow, RuleWishSerializer, find_rule, keep_rule, remove_rule, optional=OPTIONAL)


class RuleParameters(Paging):
    enabled = serializers.BooleanField(required=False)
    severity = Choice(Severity.values, required=False)
    measure = Choice(Measure.values, required=False)


class AlertRuleListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("alert_rules", RuleRow, parameters=RuleParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Rules in order of their names, each in words too, with how many incidents fire by it."""
        values = RuleParameters.of(request)
        paging, now = taken(values, *PAGE), timezone.now()

        def find(page: int, page_size: int) -> Found:
            return Found(*rule_list(now, page=page, page_size=page_size, **values))

        return list_response(request, RuleRow, find, **paging)

    @acted("add_alert_rule", RuleWishSerializer, RuleRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a rule. It is evaluated from the next evaluation on."""
        return RULES.made(request)


class AlertRuleView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("alert_rule", RuleRow)
    def get(self, request: Request, rule: int) -> Response:
        """A rule."""
        return RULES.read(request, rule)

    @acted("replace_alert_rule", RuleWishSerializer, RuleRow, status.HTTP_200_OK)
    def put(self, request: Request, rule: int) -> Response:
        """Replaces a rule: what is left out has its default again."""
        return RULES.replaced(request, rule)

    @acted("change_alert_rule", RuleWishSerializer, RuleRow, status.HTTP_200_OK)
    def patch(self, request: Request, rule: int) -> Response:
        """Changes what is given of a rule. Open incidents go on by it as it is then."""
        return RULES.changed(request, rule)

    @acted("remove_alert_rule", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, rule: int) -> Response:
        """Removes a rule: its open incidents end. One that the site came with is switched off instead."""
        return RULES.removed(request, rule)
