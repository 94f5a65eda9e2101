"""Silences: GET and POST silences/; GET and DELETE silences/{id}/. One that has begun is ended, never taken back."""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.silences import SILENCE_FIELDS, end, make
from consumers.models import AlertRule, Silence
from consumers.rest.answers import Found, list_response
from consumers.rest.requests import Choice, Paging
from consumers.rest.schema.described import acted, described
from consumers.selectors.alerts.setting_rows import SilenceRow, SilenceStatus
from consumers.selectors.alerts.silences import find_silence, silence_list

from .resource import Resource
from .serializers import Labels, MayManageAlerts, serializer_of

SilenceRequestSerializer = serializer_of(
    "SilenceWish",
    SILENCE_FIELDS,
    "At least one of cluster, group_pattern, topic, rule and labels; or `everything`. What is not given narrows "
    "nothing.",
    rule=serializers.PrimaryKeyRelatedField(queryset=AlertRule.objects.all(), required=False, allow_null=True),
    labels=Labels(
        allow_empty=False, error_messages={"empty": "No label is named: name one at least, or leave labels out."}
    ),
)
SILENCES = Resource(
    "silence",
    Silence,
    SilenceRow,
    SilenceRequestSerializer,
    SILENCE_FIELDS,
    find_silence,
    lambda fields, silence, by, now: make(fields, by, now),
    end,
)


class SilenceParameters(Paging):
    status = Choice([status.value for status in SilenceStatus], required=False)


class SilenceListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("silences", SilenceRow, parameters=SilenceParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Silences, the one that ends last first."""
        values, now = SilenceParameters.of(request), timezone.now()
        wanted = SilenceStatus(values["status"]) if "status" in values else None
        return list_response(
            request,
            SilenceRow,
            lambda page, size: Found(*silence_list(now, status=wanted, page=page, page_size=size)),
            page=values["page"],
            page_size=values["page_size"],
        )

    @acted("add_silence", SilenceRequestSerializer, SilenceRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a silence, with a reason and an end."""
        return SILENCES.made(request)


class SilenceView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("silence", SilenceRow)
    def get(self, request: Request, silence: int) -> Response:
        """A silence."""
        return SILENCES.read(request, silence)

    @acted("end_silence", None, SilenceRow, status.HTTP_200_OK)
    def delete(self, request: Request, silence: int) -> Response:
        """Ends a silence at once. What still fires and was never told is told then."""
        return SILENCES.ended(request, silence)
