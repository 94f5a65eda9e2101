"""Silences: GET and POST silences/; GET and DELETE silences/{id}/. One that has begun is ended, never taken back."""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.silences import LONGEST_REASON, end, make
from consumers.models import AlertRule, Silence
from consumers.rest.answers import Found, list_response
from consumers.rest.requests import Choice, Paging, Strict
from consumers.rest.schema.described import acted, described
from consumers.selectors.alerts.setting_rows import SilenceRow, SilenceStatus
from consumers.selectors.alerts.silences import find_silence, silence_list

from .kept import Kept
from .requests import Labels, MayManageAlerts, Scope


class SilenceWishSerializer(Strict):
    """At least one of cluster, group_pattern, topic, rule and labels; or `everything`. What is not given does not
    narrow it."""

    cluster = Scope(max_length=100)
    group_pattern = Scope(max_length=255, help_text="With * and ?")
    topic = Scope(max_length=255)
    rule = serializers.PrimaryKeyRelatedField(queryset=AlertRule.objects.all(), required=False, allow_null=True)
    labels = Labels(
        allow_empty=False, error_messages={"empty": "No label is named: name one at least, or leave labels out."}
    )
    everything = serializers.BooleanField(required=False, help_text="true: it silences the whole site")
    starts_at = serializers.DateTimeField(required=False, help_text="By default at once")
    ends_at = serializers.DateTimeField()
    reason = serializers.CharField(max_length=LONGEST_REASON)


SILENCES = Kept(
    "silence",
    Silence,
    SilenceRow,
    SilenceWishSerializer,
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

    @acted("add_silence", SilenceWishSerializer, SilenceRow, status.HTTP_201_CREATED)
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
