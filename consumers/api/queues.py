"""GET groups/{cluster}/{group}/queues/"""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.models import State, TopicKind
from consumers.selectors.queue_rows import QueueRow
from consumers.selectors.queues import queue_list

from .found import found_group
from .lists import list_response, whole
from .narrowed import narrowed, ordering_by, taken
from .parameters import PAGE, Choice, Paging
from .schema import described


class QueueParameters(Paging):
    topic = serializers.CharField(required=False)
    kind = Choice(TopicKind.values, required=False)
    with_lag = serializers.BooleanField(required=False, help_text="true: has lag, or its lag is not known")
    broker = serializers.CharField(required=False)
    state = Choice(State.values, required=False)
    owner = serializers.CharField(required=False, help_text="Client id")
    ordering = ordering_by("lag_messages", "time_lag_seconds", "since", "topic", "broker")


class QueueListView(APIView):
    @described("group_queues", QueueRow, parameters=QueueParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """The queues of a group, in order of topic, broker and id where no other is asked for."""
        filters = QueueParameters.of(request)
        paging = taken(filters, *PAGE)
        found_group(cluster, group)
        wanted = taken(filters, "broker", "state", "owner", "ordering")
        rows = narrowed(queue_list(cluster, group, now=timezone.now(), **filters), wanted)
        return list_response(request, QueueRow, whole(rows), **paging)
