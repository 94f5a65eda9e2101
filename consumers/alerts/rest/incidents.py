"""Incidents: GET alerts/, alerts/{id}/, POST and DELETE alerts/{id}/acknowledge/."""

from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits import LONGEST_TEXT, acknowledge, unacknowledge
from consumers.alerts.preview.request import cancel, request_preview, why_not_permitted
from consumers.alerts.queries.incidents import (
    ORDERINGS,
    IncidentFilters,
    incident_detail,
    incident_list,
    why_incomplete,
)
from consumers.alerts.queries.previews import PreviewRow, find_preview
from consumers.alerts.queries.rows import IncidentDetail, IncidentRow
from consumers.alerts.rule_fields import RULE_FIELDS
from consumers.alerts.tasks import enqueue_preview
from consumers.models import Incident, IncidentStatus, RulePreview, Severity
from consumers.queries.limits import Evaluated, evaluated
from consumers.rest.answers import ListedRows, list_response, object_response
from consumers.rest.requests import Choice, NothingSerializer, Paging, Parameters, Ranged, Strict, body_of
from consumers.rest.schema import acted, described, read_serializer
from consumers.words.marks import chained

from .resource import MayManageAlerts, MayManageAllAlerts, Text, serializer_of

OPEN = "open"
ORDERING_CHOICES = [f"{sign}{column}" for column in ORDERINGS for sign in ("", "-")]
LARGEST_ID = 2**63 - 1


class IncidentParameters(Paging, Ranged):
    """`from` and `to`: those that went on in [from, to)."""

    status = Choice([OPEN, *IncidentStatus.values], required=False, help_text="open: pending and firing")
    severity = Choice(Severity.values, required=False)
    cluster = serializers.CharField(required=False)
    group = serializers.CharField(required=False, help_text="The whole name")
    rule = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID, help_text="Its id")
    ordering = Choice(
        ORDERING_CHOICES, required=False, help_text="`-` for descending; `severity`: the worst first; else the newest"
    )


class AcknowledgementSerializer(Strict):
    text = Text(max_length=LONGEST_TEXT, help_text="Who looks after it, and what is being done")


