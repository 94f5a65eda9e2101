"""Channels: channels/, channels/{id}/, its deliveries/ and test/. Secrets go in and never come out."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.channels.test_message import send_test
from consumers.alerts.edits.channels import keep_channel, remove_channel
from consumers.alerts.tasks import hand_over_channel
from consumers.models import Channel, ChannelKind, Delivery, DeliveryStatus, Severity
from consumers.rest.answers import Found, list_response, object_response
from consumers.rest.requests import Choice, NothingSerializer, Paging, Strict, said
from consumers.rest.schema.described import acted, described
from consumers.selectors.alerts.channels import channel_list, find_channel
from consumers.selectors.alerts.deliveries import channel_deliveries, delivery_rows
from consumers.selectors.alerts.rows import DeliveryRow
from consumers.selectors.alerts.setting_rows import ChannelRow

from .kept import Kept
from .requests import Labels, MayManageAlerts, Scope, Text


class Secret(serializers.CharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, write_only=True, trim_whitespace=False, max_length=2_000, **options)


class Chosen(serializers.ListField):
    """Null is all of them. An empty list is refused: it would widen what the channel takes."""

    default_error_messages = {"empty": "Nothing is chosen: name one at least, or give null, for all."}

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, allow_null=True, allow_empty=False, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        value = super().run_validation(data)
        return [] if value is None else value


class ChannelWishSerializer(Strict):
    """Which of the address's fields a channel has depends on its kind, which never changes: docs/channels.md."""

    name = serializers.CharField(max_length=100)
    kind = serializers.ChoiceField(ChannelKind.choices)
    enabled = serializers.BooleanField(required=False, help_text="By default true")
    severities = Chosen(child=serializers.ChoiceField(Severity.choices), help_text="Null: all")
    cluster = Scope(max_length=100)
    group_pattern = Scope(max_length=255, help_text="With * and ?")
    labels = Labels()
    rules = Chosen(child=serializers.IntegerField(min_value=1), help_text="Their ids; null: all rules")
    title_template = Text(help_text="Of e-mail and apprise")
    body_template = Text(help_text="Of e-mail and apprise")
    tells_resolved = serializers.BooleanField(required=False, help_text="By default true")
    url = Secret(help_text="Of webhook, alertmanager and apprise")
    secret = Secret(help_text="Of webhook: it signs")
    headers = serializers.DictField(
        child=serializers.CharField(), required=False, write_only=True, help_text="Of webhook: sent along"
    )
    username = Secret(allow_blank=True, help_text="Of alertmanager")
    password = Secret(allow_blank=True, help_text="Of alertmanager")
    token = Secret(allow_blank=True, help_text="Of alertmanager, in place of a user name and password")
    recipients = serializers.ListField(
        child=serializers.CharField(), required=False, write_only=True, help_text="Of e-mail"
    )


# What a channel that replaces another need not say; of its address nothing is lost by saying nothing.
OPTIONAL = (
    *("enabled", "severities", "cluster", "group_pattern", "labels"),
    *("title_template", "body_template", "tells_resolved"),
)


CHANNELS = Kept(
    "channel",
    Channel,
    ChannelRow,
    ChannelWishSerializer,
    lambda pk, now: find_channel(pk),
    keep_channel,
    remove_channel,
    optional=OPTIONAL,
    forgotten={"rules": []},
)


class ChannelListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("channels", ChannelRow, parameters=Paging, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Channels in order of their names, with what waits and the newest message of each."""
        return list_response(
            request,
            ChannelRow,
            lambda page, size: Found(*channel_list(page=page, page_size=size)),
            **Paging.of(request),
        )

    @acted("add_channel", ChannelWishSerializer, ChannelRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a channel. Nothing is sent to see whether it works: `test/` does that."""
        return CHANNELS.made(request)


class ChannelView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("channel", ChannelRow)
    def get(self, request: Request, channel: int) -> Response:
        """A channel, without its address and secrets."""
        return CHANNELS.read(request, channel)

    @acted("replace_channel", ChannelWishSerializer, ChannelRow, status.HTTP_200_OK)
    def put(self, request: Request, channel: int) -> Response:
        """Replaces a channel: what is left out has its default again, but of its address nothing is forgotten."""
        return CHANNELS.replaced(request, channel)

    @acted("change_channel", ChannelWishSerializer, ChannelRow, status.HTTP_200_OK)
    def patch(self, request: Request, channel: int) -> Response:
        """Changes what is given of a channel."""
        return CHANNELS.changed(request, channel)

    @acted("remove_channel", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, channel: int) -> Response:
        """Removes a channel with its messages: what waits is told to nobody through it."""
        return CHANNELS.removed(request, channel)


class DeliveryParameters(Paging):
    status = Choice(DeliveryStatus.values, required=False)


class ChannelDeliveryListView(APIView):
    @described("channel_deliveries", DeliveryRow, parameters=DeliveryParameters, paged=True)
    def get(self, request: Request, channel: int) -> HttpResponseBase:
        """Messages of a channel, the newest first, with each try."""
        values, found = DeliveryParameters.of(request), CHANNELS.found(channel)
        wanted = values.get("status")
        return list_response(
            request,
            DeliveryRow,
            lambda page, size: Found(*channel_deliveries(found.pk, status=wanted, page=page, page_size=size)),
            page=values["page"],
            page_size=values["page_size"],
        )


class ChannelTestView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @acted("test_channel", None, DeliveryRow, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, channel: int) -> Response:
        """Lets a message of test go through a channel, before all others. `deliveries/` tells what became of it."""
        said(NothingSerializer, request)
        found = CHANNELS.found(channel)
        made = send_test(found, request.user, timezone.now())
        # Where Redis is down, beat hands it over in its turn.
        hand_over_channel(found.pk)
        (row,) = delivery_rows([Delivery.objects.select_related("channel").get(pk=made.pk)])
        return object_response(request, DeliveryRow, row, status.HTTP_202_ACCEPTED)
