"""Rules: GET and POST alert-rules/; GET, PUT, PATCH and DELETE alert-rules/{id}/."""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits.rules import keep_rule, remove_rule
from consumers.models import AlertRule, Measure, Severity
from consumers.selectors.alerts.rules import find_rule, rule_list
from consumers.selectors.alerts.setting_rows import RuleRow

from .alert_access import MayManageAlerts
from .alert_rule_fields import OPTIONAL, RuleWishSerializer
from .kept import Kept
from .lists import Found, list_response
from .narrowed import taken
from .parameters import PAGE, Choice, Paging
from .schema import acted, described

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
