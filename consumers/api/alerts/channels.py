"""Channels: channels/, channels/{id}/, its deliveries/ and test/. Secrets go in and never come out."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.channels.channel_kinds import CHANNEL_KINDS
from consumers.alerts.channels.channel_settings import ADDRESS_NAMES, CHANNEL_FIELDS
from consumers.alerts.edits import keep_channel, remove_channel, send_test
from consumers.alerts.fields import Shape
from consumers.alerts.tasks import hand_over_channel
from consumers.models import Channel, ChannelKind, Delivery, DeliveryStatus
from consumers.rest.answers import Found, list_response, object_response
from consumers.rest.requests import Choice, NothingSerializer, Paging, said
from consumers.rest.schema.described import acted, described
from consumers.selectors.alerts.channels import channel_list, find_channel
from consumers.selectors.alerts.deliveries import channel_deliveries, delivery_rows
from consumers.selectors.alerts.rows import DeliveryRow
from consumers.selectors.alerts.setting_rows import ChannelRow

from .resource import Resource
from .serializers import MayManageAlerts, Text, serializer_of


def _address_field(name: str) -> serializers.Field[Any, Any, Any, Any]:
    """One for all kinds that have a field of this name."""
    having = {kind.code.value: field for kind in CHANNEL_KINDS.values() for field in kind.fields if field.name == name}
    field, more = next(iter(having.values())), " ".join(filter(None, (one.help_text for one in having.values())))
    options: dict[str, Any] = {"required": False, "write_only": True}
    options["help_text"] = f"Of {', '.join(having)}{': ' if more else ''}{more}"
    if field.shape == Shape.LIST:
        return serializers.ListField(child=serializers.CharField(), **options)
    if field.shape == Shape.HEADERS:
        return serializers.DictField(child=serializers.CharField(), **options)
    is_blank = any(not one.is_required for one in having.values())
    return serializers.CharField(trim_whitespace=False, max_length=2_000, allow_blank=is_blank, **options)


_WITH_TEMPLATES = ", ".join(kind.code for kind in CHANNEL_KINDS.values() if kind.has_templates)
ChannelRequestSerializer = serializer_of(
    "ChannelWish",
    CHANNEL_FIELDS,
    "Which of the address's fields a channel has depends on its kind, which never changes: docs/channels.md.",
    kind=serializers.ChoiceField(ChannelKind.choices),
    title_template=Text(help_text=f"Of {_WITH_TEMPLATES}"),
    body_template=Text(help_text=f"Of {_WITH_TEMPLATES}"),
    **{name: _address_field(name) for name in sorted(ADDRESS_NAMES)},
)

CHANNELS = Resource(
    "channel",
    Channel,
    ChannelRow,
    ChannelRequestSerializer,
    CHANNEL_FIELDS,
    lambda pk, now: find_channel(pk),
    keep_channel,
    remove_channel,
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

    @acted("add_channel", ChannelRequestSerializer, ChannelRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a channel. Nothing is sent to see whether it works: `test/` does that."""
        return CHANNELS.made(request)


class ChannelView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("channel", ChannelRow)
    def get(self, request: Request, channel: int) -> Response:
        """A channel, without its address and secrets."""
        return CHANNELS.read(request, channel)

    @acted("replace_channel", ChannelRequestSerializer, ChannelRow, status.HTTP_200_OK)
    def put(self, request: Request, channel: int) -> Response:
        """Replaces a channel: what is left out has its default again, but of its address nothing is forgotten."""
        return CHANNELS.replaced(request, channel)

    @acted("change_channel", ChannelRequestSerializer, ChannelRow, status.HTTP_200_OK)
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
