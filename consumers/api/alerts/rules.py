"""What a rule looks like over REST, and what a request may say of one."""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits import keep_rule, remove_rule
from consumers.alerts.rules.rule_fields import RULE_FIELDS
from consumers.models import AlertRule, Measure, Severity
from consumers.rest.answers import Found, list_response
from consumers.rest.requests import PAGE, Choice, Paging, taken
from consumers.rest.schema.described import acted, described
from consumers.selectors.alerts.rules import find_rule, rule_list
from consumers.selectors.alerts.setting_rows import RuleRow

from .resource import Resource
from .serializers import MayManageAlerts, serializer_of

RuleRequestSerializer = serializer_of(
    "RuleWish",
    RULE_FIELDS,
    "Numbers are in the measure's unit; docs/alerts.md has the measures, and what goes with each.",
)
RULES = Resource(
    "alert rule", AlertRule, RuleRow, RuleRequestSerializer, RULE_FIELDS, find_rule, keep_rule, remove_rule
)


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

    @acted("add_alert_rule", RuleRequestSerializer, RuleRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a rule. It is evaluated from the next evaluation on."""
        return RULES.made(request)


class AlertRuleView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("alert_rule", RuleRow)
    def get(self, request: Request, rule: int) -> Response:
        """A rule."""
        return RULES.read(request, rule)

    @acted("replace_alert_rule", RuleRequestSerializer, RuleRow, status.HTTP_200_OK)
    def put(self, request: Request, rule: int) -> Response:
        """Replaces a rule: what is left out has its default again."""
        return RULES.replaced(request, rule)

    @acted("change_alert_rule", RuleRequestSerializer, RuleRow, status.HTTP_200_OK)
    def patch(self, request: Request, rule: int) -> Response:
        """Changes what is given of a rule. Open incidents go on by it as it is then."""
        return RULES.changed(request, rule)

    @acted("remove_alert_rule", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, rule: int) -> Response:
        """Removes a rule: its open incidents end. One that the site came with is switched off instead."""
        return RULES.removed(request, rule)
