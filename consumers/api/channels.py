"""Channels: GET and POST channels/; GET, PUT, PATCH and DELETE channels/{id}/."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits.channels import keep_channel, remove_channel
from consumers.alerts.refused import AlertRefused
from consumers.models import Channel
from consumers.selectors.alerts.channels import channel_list, find_channel

from .alert_access import MayManageAlerts
from .alert_wishes import refused, said, whole
from .channel_fields import OPTIONAL, ChannelSerializer, ChannelWishSerializer
from .lists import Found, list_response
from .objects import document_response, object_response
from .parameters import Paging, Parameters
from .schema import acted, described


class ChannelListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("channels", ChannelSerializer, parameters=Paging, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Channels in order of their names, with what waits and the newest message of each."""
        return list_response(
            request,
            ChannelSerializer,
            lambda page, size: Found(*channel_list(page=page, page_size=size)),
            **Paging.of(request),
        )

    @acted("add_channel", ChannelWishSerializer, ChannelSerializer, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a channel. Nothing is sent to see whether it works: `test/` does that."""
        return _kept(request, None, said(ChannelWishSerializer, request), status.HTTP_201_CREATED)


class ChannelView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("channel", ChannelSerializer)
    def get(self, request: Request, channel: int) -> Response:
        """A channel, without its address and secrets."""
        Parameters.of(request)
        return object_response(request, ChannelSerializer, find_channel(found_channel(channel).pk))

    @acted("replace_channel", ChannelWishSerializer, ChannelSerializer, status.HTTP_200_OK)
    def put(self, request: Request, channel: int) -> Response:
        """Replaces a channel: what is left out has its default again, but of its address nothing is forgotten."""
        found = found_channel(channel)
        fields = {"rules": [], **whole(ChannelWishSerializer, request, Channel, OPTIONAL)}
        return _kept(request, found, fields, status.HTTP_200_OK)

    @acted("change_channel", ChannelWishSerializer, ChannelSerializer, status.HTTP_200_OK)
    def patch(self, request: Request, channel: int) -> Response:
        """Changes what is given of a channel."""
        found = found_channel(channel)
        return _kept(request, found, said(ChannelWishSerializer, request, partial=True), status.HTTP_200_OK)

    @acted("remove_channel", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, channel: int) -> Response:
        """Removes a channel with its messages: what waits is told to nobody through it."""
        remove_channel(found_channel(channel), request.user, timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


def found_channel(channel_id: int) -> Channel:
    """Raises NotFound."""
    found = Channel.objects.filter(pk=channel_id).first()
    if found is None:
        raise NotFound(f"There is no channel {channel_id}.")
    return found


def _kept(request: Request, channel: Channel | None, fields: dict[str, Any], code: int) -> Response:
    try:
        kept = keep_channel(fields, channel, request.user, timezone.now())
    except AlertRefused as refusal:
        raise refused(refusal) from None
    return document_response(request, ChannelSerializer, ChannelSerializer(find_channel(kept.pk)).data, code)