class AlertListView(APIView):
    @described(
        "alerts",
        IncidentRow,
        parameters=IncidentParameters,
        paged=True,
        beside={
            "evaluation": read_serializer(Evaluated)(),
            "unknown_reason": serializers.CharField(
                allow_null=True,
                help_text="Why there may have been more in the range: some were deleted, or rules were not evaluated",
            ),
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Incidents, the newest first; when rules were last evaluated, as the list is of that moment; and whether
        incidents of the range were deleted, or never seen."""
        values = IncidentParameters.of(request)
        filters, now = _filters(values), timezone.now()

        def find(page: int, page_size: int) -> ListedRows:
            document, incomplete = evaluation_document(now), why_incomplete(filters, now)
            beside = {"evaluation": document, "unknown_reason": incomplete}
            why = chained(filter(None, (document["unknown"].get("firing"), incomplete))) or None
            return ListedRows(*incident_list(filters, now, page=page, page_size=page_size), beside, why)

        return list_response(request, IncidentRow, find, page=values["page"], page_size=values["page_size"])


class AlertView(APIView):
    @described("alert", IncidentDetail)
    def get(self, request: Request, incident: UUID) -> Response:
        """An incident with all its changes, and every message that reported them."""
        Parameters.of(request)
        return _incident_answer(request, incident)


class AcknowledgeView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @acted("acknowledge_alert", AcknowledgementSerializer, IncidentDetail, status.HTTP_200_OK)
    def post(self, request: Request, incident: UUID) -> Response:
        """Acknowledges an incident. It stays open, and notifications are sent as before."""
        text = body_of(AcknowledgementSerializer, request).get("text", "")
        acknowledge(found_incident(incident), request.user, text, timezone.now())
        return _incident_answer(request, incident)

    @acted("unacknowledge_alert", None, IncidentDetail, status.HTTP_200_OK)
    def delete(self, request: Request, incident: UUID) -> Response:
        """Takes the acknowledgement back."""
        unacknowledge(found_incident(incident), request.user, timezone.now())
        return _incident_answer(request, incident)


def evaluation_document(now: datetime) -> dict[str, Any]:
    row = evaluated(now)
    why = dict.fromkeys(("at", "seconds", "rules", "groups"), row.freshness_detail)
    good = row.freshness_detail if row.at is None else "the newest evaluation did not fail"
    why |= dict.fromkeys(("error", "error_at"), good)
    nulls = {field.name for field in fields(row) if getattr(row, field.name) is None}
    document = dict(read_serializer(Evaluated)(row).data)
    document["unknown"] = {name: reason for name, reason in (why | row.unknown).items() if name in nulls}
    return document


def found_incident(incident_id: UUID) -> Incident:
    """Raises NotFound."""
    found = Incident.objects.filter(pk=incident_id).first()
    if found is None:
        raise NotFound(f"There is no incident {incident_id}.")
    return found


def _filters(values: dict[str, Any]) -> IncidentFilters:
    wanted, severity = values.get("status"), values.get("severity")
    open_ones = (IncidentStatus.PENDING, IncidentStatus.FIRING)
    return IncidentFilters(
        statuses=() if wanted is None else open_ones if wanted == OPEN else (IncidentStatus(wanted),),
        severity=None if severity is None else Severity(severity),
        since=values.get("from"),
        until=values.get("to"),
        **{name: values.get(name) for name in ("cluster", "group", "rule", "ordering")},
    )


def _incident_answer(request: Request, incident_id: UUID) -> Response:
    row = incident_detail(incident_id, timezone.now())
    if row is None:
        raise NotFound(f"There is no incident {incident_id}.")
    return object_response(request, IncidentDetail, row)


# What a rule would have done over the past: POST alert-previews/, GET alert-previews/{id}/, POST …/cancel/.

PreviewedRuleSerializer = serializer_of(
    "PreviewedRule",
    RULE_FIELDS,
    "The rule, stored or not: its name need not be given, nor be free.",
    name=serializers.CharField(max_length=100, required=False),
)


class AlertPreviewRequestSerializer(Strict):
    rule = PreviewedRuleSerializer()
    to = serializers.DateTimeField(help_text="ISO 8601; not in the future")

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), "from": serializers.DateTimeField(help_text="ISO 8601")}


class AlertPreviewListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAllAlerts]

    @acted("preview_alert_rule", AlertPreviewRequestSerializer, PreviewRow, status.HTTP_202_ACCEPTED)
    def post(self, request: Request) -> Response:
        """Asks how often a rule would have fired within a range. A worker answers: ask until it is done."""
        asked, now = body_of(AlertPreviewRequestSerializer, request), timezone.now()
        made = request_preview(asked["rule"], asked["from"], asked["to"], request.user, now)
        enqueue_preview(made.pk)
        return _preview_answer(request, made.pk, status.HTTP_202_ACCEPTED)


class AlertPreviewView(APIView):
    @described("alert_preview", PreviewRow)
    def get(self, request: Request, preview: UUID) -> Response:
        """A preview: what it found, once it is done."""
        Parameters.of(request)
        return _preview_answer(request, preview)


class CancelAlertPreviewView(APIView):
    @acted("cancel_alert_preview", None, PreviewRow, status.HTTP_200_OK)
    def post(self, request: Request, preview: UUID) -> Response:
        """Cancels a waiting or running preview. Needs the user who requested it, or the permission to manage alerts."""
        found = RulePreview.objects.filter(pk=preview).first()
        if found is None:
            raise _not_there(preview)
        if against := why_not_permitted(found, request.user):
            raise PermissionDenied(against)
        body_of(NothingSerializer, request)
        cancel(found, request.user, timezone.now())
        return _preview_answer(request, preview)


def _preview_answer(request: Request, preview: UUID, code: int = status.HTTP_200_OK) -> Response:
    row = find_preview(preview)
    if row is None:
        raise _not_there(preview)
    return object_response(request, PreviewRow, row, code)


def _not_there(preview: UUID) -> NotFound:
    return NotFound(f"There is no preview {preview}.")
