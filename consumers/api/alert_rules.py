"""Rules: GET and POST alert-rules/; GET, PUT, PATCH and DELETE alert-rules/{id}/."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits.rules import keep_rule, remove_rule
from consumers.alerts.refused import AlertRefused
from consumers.alerts.rules.refused import RuleRefused
from consumers.models import AlertRule, Measure, Severity
from consumers.selectors.alerts.rules import find_rule, rule_list

from .alert_access import MayManageAlerts
from .alert_rule_fields import OPTIONAL, RuleSerializer, RuleWishSerializer
from .alert_wishes import not_valid, refused, said, whole
from .lists import Found, list_response
from .objects import document_response, object_response
from .parameters import Choice, Paging, Parameters
from .schema import acted, described


class RuleParameters(Paging):
    enabled = serializers.BooleanField(required=False)
    severity = Choice(Severity.values, required=False)
    measure = Choice(Measure.values, required=False)


class AlertRuleListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("alert_rules", RuleSerializer, parameters=RuleParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Rules in order of their names, each in words too, with how many incidents fire by it."""
        values = RuleParameters.of(request)
        paging, now = {name: values.pop(name) for name in ("page", "page_size")}, timezone.now()

        def find(page: int, page_size: int) -> Found:
            return Found(*rule_list(now, page=page, page_size=page_size, **values))

        return list_response(request, RuleSerializer, find, **paging)

    @acted("add_alert_rule", RuleWishSerializer, RuleSerializer, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a rule. It is evaluated from the next evaluation on."""
        return _kept(request, None, said(RuleWishSerializer, request), status.HTTP_201_CREATED)


class AlertRuleView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("alert_rule", RuleSerializer)
    def get(self, request: Request, rule: int) -> Response:
        """A rule."""
        Parameters.of(request)
        return object_response(request, RuleSerializer, find_rule(found_rule(rule).pk, timezone.now()))

    @acted("replace_alert_rule", RuleWishSerializer, RuleSerializer, status.HTTP_200_OK)
    def put(self, request: Request, rule: int) -> Response:
        """Replaces a rule: what is left out has its default again."""
        found = found_rule(rule)
        return _kept(request, found, whole(RuleWishSerializer, request, AlertRule, OPTIONAL), status.HTTP_200_OK)

    @acted("change_alert_rule", RuleWishSerializer, RuleSerializer, status.HTTP_200_OK)
    def patch(self, request: Request, rule: int) -> Response:
        """Changes what is given of a rule. Open incidents go on by it as it is then."""
        return _kept(request, found_rule(rule), said(RuleWishSerializer, request, partial=True), status.HTTP_200_OK)

    @acted("remove_alert_rule", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, rule: int) -> Response:
        """Removes a rule: its open incidents end. One that the site came with is switched off instead."""
        try:
            remove_rule(found_rule(rule), request.user, timezone.now())
        except AlertRefused as refusal:
            raise refused(refusal) from None
        return Response(status=status.HTTP_204_NO_CONTENT)


def found_rule(rule_id: int) -> AlertRule:
    """Raises NotFound."""
    found = AlertRule.objects.filter(pk=rule_id).first()
    if found is None:
        raise NotFound(f"There is no alert rule {rule_id}.")
    return found


def _kept(request: Request, rule: AlertRule | None, fields: dict[str, Any], code: int) -> Response:
    now = timezone.now()
    try:
        kept = keep_rule(fields, rule, request.user, now)
    except RuleRefused as refusal:
        raise not_valid(refusal.errors) from None
    return document_response(request, RuleSerializer, RuleSerializer(find_rule(kept.pk, now)).data, code)
