"""What a rule would have done over the past: POST alert-previews/, GET alert-previews/{id}/, POST …/cancel/."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.preview.request import cancel, request_preview, why_not_permitted
from consumers.alerts.queries.previews import PreviewRow, find_preview
from consumers.alerts.refused import AlertRefused
from consumers.alerts.rules.rule_fields import RULE_FIELDS
from consumers.alerts.tasks import hand_over_preview
from consumers.jobs.asking import RedisDown
from consumers.models import RulePreview
from consumers.rest.answers import object_response
from consumers.rest.problems import NotNow, Refused
from consumers.rest.requests import NothingSerializer, Parameters, Strict, said
from consumers.rest.schema.described import acted, described

from .resource import MayManageAlerts, not_valid, refused, serializer_of

RESULT = (
    "{fired, fired_left_alone, known_from, known_to, known_seconds, unknown_seconds, unknown_spans, subjects, "
    "fired_subjects, unknown_subjects, unknown_share, unknown_share_in_data, step_seconds, incidents, left_out, "
    "by_subject, per_day, evaluated, notes, unknown}"
)


PreviewedRuleSerializer = serializer_of(
    "PreviewedRule",
    RULE_FIELDS,
    "The rule, stored or not: its name need not be given, nor be free.",
    name=serializers.CharField(max_length=100, required=False),
)


class AlertPreviewWishSerializer(Strict):
    rule = PreviewedRuleSerializer()
    to = serializers.DateTimeField(help_text="ISO 8601; not in the future")

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), "from": serializers.DateTimeField(help_text="ISO 8601")}


class AlertPreviewListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @acted("preview_alert_rule", AlertPreviewWishSerializer, PreviewRow, status.HTTP_202_ACCEPTED)
    def post(self, request: Request) -> Response:
        """Asks how often a rule would have fired within a range. A worker answers: ask until it is done."""
        asked, now = said(AlertPreviewWishSerializer, request), timezone.now()
        try:
            made = request_preview(asked["rule"], asked["from"], asked["to"], request.user, now)
        except AlertRefused as refusal:
            raise _refused(refusal) from None
        try:
            hand_over_preview(made.pk)
        except RedisDown as down:
            raise NotNow(str(down)) from None
        return _answer(request, made.pk, status.HTTP_202_ACCEPTED)


class AlertPreviewView(APIView):
    @described("alert_preview", PreviewRow)
    def get(self, request: Request, preview: UUID) -> Response:
        """A preview: what it found, once it is done."""
        Parameters.of(request)
        return _answer(request, preview)


class CancelAlertPreviewView(APIView):
    @acted("cancel_alert_preview", None, PreviewRow, status.HTTP_200_OK)
    def post(self, request: Request, preview: UUID) -> Response:
        """Ends a preview that waits or runs: by whoever asked for it, or who may manage alerts. The worker lets go."""
        found = RulePreview.objects.filter(pk=preview).first()
        if found is None:
            raise _not_there(preview)
        if against := why_not_permitted(found, request.user):
            raise PermissionDenied(against)
        said(NothingSerializer, request)
        try:
            cancel(found, request.user, timezone.now())
        except AlertRefused as refusal:
            raise refused(refusal) from None
        return _answer(request, preview)


def _answer(request: Request, preview: UUID, code: int = status.HTTP_200_OK) -> Response:
    row = find_preview(preview)
    if row is None:
        raise _not_there(preview)
    return object_response(request, PreviewRow, row, code)


def _not_there(preview: UUID) -> NotFound:
    return NotFound(f"There is no preview {preview}.")


def _refused(refusal: AlertRefused) -> Exception:
    """As the request spells it. A sentence about no field is about how things stand."""
    if "" in refusal.errors:
        return Refused(refusal.errors[""])
    names = {"since": "from", "until": "to"}
    return not_valid({names.get(name, name): sentence for name, sentence in refusal.errors.items()})
