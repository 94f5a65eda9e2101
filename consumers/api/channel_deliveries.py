"""What goes through a channel: GET channels/{id}/deliveries/, POST channels/{id}/test/."""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.channels.test_message import send_test
from consumers.models import Delivery, DeliveryStatus
from consumers.selectors.alerts.deliveries import channel_deliveries, delivery_rows
from consumers.selectors.alerts.rows import DeliveryRow
from consumers.tasks.alerts import hand_over_channel

from .alert_access import MayManageAlerts
from .bodies import NothingSerializer, said
from .channels import CHANNELS
from .lists import Found, list_response
from .objects import object_response
from .parameters import Choice, Paging
from .schema import acted, described


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
