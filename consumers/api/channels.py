"""Channels: GET and POST channels/; GET, PUT, PATCH and DELETE channels/{id}/."""

from django.http.response import HttpResponseBase
from rest_framework import status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits.channels import keep_channel, remove_channel
from consumers.models import Channel
from consumers.selectors.alerts.channels import channel_list, find_channel
from consumers.selectors.alerts.setting_rows import ChannelRow

from .alert_access import MayManageAlerts
from .channel_fields import OPTIONAL, ChannelWishSerializer
from .kept import Kept
from .lists import Found, list_response
from .parameters import Paging
from .schema import acted, described

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
