"""Groups: GET groups/, groups/{cluster}/{group}/, its status/ and queues/."""

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.models import Cluster, HealthLevel, State, TopicKind
from consumers.selectors.alerts.evaluated import why_not_evaluated
from consumers.selectors.groups.detail import group_detail
from consumers.selectors.groups.listing import ORDERINGS, group_list
from consumers.selectors.groups.rows import GroupDetail, GroupFilters, GroupRow, ListKind
from consumers.selectors.queues.queue_rows import QueueRow
from consumers.selectors.queues.queues import queue_list
from consumers.selectors.status import GroupStatus, group_status

from .http.lists import Found, list_response, whole
from .http.objects import object_response
from .http.parameters import PAGE, Choice, Paging, Parameters, narrowed, ordering_by, taken
from .http.problems import NotNow, found_group, group_missing
from .schema.described import described

ORDERING_CHOICES = [f"{sign}{column}" for column in sorted(ORDERINGS) for sign in ("", "-")]


class GroupParameters(Paging):
    cluster = serializers.CharField(required=False)
    search = serializers.CharField(required=False, help_text="A part of the group's name")
    state = Choice(list(State), required=False)
    health = Choice(HealthLevel.values, required=False)
    online = serializers.BooleanField(required=False)
    kind = Choice([kind.value for kind in ListKind], default=ListKind.USER.value, help_text="Ghosts are no longer used")
    firing = serializers.BooleanField(required=False, help_text="Whether an incident of it fires")
    ordering = Choice(ORDERING_CHOICES, required=False, help_text="`-` for descending; unknown is last either way")


class GroupListView(APIView):
    @described("groups", GroupRow, parameters=GroupParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Consumer groups; filters and order work on what is shown."""
        values = GroupParameters.of(request)
        page, page_size = values.pop("page"), values.pop("page_size")
        filters = GroupFilters(**values)
        if filters.cluster and not Cluster.objects.filter(name=filters.cluster).exists():
            raise NotFound(f"There is no cluster {filters.cluster!r}.")
        now = timezone.now()
        if filters.firing is not None and (late := why_not_evaluated(now)):
            raise NotNow(f"Which groups fire is not known: {late}.")

        def find(page: int, page_size: int) -> Found:
            found = group_list(filters, now=now, page=page, page_size=page_size)
            return Found(found.rows, found.count)

        all_rows = settings.API_CSV_ROWS
        return list_response(request, GroupRow, find, page=page, page_size=page_size, at_once=all_rows)


class GroupView(APIView):
    @described("group", GroupDetail)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """One group with its topics, subscriptions, members, and the rule that decided, with its numbers."""
        Parameters.of(request)
        detail = group_detail(cluster, group, now=timezone.now())
        if detail is None:
            raise group_missing(cluster, group)
        return object_response(request, GroupDetail, detail)


class StatusView(APIView):
    @described("group_status", GroupStatus)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Small and stable, for alert rules."""
        Parameters.of(request)
        status = group_status(cluster, group, now=timezone.now())
        if status is None:
            raise group_missing(cluster, group)
        return object_response(request, GroupStatus, status)


class QueueParameters(Paging):
    topic = serializers.CharField(required=False)
    kind = Choice(TopicKind.values, required=False)
    with_lag = serializers.BooleanField(required=False, help_text="true: has lag, or its lag is not known")
    broker = serializers.CharField(required=False)
    state = Choice(list(State), required=False)
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
